"""Cases are written by reviewers, keep their history, and tell their words to who may read them."""

import json

import pytest
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import CommandError, call_command
from django.db import IntegrityError

from documents import services as documents
from evaluation.cases import (
    change_case,
    confirm_case,
    create_case,
    draft_from_answer,
    may_see_words,
    move_case,
)
from evaluation.exchange import FileFormat, as_file, export_cases, import_cases, parse
from evaluation.judging import Given, judge
from evaluation.models import CaseState, EvalCase
from tenants.models import Role
from tests.admin_pages import add_to, filled, list_of, page_of, signed_in

SECRET = "cormorant"


@pytest.fixture
def reviewer(bank):
    return bank.person("reviewer", roles=[Role.REVIEWER])


@pytest.fixture
def secret_case(bank):
    """About a document that the reviewer may not read."""
    keeper = bank.person("keeper")
    document = bank.document("Vault", f"The code is {SECRET}.", readers=[keeper])
    with bank.scope():
        return create_case(
            key="vault",
            question="What is the code?",
            as_user=keeper,
            expected_outcome="answered",
            kind="fact",
            required_text=[SECRET],
            required_documents=[document.pk],
            required_sections=[f"Section {SECRET}"],
            correct_answer=f"It is {SECRET}.",
        )


def test_a_case_goes_from_draft_over_reviewed_to_active_and_no_other_way(bank, secret_case):
    with bank.scope():
        with pytest.raises(ValidationError, match="cannot become"):
            move_case(case=secret_case, to=CaseState.ACTIVE)
        assert move_case(case=secret_case, to=CaseState.REVIEWED)
        assert move_case(case=secret_case, to=CaseState.ACTIVE)
        assert not move_case(case=secret_case, to=CaseState.ACTIVE)
        assert move_case(case=secret_case, to=CaseState.DRAFT)
        with pytest.raises(IntegrityError):
            EvalCase.objects.filter(pk=secret_case.pk).update(state=CaseState.ACTIVE)


def test_a_changed_case_is_a_draft_again_and_keeps_what_it_said(bank, secret_case):
    with bank.scope():
        move_case(case=secret_case, to=CaseState.REVIEWED)
        changed = change_case(case=secret_case, required_text=("albatross",))
        history = [(one.number, one.content["required_text"]) for one in changed.versions.all()]
        assert (changed.state, changed.version) == (CaseState.DRAFT, 2)
        assert history == [(2, ["albatross"]), (1, [SECRET])]
        with pytest.raises(Exception, match=r"chang"):
            changed.versions.update(content={})


def test_words_are_for_who_may_read_every_required_document(bank, secret_case, reviewer):
    with bank.scope():
        assert not may_see_words(viewer=reviewer, case=secret_case)
        assert may_see_words(viewer=secret_case.as_user, case=secret_case)


@pytest.mark.parametrize("field", ["required_text", "required_sections", "forbidden_text"])
def test_a_case_without_documents_shows_its_words_to_its_maker_only(bank, reviewer, field):
    other = bank.person("other", roles=[Role.REVIEWER])
    with bank.scope():
        case = create_case(
            key="refused",
            question="?",
            as_user=reviewer,
            expected_outcome="abstained",
            kind="restricted",
            **{field: [SECRET]},
            actor=reviewer,
        )
        assert may_see_words(viewer=reviewer, case=case)
        assert not may_see_words(viewer=other, case=case)


def test_a_reviewer_sees_no_word_of_a_case_about_what_they_may_not_read(
    bank, secret_case, reviewer
):
    with bank.scope():
        move_case(case=secret_case, to=CaseState.REVIEWED)
    client = signed_in(bank, reviewer)
    for address in (
        list_of("evaluation_evalcase"),
        page_of(secret_case),
        list_of("evaluation_evalcase") + "export.csv",
        list_of("evaluation_evalcase") + "export.json",
    ):
        page = client.get(address)
        assert page.status_code == 200
        assert SECRET not in page.content.decode()
    assert not client.get(list_of("evaluation_evalcase"), {"q": SECRET}).context["cl"].result_list
    assert "Withheld" in client.get(page_of(secret_case)).content.decode()
    with bank.scope():
        with pytest.raises(PermissionDenied):
            change_case(case=secret_case, actor=reviewer, key="mine")
        with pytest.raises(PermissionDenied):
            confirm_case(case=secret_case, actor=reviewer)


def test_nobody_requires_a_document_they_may_not_read(bank, secret_case, reviewer):
    with bank.scope(), pytest.raises(ValidationError, match="not for you to read"):
        create_case(
            key="probe",
            question="?",
            as_user=reviewer,
            expected_outcome="answered",
            kind="x",
            required_documents=secret_case.required_documents,
            actor=reviewer,
        )


@pytest.mark.parametrize("role", [Role.AUDITOR, (Role.DEPARTMENT_ADMIN, "Human Resources")])
def test_other_roles_write_no_cases(bank, secret_case, role):
    somebody = bank.person("somebody", roles=[role])
    with bank.scope(), pytest.raises(PermissionDenied):
        move_case(case=secret_case, to=CaseState.REVIEWED, actor=somebody)


