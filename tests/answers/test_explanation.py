"""The whole chain behind an answer, for an auditor, and why candidates were counted out."""

import io
import json
import uuid

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from answers import authority
from answers.generation import get_generator
from answers.models import Answer, ContextPermit, Outcome, PermitStep
from audit.models import AuditRecord
from documents import services as documents
from documents.models import Chunk, Document, LifeCycle
from tenants import services as people
from tenants.models import Role, TokenUse
from tests.admin_pages import page_of, signed_in

QUESTION = "How many days of annual leave do employees have?"
LEAVE = "Annual leave allowance of employees is 25 days."


@pytest.fixture
def reader(bank):
    return bank.person("reader")


@pytest.fixture
def document(bank, reader):
    return bank.document("Annual leave", LEAVE, readers=[bank.group("Staff", reader)])


def explained(answer) -> dict:
    out = io.StringIO()
    call_command("explain_answer", str(answer.pk), "--json", stdout=out)
    return json.loads(out.getvalue())


def as_text(answer) -> str:
    out = io.StringIO()
    call_command("explain_answer", str(answer.pk), stdout=out)
    return out.getvalue()


def revoke(bank, reader, document):
    with bank.scope():
        group = document.grants.get().group
    bank.revoke(document, group)


def leave_the_group(bank, reader, document):
    with bank.scope():
        people.remove_from_group(user=reader, group=document.grants.get().group)


def deactivate(bank, reader, document):
    with bank.scope():
        people.set_user_active(user=reader, active=False)


def delete(bank, reader, document):
    with bank.scope():
        documents.delete_document(actor=None, document=document)


def withdraw(bank, reader, document):
    with bank.scope():
        documents.set_life_cycle(actor=None, document=document, life_cycle=LifeCycle.DRAFT)


def supersede(bank, reader, document):
    bank.new_version(document, "Annual leave allowance of employees is 26 days.")


def unindex(bank, reader, document):
    """As a reindexing with another chunking would: the passage of that id is gone."""
    with bank.scope():
        Chunk.objects.filter(document=document).delete()


CHANGES = {
    revoke: "no_grant",
    leave_the_group: "no_grant",
    deactivate: "inactive",
    delete: "deleted",
    withdraw: "life_cycle",
    supersede: "superseded",
    unindex: "not_indexed",
}


@pytest.mark.parametrize(
    ("change", "kind"), CHANGES.items(), ids=lambda v: getattr(v, "__name__", v)
)
def test_what_is_counted_out_at_an_admission_is_counted_by_kind(
    bank, reader, document, change, kind
):
    kept = bank.document("Kept", "The canteen opens at noon.", readers=[reader])
    answer = bank.start(reader, QUESTION).answer
    with bank.scope():
        chunks = list(Chunk.objects.filter(document=document).values_list("id", flat=True))
        still = list(Chunk.objects.filter(document=kept).values_list("id", flat=True))
    change(bank, reader, document)
    asked = [*chunks, *still]
    with bank.scope():
        admission = authority.admit(
            answer=answer,
            step=PermitStep.RERANK,
            processor="test",
            chunk_ids=asked,
            cosines=dict.fromkeys(asked, 0.5),
        )
        permit = ContextPermit.objects.get(pk=admission.permit.pk)
        everything = kind == "inactive"
        count = len(asked) if everything else len(chunks)
        assert permit.counted_out == {kind: count}
        assert permit.rejected == count
        with pytest.raises(authority.SourcesChanged) as raised:
            authority.admit(
                answer=answer,
                step=PermitStep.GENERATE,
                processor="test",
                chunk_ids=asked,
                cosines=dict.fromkeys(asked, 0.5),
                all_or_nothing=True,
            )
    assert raised.value.counted_out == {kind: count}
    assert str(document.id) not in json.dumps(permit.counted_out)


def test_an_admission_that_counts_nothing_out_asks_nothing_more(
    bank, reader, document, statements_of
):
    answer = bank.start(reader, QUESTION).answer
    with bank.scope():
        chunks = list(Chunk.objects.filter(document=document).values_list("id", flat=True))
        statements = statements_of(
            lambda: authority.admit(
                answer=answer,
                step=PermitStep.RERANK,
                processor="test",
                chunk_ids=chunks,
                cosines=dict.fromkeys(chunks, 0.5),
            )
        )
    assert not [sql for sql in statements if "unnest" in sql and "no_grant" in sql]


