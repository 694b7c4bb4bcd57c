"""A refusal tells nothing: whether an answer is restricted or does not exist cannot be seen.

Only a tenant that chose `contact_admin` lets people know that access is missing, in one sentence.
"""

import json
import re
import uuid

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from answers.models import Answer, Outcome, Reason, ReviewItem
from answers.present import answer_object
from documents.models import LifeCycle
from tenants import services as people
from tenants.models import RefusalPolicy
from tests.bank import Bank

QUESTION = "What is the access code of the branch vault?"
SECRET = "The access code of the branch vault is 4471. The vault custodian changes it every month."
OTHER = "Parking spaces at the head office are given out in the order of requests each January."
SENTENCE = (
    "This may be answered in a document you have no access to; ask your department's administrator."
)
ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}")
# What names the restricted side: it exists in no statement that a default tenant runs.
RESTRICTED_SIDE = "NOT permitted"


def filled(restricted: str, **policies) -> tuple[Bank, object]:
    """A bank with a reader of two documents, and one document for somebody else."""
    bank = Bank.create(**policies)
    reader, insider = bank.person("reader"), bank.person("insider")
    bank.document("Branches", "Branches open at nine and close at five.", readers=[reader])
    bank.document("Leave", "Annual leave allowance is 25 days a year.", readers=[reader])
    bank.document("Insider paper", restricted, readers=[insider])
    return bank, reader


@pytest.fixture(scope="module")
def default():
    """(restricted, absent): the same bank, but for what a document of somebody else says."""
    both = filled(SECRET), filled(OTHER)
    for bank, reader in both:
        bank.ask(reader, "Is everything loaded that loads once?")
    return both


@pytest.fixture(scope="module")
def telling():
    return filled(SECRET, refusal_policy=RefusalPolicy.CONTACT_ADMIN)


def statements(work) -> list[str]:
    """The SQL that `work` runs, without what differs from run to run."""
    seen = []

    def note(execute, sql, params, many, context):
        seen.append(re.sub(r'"?s\d+_x\d+"?', "SAVEPOINT", sql))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        work()
    return seen


def client_of(bank, person) -> Client:
    with bank.scope():
        _, token = people.issue_token(user=person)
    return Client(headers={"authorization": f"Bearer {token}"})


def post(client, question=QUESTION, **headers):
    body = json.dumps({"requestId": uuid.uuid4().hex, "question": question})
    return client.post("/v1/answers", body, content_type="application/json", headers=headers)


def body(response) -> str:
    raw = b"".join(response.streaming_content) if response.streaming else response.content
    return ID.sub("ID", raw.decode())


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_restricted_and_absent_give_the_same_status_headers_body_and_events(default, accept):
    restricted, absent = (post(client_of(*one), accept=accept) for one in default)
    assert restricted.status_code == absent.status_code == 200
    named = [ID.sub("ID", str(sorted(one.headers.items()))) for one in (restricted, absent)]
    assert named[0] == named[1]
    bodies = body(restricted), body(absent)
    assert bodies[0] == bodies[1]
    assert '"outcome": "abstained"' in bodies[0].replace('":"', '": "')


def test_restricted_and_absent_run_the_same_statements_in_the_same_order(default):
    lists = [statements(lambda one=one: one[0].ask(one[1], QUESTION)) for one in default]
    assert lists[0] == lists[1]
    assert len(lists[0]) > 20


def test_in_one_bank_a_word_that_only_the_restricted_document_has_changes_no_statement(default):
    bank, reader = default[0]
    lists = [
        statements(lambda word=word: bank.ask(reader, f"Who changes the code of the {word}?"))
        for word in ("vault", "vaunt")  # one is there, one is nowhere
    ]
    assert lists[0] == lists[1]


def test_restricted_and_absent_leave_the_same_audit_facts(default):
    from audit.models import AuditRecord

    facts = []
    for bank, reader in default:
        bank.ask(reader, QUESTION)
        with bank.scope():
            record = AuditRecord.objects.filter(action="answer.attempted").latest("seq")
        facts.append({k: v for k, v in record.facts.items() if k != "timings_ms"})
    assert facts[0] == facts[1]


def test_by_default_nothing_outside_the_permission_is_queried(default):
    for bank, reader in default:
        seen = statements(lambda bank=bank, reader=reader: bank.ask(reader, QUESTION))
        assert not [sql for sql in seen if RESTRICTED_SIDE in sql]


