"""A new password by e-mail: for local accounts only, and who asks learns nothing."""

import pytest
from django.test import Client

from audit.models import AuditRecord
from tenants import services as people
from tenants.identity.models import ExternalIdentity, IdentityProvider, SignInPolicy
from tenants.selectors import tenant_of_user
from tests.admin_pages import signed_in
from tests.bank import PASSWORD

NEW = "another good password"


@pytest.fixture
def person(bank):
    return bank.person("somebody")


def ask(email: str, client: Client | None = None):
    return (client or Client()).post("/accounts/password/reset/", {"email": email})


def follow(link: str, password: str = NEW, client: Client | None = None):
    client = client or Client()
    page = client.get(link, follow=True)
    where = page.redirect_chain[-1][0] if page.redirect_chain else link
    return client.post(where, {"new_password1": password, "new_password2": password})


def signs_in(user, password: str) -> bool:
    answer = Client().post("/accounts/login/", {"login": user.email, "password": password})
    return answer.status_code == 302


def recorded(bank) -> list[tuple]:
    with bank.scope():
        rows = AuditRecord.objects.filter(action__startswith="recovery.").order_by("seq")
        return [(row.action, row.facts) for row in rows]


def test_the_link_sets_a_password_once_and_ends_every_session(bank, person, post):
    elsewhere = signed_in(bank, person)
    assert elsewhere.get("/").status_code == 200
    ask(person.email.upper())
    link = post(person.email)
    assert follow(link).url == "/accounts/login/"
    assert elsewhere.get("/").status_code == 302
    assert signs_in(person, NEW)
    assert not signs_in(person, PASSWORD)
    follow(link, "yet another password")
    assert not signs_in(person, "yet another password")
    assert recorded(bank) == [("recovery.sent", {}), ("recovery.used", {})]


def test_the_answer_and_the_work_are_the_same_for_every_address(bank, person, post):
    leaver = bank.person("leaver")
    with bank.scope():
        people.set_user_active(user=leaver, active=False)
    pages = set()
    for email in (person.email, leaver.email, "nobody@bank.example", "", "no address"):
        pages.add(ask(email).content.decode())
    assert len(pages) == 1
    assert [(task, len(ids)) for task, *ids in post.handed] == [
        ("tenants.tasks.send_recovery", 1)
    ] * 5
    named = [ids[0] for _, *ids in post.handed]
    assert [tenant_of_user(one) for one in named] == [bank.tenant.pk, None, None, None, None]
    assert post(person.email)
    assert post(leaver.email) is None


@pytest.mark.parametrize("why", ["passwords off", "provider's", "no password"])
@pytest.mark.parametrize("when", ["before asking", "before following"])
def test_what_is_no_local_account_gets_no_new_password(bank, person, post, why, when):
    def change():
        with bank.scope():
            if why == "passwords off":
                SignInPolicy.objects.create(passwords=False)
            elif why == "provider's":
                provider = IdentityProvider.objects.create(
                    name="P", issuer="https://p.example", client_id="c"
                )
                ExternalIdentity.objects.create(provider=provider, subject="s", user=person)
            else:
                person.set_unusable_password()
                person.save(update_fields=["password"])

    if when == "before asking":
        change()
        ask(person.email)
        assert post(person.email) is None
        assert [action for action, _ in recorded(bank)] == ["recovery.refused"]
        return
    ask(person.email)
    link = post(person.email)
    change()
    page = follow(link)
    assert "does not work" in page.content.decode()
    with bank.scope():
        person.refresh_from_db()
        assert not person.check_password(NEW)


def test_an_address_is_written_to_three_times_an_hour_at_most(person, post):
    assert [ask(person.email).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert [ask("nobody@x.example").status_code for _ in range(4)] == [200, 200, 200, 429]


def test_a_made_up_or_foreign_link_is_a_link_that_does_not_work(bank, other_bank, person, post):
    ask(person.email)
    link = post(person.email)
    user_part, token = link.split("/")[4:6]
    other = other_bank.person("other")
    ask(other.email)
    other_part = post(other.email).split("/")[4]
    for uid, key in ((other_part, token), (user_part, "x-y"), ("MQ", token), ("_" * 9, token)):
        page = follow(f"/accounts/password/reset/{uid}/{key}/")
        assert "does not work" in page.content.decode()
    assert not signs_in(other, NEW)


def test_a_weak_password_is_refused_and_the_link_goes_on_working(person, post):
    ask(person.email)
    link, client = post(person.email), Client()
    assert "too short" in follow(link, "short", client).content.decode()
    assert follow(link, client=client).status_code == 302


def test_without_e_mail_the_page_names_the_administrator(settings):
    settings.EMAIL_IS_ON = False
    assert "administrator" in Client().get("/accounts/password/reset/").content.decode()
