"""What the probes of a load balancer see."""

from django.test import Client

UP = b"# TYPE precept_up gauge\nprecept_up 1\n"


def test_the_process_answers_and_is_ready():
    assert Client().get("/healthz").json() == {"status": "ok"}
    assert Client().get("/readyz").json() == {"status": "ok"}


def test_sizes_are_for_the_monitoring_only(settings):
    settings.METRICS_TOKEN = "monitoring"
    for headers in ({}, {"authorization": "Bearer guess"}, {"authorization": "Bearer "}):
        assert Client(headers=headers).get("/metrics").content == UP
    told = Client(headers={"authorization": "Bearer monitoring"}).get("/metrics").content.decode()
    assert "precept_answers_estimate" in told


def test_without_a_token_set_nobody_is_told_sizes(settings):
    settings.METRICS_TOKEN = ""
    assert b"estimate" not in Client(headers={"authorization": "Bearer "}).get("/metrics").content


def test_text_that_is_not_plain_utf8_is_refused_before_anything_reads_it():
    for charset in ("rot13", "hex", "zlib", "idna", "punycode", "utf-16"):
        response = Client().get(
            "/accounts/login/", headers={"content-type": f"text/plain; charset={charset}"}
        )
        assert response.status_code == 400, charset


def test_monitoring_reads_each_tenant_s_measures_of_the_last_week(bank, client, settings):
    from datetime import timedelta

    from django.utils import timezone

    from answers.models import Answer

    settings.METRICS_TOKEN = "watch"
    person = bank.person()
    view = bank.ask(person, "How many days of annual leave?")
    with bank.scope():
        Answer.objects.filter(pk=view.answer.pk).update(
            created_at=timezone.now() - timedelta(days=7),
            finished_at=timezone.now() - timedelta(days=7),
        )
    told = client.get("/metrics", headers={"authorization": "Bearer watch"}).content.decode()
    assert f'precept_week_abstention{{tenant="{bank.tenant.slug}"}} 1.0' in told
    assert "precept_week" not in client.get("/metrics").content.decode()