def test_the_restricted_side_is_scored_once_and_only_where_the_policy_says_so(telling):
    bank, reader = telling
    seen = statements(lambda: bank.ask(reader, QUESTION))
    assert len([sql for sql in seen if RESTRICTED_SIDE in sql]) == 1
    answered = statements(lambda: bank.ask(reader, "How many days of annual leave do I get?"))
    assert not [sql for sql in answered if RESTRICTED_SIDE in sql]


def test_contact_admin_says_one_sentence_and_nothing_else(telling):
    bank, reader = telling
    told = post(client_of(bank, reader)).json()
    assert told["outcome"] == "access_denied"
    assert told["message"] == SENTENCE
    assert told["message"].count(".") == 1
    quiet = post(client_of(bank, reader), "What is the colour of the unicorn stable?").json()
    assert quiet["outcome"] == "abstained"
    # But for the sentence it is the object of a refusal: no title, count, text, id or score.
    differing = {key for key in told if told[key] != quiet[key]}
    assert differing == {"answerId", "requestId", "question", "outcome", "reason", "message"}
    assert (told["claims"], told["citations"], told["reason"]) == ([], [], None)
    for word in ("4471", "custodian", "Insider"):
        assert word not in json.dumps(told)


def test_contact_admin_keeps_nothing_of_the_restricted_side(telling):
    bank, reader = telling
    view = bank.ask(reader, QUESTION)
    with bank.scope():
        answer = Answer.objects.get(pk=view.answer.pk)
        permits = list(answer.permits.all())
        readable = {str(d.current_version_id) for d in _documents(reader)}
        assert {v for permit in permits for v in permit.document_versions.values()} <= readable
        assert "restricted" not in json.dumps(answer.signals)
        assert not ReviewItem.objects.filter(answer=answer).exists()


def _documents(reader):
    from documents.access import readable_documents

    return readable_documents(user=reader)


@pytest.mark.parametrize(
    "question",
    [
        "What is the colour of the unicorn stable?",
        "What is the access code of the unicorn stable?",
        "Which bicycles may visitors lend?",
    ],
)
def test_contact_admin_abstains_where_no_document_answers(telling, question):
    bank, reader = telling
    view = bank.ask(reader, question)
    assert (view.outcome, view.reason) == (Outcome.ABSTAINED, Reason.NO_EVIDENCE)


def test_contact_admin_answers_from_what_may_be_read_also_when_more_is_restricted():
    bank, reader = filled(SECRET, refusal_policy=RefusalPolicy.CONTACT_ADMIN)
    bank.document("Vault", SECRET, readers=[reader])
    assert bank.ask(reader, QUESTION).outcome == Outcome.ANSWERED


def test_contact_admin_says_nothing_of_documents_that_nobody_may_be_told_from():
    """Drafts, duplicates, deleted documents and other tenants are not what access is missing to."""
    bank, reader = filled(OTHER, refusal_policy=RefusalPolicy.CONTACT_ADMIN)
    bank.document("Draft", SECRET, life_cycle=LifeCycle.DRAFT)
    elsewhere = Bank.create()
    elsewhere.document("Elsewhere", SECRET)
    gone = bank.document("Gone", SECRET)
    assert bank.ask(reader, QUESTION).outcome == Outcome.ACCESS_DENIED
    with bank.scope():
        from documents.services import delete_document

        delete_document(actor=None, document=gone)
    assert bank.ask(reader, QUESTION).outcome == Outcome.ABSTAINED


def test_the_page_of_a_denied_question_shows_the_sentence_alone(telling):
    bank, reader = telling
    view = bank.ask(reader, QUESTION)
    client = Client()
    with bank.scope():
        client.force_login(reader, backend="tenants.authentication.EmailBackend")
    html = client.get(reverse("answer", args=[view.answer.pk])).content.decode()
    assert SENTENCE.replace("'", "&#x27;") in html
    for word in ("4471", "custodian", "Insider"):
        assert word not in html


def test_the_policy_counts_from_the_next_question_on():
    bank, reader = filled(SECRET)
    assert bank.ask(reader, QUESTION).outcome == Outcome.ABSTAINED
    with bank.scope():
        people.set_refusal_policy(policy=RefusalPolicy.CONTACT_ADMIN, reason="Compliance 12/26")
    assert bank.ask(reader, QUESTION).outcome == Outcome.ACCESS_DENIED
    with bank.scope():
        people.set_refusal_policy(policy=RefusalPolicy.INDISTINGUISHABLE, reason="Withdrawn")
    view = bank.ask(reader, QUESTION)
    assert answer_object(view)["outcome"] == "abstained"