def test_a_reviewer_writes_changes_and_activates_a_case_in_the_administration(bank, reviewer):
    document = bank.document("Leave", readers=[reviewer])
    client = signed_in(bank, reviewer)
    form = client.get(add_to("evaluation_evalcase"))
    answer = client.post(
        add_to("evaluation_evalcase"),
        filled(
            form,
            key="leave",
            question="How many days of leave?",
            as_user=str(reviewer.pk),
            kind="fact",
            expected_outcome="answered",
            documents=[str(document.pk)],
            wanted="25 days\nannual",
        ),
        follow=True,
    )
    assert "was made, as a draft" in answer.content.decode()
    with bank.scope():
        case = EvalCase.objects.get()
    assert case.required_text == ["25 days", "annual"]
    base = page_of(case).replace("change/", "")
    client.post(f"{base}move-to-reviewed/")
    page = client.post(f"{base}move-to-active/", follow=True)
    assert "is now active" in page.content.decode()
    answer = client.post(
        page_of(case), filled(client.get(page_of(case)), wanted="26 days"), follow=True
    )
    assert "is a draft again" in answer.content.decode()
    assert "25 days; annual" in answer.content.decode()  # its history


def test_a_draft_from_an_answer_holds_what_the_reviewer_may_read(bank, reviewer):
    asker = bank.person("asker")
    document = bank.document("Leave", readers=[asker])
    view = bank.ask(asker, "How many days of annual leave do I have?")
    with bank.scope():
        blind = draft_from_answer(reviewer=reviewer, answer=view.answer)
        documents.grant_access(actor=None, document=document, subject=reviewer)
        seeing = draft_from_answer(reviewer=reviewer, answer=view.answer)
    assert (blind.required_text, blind.required_documents) == ([], [])
    assert seeing.required_documents == [document.pk]
    assert "25 days" in seeing.required_text[0]
    assert (seeing.as_user, seeing.expected_outcome) == (asker, "answered")


def test_a_case_may_want_a_section(bank, secret_case):
    given = {"outcome": "answered", "words": SECRET, "documents": frozenset()}
    with bank.scope():
        change_case(case=secret_case, required_documents=[])
        secret_case.refresh_from_db()
    there = judge(
        case=secret_case,
        given=Given(**given, sections=frozenset({f"Section {SECRET}"})),
        unreadable=[],
    )
    assert there.passed
    assert judge(case=secret_case, given=Given(**given), unreadable=[]).failures == (
        "cites none of the required sections",
    )


@pytest.mark.parametrize("file_format", list(FileFormat))
def test_what_was_exported_can_be_imported(bank, other_bank, secret_case, file_format):
    with bank.scope():
        change_case(case=secret_case, forbidden_text=["=1+1", "'quoted"])
        text = as_file(export_cases(viewer=None), file_format)
        EvalCase.objects.all().delete()
        [case] = import_cases(rows=parse(text, file_format)).cases
    assert case.required_text == [SECRET]
    assert case.forbidden_text == ["=1+1", "'quoted"]
    assert case.required_documents == secret_case.required_documents
    assert case.state == CaseState.DRAFT
    with other_bank.scope(), pytest.raises(ValidationError, match=r"no account|no document"):
        import_cases(rows=parse(text, file_format))


def test_a_file_is_taken_in_whole_or_not_at_all_and_says_which_rows_are_wrong(bank, reviewer):
    good = {"id": "a", "question": "?", "as_user": reviewer.email, "outcome": "abstained"}
    rows = [
        good,
        {**good, "id": ""},
        {**good, "id": "c", "as_user": "nobody@bank.example"},
        {**good, "id": "d", "outcome": "maybe"},
        {**good, "id": "e", "required_documents": ["no-such-thing"]},
        {**good, "id": "f", "required_text": "not a list"},
        {**good},
    ]
    with bank.scope():
        with pytest.raises(ValidationError) as wrong:
            import_cases(rows=rows)
        assert not EvalCase.objects.exists()
    told = " ".join(wrong.value.messages)
    for number in (2, 3, 4, 5, 6, 7):
        assert f"Row {number} " in told
    assert "Row 1 " not in told
    assert "Nothing was imported" in told


@pytest.mark.parametrize("text", ["", "{", "3", '{"id": 1}', "[1, 2]"])
def test_a_file_that_cannot_be_read_is_refused_in_plain_words(text):
    with pytest.raises(ValidationError, match="The file"):
        parse(text, FileFormat.JSON)


def test_commands_move_cases_between_files_and_the_tenant(bank, secret_case, tmp_path, capsys):
    file = tmp_path / "cases.json"
    call_command("export_cases", str(file), "--tenant", bank.tenant.slug, "--json")
    assert json.loads(capsys.readouterr().out) == {"exported": 1}
    with bank.scope():
        EvalCase.objects.all().delete()
    call_command(
        "import_cases", str(file), "--tenant", bank.tenant.slug, "--state", "active", "--json"
    )
    with bank.scope():
        assert EvalCase.objects.get().state == CaseState.ACTIVE
    with pytest.raises(CommandError, match="already a case"):
        call_command("import_cases", str(file), "--tenant", bank.tenant.slug)
    with pytest.raises(CommandError, match="must end in"):
        call_command("import_cases", str(tmp_path / "cases.txt"), "--tenant", bank.tenant.slug)


def test_a_file_is_taken_in_by_a_reviewer_in_the_administration(bank, reviewer):
    from django.core.files.uploadedfile import SimpleUploadedFile

    client = signed_in(bank, reviewer)
    address = list_of("evaluation_evalcase") + "import/"
    row = {"id": "a", "question": "?", "as_user": reviewer.email, "outcome": "abstained"}
    for rows, told in (([row], "1 cases were taken in"), ([row], "already a case")):
        file = SimpleUploadedFile("cases.json", json.dumps(rows).encode())
        page = client.post(address, {"file": file}, follow=True)
        assert told in page.content.decode()
