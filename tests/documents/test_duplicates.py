"""Documents that look alike are found, offered to whom both belong, and decided by people."""

import random

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.urls import reverse

from audit.models import AuditRecord
from documents import services
from documents.duplicates import minhash
from documents.duplicates.decisions import decide
from documents.duplicates.findings import open_findings
from documents.models import (
    Document,
    DuplicateFinding,
    LifeCycle,
    Likeness,
    TextBand,
    TextProfile,
    Verdict,
)
from tenants.models import Role
from tenants.selectors import NotFound
from tests.admin_pages import add_to, filled, list_of, page_of, said, signed_in
from tests.documents.test_admin import pdf

VOCABULARY = [f"word{number}" for number in range(400)]
PAGE = "documents_duplicatefinding"


def prose(words: int = 300, seed: int = 1, changed: int = 0) -> str:
    """The same words for the same seed, of which the last `changed` are others."""
    chosen = random.Random(seed).choices(VOCABULARY, k=words)
    return " ".join([*chosen[: words - changed], *(f"new{n}" for n in range(changed))])


def found(bank, user=None) -> list[tuple]:
    with bank.scope():
        return sorted(
            (one.document.title, one.other.title, one.kind)
            for one in open_findings(user=user).all()
        )


def finding(bank) -> DuplicateFinding:
    with bank.scope():
        return DuplicateFinding.objects.select_related("document", "other").get()


# --- Fingerprints ---------------------------------------------------------------------------------


def test_fingerprints_do_not_change_between_processes_and_releases():
    """Stored ones would no longer be comparable: a change needs a run of find_duplicates --again."""
    signature = minhash.signature_of(minhash.words_of("Annual leave allowance is 25 days."))
    assert minhash.digest_of(["annual", "leave"]) == (
        "76d9a5d8536f690e37a17f3a07fc7f5902eccf9843cc86a65df4f3fe4cfa841d"
    )
    assert minhash.bands_of(signature)[:2] == [3931604050635300195, 3790758613034377471]


def test_case_layout_and_punctuation_do_not_tell_two_texts_apart():
    one = minhash.words_of("Annual  leave:\n25 days.")
    assert one == minhash.words_of("ANNUAL LEAVE – 25 days")
    assert one != minhash.words_of("Annual leave: 26 days.")


@pytest.mark.parametrize("changed", [0, 20, 60, 300])
def test_the_estimate_is_near_the_share_of_shingles_in_common(changed):
    one, other = (minhash.words_of(prose(2000, changed=n)) for n in (0, changed))
    first, second = minhash._shingles(one), minhash._shingles(other)
    exact = 100 * len(first & second) / len(first | second)
    estimate = minhash.percent_alike(minhash.signature_of(one), minhash.signature_of(other))
    assert abs(estimate - exact) <= 10


def test_texts_that_are_alike_share_a_band_and_others_do_not():
    bands = [
        set(minhash.bands_of(minhash.signature_of(minhash.words_of(text))))
        for text in (prose(), prose(changed=20), prose(seed=2))
    ]
    assert bands[0] & bands[1]
    assert not bands[0] & bands[2]


def test_a_text_of_one_word_and_one_of_many_have_fingerprints():
    for text in ("word", "", prose(20_000)):
        signature = minhash.signature_of(minhash.words_of(text))
        assert len(minhash.bands_of(signature)) == minhash.BANDS


# --- Finding --------------------------------------------------------------------------------------


def test_the_same_file_is_found_when_it_arrives(bank):
    bank.document("First", "Some words of a policy.", ingest=False)
    bank.document("Second", "Some words of a policy.", ingest=False)
    assert found(bank) == [("Second", "First", Likeness.BYTES)]


def test_the_same_text_in_another_file_is_found_once_it_was_read(bank):
    bank.document("First", ["One policy in two pages,", "of which this is the second."])
    bank.document("Second", "One policy in two pages, of which this is the second.")
    assert found(bank) == [("Second", "First", Likeness.TEXT)]


def test_nearly_the_same_text_is_found_and_another_is_not(bank):
    bank.document("First", prose())
    bank.document("Second", prose(changed=15))
    bank.document("Third", prose(seed=2))
    assert found(bank) == [("Second", "First", Likeness.NEAR)]
    assert 70 <= finding(bank).similarity < 100


def test_versions_of_one_document_are_no_duplicates_of_each_other(bank):
    document = bank.document("Only", prose())
    bank.new_version(document, prose(changed=5))
    assert found(bank) == []


def test_a_copy_of_an_outdated_version_is_found(bank):
    document = bank.document("Policy", prose())
    bank.new_version(document, prose(seed=3))
    bank.document("Copy", prose())
    assert found(bank) == [("Copy", "Policy", Likeness.BYTES)]