@pytest.fixture
def statements_of():
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    def statements(work) -> list[str]:
        with CaptureQueriesContext(connection) as captured:
            work()
        return [query["sql"] for query in captured.captured_queries]

    return statements


def test_the_chain_of_an_answer_is_whole(bank, reader, document):
    view = bank.ask(reader, QUESTION)
    assert view.outcome == Outcome.ANSWERED
    chain = explained(view.answer)
    assert (chain["askedBy"], chain["askedByEmail"]) == (str(reader.id), reader.email)
    assert chain["outcome"] == "answered"
    assert chain["attempts"] == 1
    assert [permit["step"] for permit in chain["permits"]] == ["rerank", "generate"]
    assert all(permit["countedOut"] == {} for permit in chain["permits"])
    version = str(document.current_version_id)
    assert {p["processor"] for p in chain["processors"]} == {
        permit["processor"] for permit in chain["permits"]
    }
    for processor in chain["processors"]:
        assert [source["versionId"] for source in processor["received"]] == [version]
    assert chain["release"]["digest"] == view.answer.digest
    assert chain["release"]["storedAnswerMatches"] is True
    assert chain["release"]["consumedAt"]
    (source,) = chain["sourcesNow"]
    assert (source["title"], source["version"]) == ("Annual leave", 1)
    assert source["cited"] is True
    assert source["stillReadable"] is True
    assert source["revisionThen"] == source["revisionNow"]
    assert chain["changesSince"] == []
    assert [record["action"] for record in chain["audit"]] == ["answer.attempted"]
    text = as_text(view.answer)
    assert "what is stored matches it" in text
    for words in (QUESTION, "25 days"):
        assert words not in text
        assert words not in json.dumps(chain)


def test_a_question_asked_with_a_token_names_the_token(bank, reader, document, client):
    with bank.scope():
        token, secret = people.issue_token(user=reader, uses=[TokenUse.ASK])
    response = client.post(
        "/v1/answers",
        {"question": QUESTION, "requestId": "by-script"},
        content_type="application/json",
        headers={"Authorization": f"Bearer {secret}"},
    )
    with bank.scope():
        answer = Answer.objects.get(pk=response.json()["answerId"])
        record = AuditRecord.objects.get(action="answer.attempted")
    chain = explained(answer)
    assert (chain["askedThrough"], chain["tokenId"]) == ("token", str(token.pk))
    assert f"with the token {token.pk}" in as_text(answer)
    assert (record.facts["channel"], record.object_ids["token"]) == ("token", str(token.pk))


def test_a_question_asked_by_a_command_says_so(bank, reader, document):
    call_command("ask", QUESTION, user=reader.email, json=True, stdout=io.StringIO())
    with bank.scope():
        answer = Answer.objects.get(user=reader)
    chain = explained(answer)
    assert (chain["askedThrough"], chain["tokenId"]) == ("command", None)


