"""A document's page tells what happened to it: who, when and why, within what one oversees."""

import pytest

from documents import services
from documents.duplicates.decisions import decide
from documents.history import history
from documents.models import DuplicateFinding, LifeCycle, Verdict
from tenants.models import Role
from tests.admin_pages import page_of, signed_in


@pytest.fixture
def admin(bank):
    return bank.person("admin", roles=[(Role.DEPARTMENT_ADMIN, "Human Resources")])


def told(bank, user, document) -> list[tuple[str, str, str]]:
    with bank.scope():
        return [
            (event.who, event.what, event.why) for event in history(user=user, document=document)
        ]


def test_versions_moves_and_readers_are_told_newest_first(bank, admin):
    circle = bank.group("Circle")
    document = bank.document("Leave", "First words.", readers=[bank.everyone])
    bank.new_version(document, "Second words.")
    with bank.scope():
        services.grant_access(actor=admin, document=document, subject=circle)
        services.revoke_access(actor=admin, document=document, subject=circle)
        services.set_life_cycle(
            actor=admin, document=document, life_cycle=LifeCycle.DRAFT, reason="Under review"
        )
    assert told(bank, admin, document) == [
        ("Admin", "Moved from vetted to draft", "Under review"),
        ("Admin", "Access of “Circle” was revoked", ""),
        ("Admin", "“Circle” may read it", ""),
        ("", "Version 2 came into force instead of version 1", ""),
        ("", "Version 2 was uploaded", ""),
        ("", "Version 1 came into force", ""),
        ("", "Created as vetted, readable by everyone", ""),
    ]
    page = signed_in(bank, admin).get(page_of(document)).content.decode()
    assert "Under review" in page


def test_other_documents_and_other_departments_have_no_part_in_it(bank, admin):
    bank.document("Other", "Words.")
    theirs = bank.document("Theirs", "More words.", department="Finance")
    ours = bank.document("Ours", "Our words.")
    assert len(told(bank, admin, ours)) == 2
    assert told(bank, admin, theirs) == []


def test_a_decision_about_a_pair_is_told_to_who_oversees_both(bank, admin):
    chief = bank.person("chief", roles=[Role.TENANT_ADMIN])
    bank.document("Theirs", "The same file.", department="Finance")
    ours = bank.document("Ours", "The same file.")
    with bank.scope():
        decide(
            actor=chief,
            finding=DuplicateFinding.objects.get(),
            verdict=Verdict.DUPLICATE,
            set_aside=ours,
        )
    assert any("a duplicate of “Theirs”" in what for _, what, _ in told(bank, chief, ours))
    assert not any("Theirs" in f"{what}{why}" for _, what, why in told(bank, admin, ours))
    assert told(bank, admin, ours)[0][:2] == ("Chief", "Moved from vetted to duplicate")


def test_a_vetted_document_is_not_set_aside_without_a_reason(bank, admin):
    document = bank.document("Leave", "Words.")
    with bank.scope():
        for reason in ("", "  "):
            with pytest.raises(services.ValidationError, match="Say why"):
                services.set_life_cycle(
                    actor=admin, document=document, life_cycle=LifeCycle.DRAFT, reason=reason
                )