def test_a_document_that_was_deleted_or_set_aside_is_no_match(bank):
    gone, aside = bank.document("Gone", "Gone words."), bank.document("Aside", "Aside words.")
    with bank.scope():
        services.delete_document(actor=None, document=gone)
        services.set_life_cycle(actor=None, document=aside, life_cycle=LifeCycle.DUPLICATE)
    bank.document("New one", "Gone words.")
    bank.document("New two", "Aside words.")
    assert found(bank) == []


def test_a_finding_whose_document_is_gone_is_not_offered(bank):
    bank.document("First", "Words.", ingest=False)
    second = bank.document("Second", "Words.", ingest=False)
    with bank.scope():
        services.delete_document(actor=None, document=second)
    assert found(bank) == []


def test_another_tenants_documents_are_no_match(bank, other_bank):
    other_bank.document("Theirs", "The same words.")
    bank.document("Ours", "The same words.")
    assert found(bank) == found(other_bank) == []


def test_documents_from_before_are_compared_by_the_command(bank):
    for title in ("First", "Second"):
        bank.document(title, ["Old words of a policy,", f"read long ago{'.' * (title == 'First')}"])
    with bank.scope():
        DuplicateFinding.objects.all().delete()
        TextBand.objects.all().delete()
        TextProfile.objects.all().delete()
    call_command("find_duplicates", "--tenant", bank.tenant.slug, "--json")
    assert len(found(bank)) == 1
    with bank.scope():
        assert TextProfile.objects.count() == 2


# --- Whose they are -------------------------------------------------------------------------------


@pytest.fixture
def admins(bank):
    return {
        name: bank.person(name, roles=[role])
        for name, role in {
            "hr": (Role.DEPARTMENT_ADMIN, "Human Resources"),
            "finance": (Role.DEPARTMENT_ADMIN, "Finance"),
            "tenant": Role.TENANT_ADMIN,
            "auditor": Role.AUDITOR,
        }.items()
    }


@pytest.fixture
def across(bank):
    """A pair of two departments."""
    bank.document("Theirs", "The very same file.", department="Finance", ingest=False)
    return bank.document("Ours", "The very same file.", ingest=False)


def test_nobody_learns_of_a_document_that_they_do_not_oversee(bank, admins, across):
    assert found(bank, admins["hr"]) == found(bank, admins["finance"]) == []
    assert len(found(bank, admins["tenant"])) == len(found(bank, admins["auditor"])) == 1
    client = signed_in(bank, admins["hr"])
    pages = [list_of(PAGE), page_of(across), reverse("admin:index"), list_of("documents_document")]
    for address in pages:
        page = client.get(address).content.decode()
        assert "Theirs" not in page
        assert "1 to decide" not in page
    assert client.get(page_of(finding(bank))).status_code == 404


def test_an_upload_says_nothing_of_a_file_that_another_department_has(bank, admins):
    bank.document("Theirs", "Leave is 25 days.", department="Finance", ingest=False)
    client = signed_in(bank, admins["hr"])
    form = filled(
        client.get(add_to("documents_document")),
        title="Ours",
        department=str(bank.department().pk),
        file=pdf("Leave is 25 days."),
    )
    answer = client.post(add_to("documents_document"), form, follow=True)
    assert "Theirs" not in answer.content.decode()
    assert "same file" not in answer.content.decode()


def test_an_upload_says_which_document_has_the_same_file(bank, admins):
    bank.document("Already here", "Leave is 25 days.", ingest=False)
    client = signed_in(bank, admins["hr"])
    form = filled(
        client.get(add_to("documents_document")),
        title="Ours",
        department=str(bank.department().pk),
        file=pdf("Leave is 25 days."),
    )
    answer = client.post(add_to("documents_document"), form, follow=True)
    assert "The same file" in answer.content.decode()
    assert "Already here" in answer.content.decode()


def test_who_administers_one_of_the_two_cannot_decide(bank, admins, across):
    with bank.scope():
        for name in ("hr", "finance", "auditor"):
            with pytest.raises(NotFound):
                decide(actor=admins[name], finding=finding(bank), verdict=Verdict.DIFFERENT)
    assert len(found(bank)) == 1


# --- Deciding -------------------------------------------------------------------------------------


@pytest.fixture
def pair(bank):
    first = bank.document("First", prose(), readers=[bank.everyone])
    return first, bank.document("Second", prose(changed=15), readers=[bank.everyone])


def now(bank, document) -> Document:
    with bank.scope():
        return Document.objects.get(pk=document.pk)