@pytest.mark.parametrize(
    ("change", "now", "action"),
    [
        (revoke, "no_grant", "grant.revoked"),
        (leave_the_group, "no_grant", "group.member_removed"),
        (deactivate, "inactive", "user.deactivated"),
        (delete, "deleted", "document.deleted"),
        (withdraw, "life_cycle", "document.life_cycle_set"),
        (supersede, "superseded", "document.version_in_force"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_changed_since_is_told_now_against_then(bank, reader, document, change, now, action):
    view = bank.ask(reader, QUESTION)
    change(bank, reader, document)
    chain = explained(view.answer)
    (source,) = chain["sourcesNow"]
    assert (source["now"], source["stillReadable"]) == (now, False)
    assert action in [record["action"] for record in chain["changesSince"]]
    assert chain["release"]["storedAnswerMatches"] is True
    assert action in as_text(view.answer)


def test_an_answer_whose_stored_words_changed_is_called_out(bank, reader, document, raw_sql):
    view = bank.ask(reader, QUESTION)
    raw_sql.execute("ALTER TABLE answers_claim DISABLE TRIGGER USER")
    try:
        raw_sql.execute(
            "UPDATE answers_claim SET text = 'x' WHERE answer_id = %s", [view.answer.id]
        )
    finally:
        raw_sql.execute("ALTER TABLE answers_claim ENABLE TRIGGER USER")
    assert explained(view.answer)["release"]["storedAnswerMatches"] is False
    assert "DOES NOT MATCH" in as_text(view.answer)


def test_a_restart_is_told_with_what_was_lost_by_kind(bank, reader, document):
    other = bank.document("Leave in short", LEAVE, readers=[reader])

    class Revoking:
        """Loses one of its sources while it writes, the first time."""

        name = processor = "revoking"
        calls = 0

        def generate(self, **given):
            self.calls += 1
            if self.calls == 1:
                bank.revoke(other, reader)
            return get_generator("extractive").generate(**given)

    view = bank.ask(reader, QUESTION, Revoking())
    assert view.outcome == Outcome.ANSWERED
    chain = explained(view.answer)
    assert chain["restarts"] == [{"attempt": 1, "countedOut": {"noGrant": 1}}]
    assert chain["attempts"] == 2
    assert "Attempt 1 was started again" in as_text(view.answer)
    lost = next(s for s in chain["sourcesNow"] if s["documentId"] == str(other.id))
    assert lost["now"] == "no_grant"


def test_a_refusal_has_a_chain_too_and_names_nothing_of_what_was_out_of_reach(bank, reader):
    bank.document("Board minutes", LEAVE, readers=[bank.person("director")])
    view = bank.ask(reader, QUESTION)
    assert view.outcome == Outcome.ABSTAINED
    chain = explained(view.answer)
    assert chain["release"] is None
    assert "Board minutes" not in json.dumps(chain)
    assert "nothing was released" in as_text(view.answer)


def test_an_unknown_answer_and_no_id_are_said_to_be_so(bank):
    with pytest.raises(CommandError, match="There is no answer"):
        call_command("explain_answer", str(uuid.uuid4()), "--tenant", bank.tenant.slug)
    with pytest.raises(CommandError, match="is not an answer id"):
        call_command("explain_answer", "x", "--tenant", bank.tenant.slug)


@pytest.mark.parametrize(
    ("role", "status"),
    [(Role.AUDITOR, 200), (Role.TENANT_ADMIN, 200), (Role.REVIEWER, 404), (None, 403)],
)
def test_the_page_is_for_auditors_and_tenant_administrators(bank, reader, document, role, status):
    view = bank.ask(reader, QUESTION)
    client = signed_in(bank, bank.person("looks", roles=[role] if role else []))
    address = reverse("admin:answers_answer_explanation", args=[view.answer.pk])
    page = client.get(address)
    assert page.status_code == status
    if status != 200:
        return
    assert address in client.get(page_of(view.answer)).content.decode()
    body = page.content.decode()
    assert "what is stored matches it" in body
    assert "Annual leave, version 1" in body
    for words in (QUESTION, "25 days"):
        assert words not in body
    revoke(bank, reader, document)
    assert "no grant any more" in client.get(address).content.decode()
    assert client.post(address).status_code == 405


def test_the_page_of_another_tenants_answer_is_not_there(bank, other_bank, reader):
    theirs = other_bank.start(other_bank.person(), QUESTION).answer
    client = signed_in(bank, bank.person("auditor", roles=[Role.AUDITOR]))
    there = client.get(reverse("admin:answers_answer_explanation", args=[theirs.pk]))
    nowhere = client.get(reverse("admin:answers_answer_explanation", args=[uuid.uuid4()]))
    assert (there.status_code, there.content) == (404, nowhere.content)


def test_titles_of_deleted_documents_are_on_the_operators_page_only(bank, reader, document):
    view = bank.ask(reader, QUESTION)
    delete(bank, reader, document)
    with bank.scope():
        assert Document.objects.get(pk=document.pk).deleted_at <= timezone.now()
        assert Answer.objects.filter(pk=view.answer.pk).exists()
    client = signed_in(bank, bank.person("auditor", roles=[Role.AUDITOR]))
    page = client.get(reverse("admin:answers_answer_explanation", args=[view.answer.pk]))
    assert "the document was deleted" in page.content.decode()
    assert str(document.id) in page.content.decode()
    assert "Annual leave" not in page.content.decode()
    assert "Annual leave" in as_text(view.answer)