def test_a_duplicate_is_set_aside_and_the_other_stays(bank, admins, pair):
    first, second = pair
    with bank.scope():
        decide(
            actor=admins["hr"],
            finding=finding(bank),
            verdict=Verdict.DUPLICATE,
            set_aside=second,
            reason="Uploaded twice",
        )
    assert now(bank, second).life_cycle == LifeCycle.DUPLICATE
    assert now(bank, first).life_cycle == LifeCycle.VETTED
    assert found(bank) == []
    with bank.scope():
        record = AuditRecord.objects.get(action="document.duplicate_decided")
        assert (record.actor, record.facts["reason"]) == (admins["hr"].id, "Uploaded twice")
        assert AuditRecord.objects.filter(action="document.life_cycle_set").count() == 1


def test_a_new_version_goes_to_the_other_document_and_its_own_is_set_aside(bank, admins, pair):
    first, second = pair
    with bank.scope():
        done = decide(
            actor=admins["hr"],
            finding=finding(bank),
            verdict=Verdict.NEW_VERSION,
            set_aside=second,
        )
        assert "version 2 of “First”" in done
        added = first.versions.get(number=2)
        assert added.sha256 == second.versions.get().sha256
    bank.ingest(added)
    assert now(bank, first).current_version_id == added.id
    assert now(bank, second).life_cycle == LifeCycle.DUPLICATE
    assert found(bank) == [], "what was decided is not offered again"


def test_the_same_file_is_no_new_version(bank, admins):
    bank.document("First", "Words.", ingest=False)
    second = bank.document("Second", "Words.", ingest=False)
    with bank.scope(), pytest.raises(ValidationError, match="this very file"):
        decide(
            actor=admins["hr"],
            finding=finding(bank),
            verdict=Verdict.NEW_VERSION,
            set_aside=second,
        )
    assert now(bank, second).life_cycle == LifeCycle.VETTED
    assert len(found(bank)) == 1


def test_two_that_are_different_are_not_offered_again(bank, admins, pair):
    first, second = pair
    with bank.scope():
        decide(actor=admins["hr"], finding=finding(bank), verdict=Verdict.DIFFERENT)
    bank.new_version(second, prose(changed=12))
    assert found(bank) == []
    assert now(bank, second).life_cycle == now(bank, first).life_cycle == LifeCycle.VETTED


def test_but_they_are_when_they_become_the_very_same(bank, admins, pair):
    _, second = pair
    with bank.scope():
        decide(actor=admins["hr"], finding=finding(bank), verdict=Verdict.DIFFERENT)
    bank.new_version(second, prose())
    assert [kind for *_, kind in found(bank)] == [Likeness.BYTES]


def test_a_decision_is_taken_once(bank, admins, pair):
    one = finding(bank)
    with bank.scope():
        decide(actor=admins["hr"], finding=one, verdict=Verdict.DIFFERENT)
        with pytest.raises(ValidationError, match="meanwhile"):
            decide(actor=admins["hr"], finding=one, verdict=Verdict.DUPLICATE, set_aside=pair[0])
    assert now(bank, pair[0]).life_cycle == LifeCycle.VETTED


# --- On the page ----------------------------------------------------------------------------------


def test_the_page_compares_the_two_and_takes_the_decision(bank, admins, pair):
    _, second = pair
    client = signed_in(bank, admins["hr"])
    assert "1 to decide" in client.get(reverse("admin:index")).content.decode()
    address = page_of(finding(bank))
    page = client.get(address)
    assert "nearly the same text" in page.content.decode()
    form = filled(page, verdict=f"duplicate:{second.pk}", reason="Uploaded twice")
    asked = client.post(address, form)
    assert "May no longer read it" in asked.content.decode()
    assert now(bank, second).life_cycle == LifeCycle.VETTED, "nothing is saved yet"
    form["access_confirmed"] = asked.context["change"].digest
    answer = client.post(address, form, follow=True)
    assert "is set aside as a duplicate" in said(answer)
    assert now(bank, second).life_cycle == LifeCycle.DUPLICATE
    assert "Decided on" in client.get(address).content.decode()
    assert "_save" not in client.get(address).content.decode()


def test_a_document_that_is_neither_of_the_two_is_never_set_aside(bank, admins, pair):
    third = bank.document("Third", "Something else.")
    client = signed_in(bank, admins["hr"])
    address = page_of(finding(bank))
    client.post(address, filled(client.get(address), verdict=f"duplicate:{third.pk}"))
    assert now(bank, third).life_cycle == LifeCycle.VETTED
    assert len(found(bank)) == 1


def test_auditors_see_the_pair_and_decide_nothing(bank, admins, pair):
    client = signed_in(bank, admins["auditor"])
    address = page_of(finding(bank))
    assert "_save" not in client.get(address).content.decode()
    assert client.post(address, {"verdict": "different:"}).status_code == 403
    assert len(found(bank)) == 1
