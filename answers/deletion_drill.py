"""Proves deletion: a document with a word of its own is asked about, deleted and purged; then the word
is looked for in everything that is kept.
"""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

from documents import services as documents
from documents.ingestion.job import ingest_version
from documents.models import (
    Chunk,
    ChunkEmbedding,
    ChunkTerm,
    Document,
    DocumentVersion,
    LifeCycle,
    VersionStatus,
)
from documents.retention import purge_due
from documents.traces import Traces, find_traces
from tenants import services as people
from tenants.models import Tenant, User
from tenants.scope import tenant_scope
from tenants.selectors import NotFound, tenant_of_slug

from .models import Answer, Channel, Outcome
from .services import block_draft, close_review_item, give_feedback, start_answer
from .transport import answer_to_the_end

SLUG = "deletion-drill"
PERSON = "drill@deletion-drill.invalid"
# Where the word must have stood before, or the search for it proves nothing.
MUST_BE_SEEN = (
    "documents_document.title",
    "documents_documentversion.file_name",
    "documents_chunk.text",
    "documents_chunkterm.term",
    "documents_termstatistics.term",
    "answers_answer.question",
    "answers_claim.text",
    "answers_citation.quote",
    "answers_feedback.comment",
    "answers_reviewitem.draft",
    "answers_reviewitem.reason",
    "answers_reviewitem.note",
)
_WAIT_SECONDS = 120


class DrillFailed(Exception):
    """The drill could not be held; that is no proof of anything."""


@dataclass(frozen=True, slots=True)
class Drill:
    """`left` is empty when nothing of the document is kept but what says that it was there."""

    word: str
    document: Document
    before: Traces
    after: Traces
    removed: dict[str, int]
    left: dict[str, int]


def hold_drill(*, say: Callable[[str], None] = lambda line: None) -> Drill:
    """In a tenant of its own, which keeps deleted documents for no day. Raises DrillFailed."""
    word = "zq" + "".join(secrets.choice("bcdfghjkmnpqrtvwxz") for _ in range(18))
    with tenant_scope(_tenant()):
        person = User.objects.filter(email=PERSON).first() or people.create_user(
            email=PERSON, password=None, name="Deletion drill"
        )
        say(f"A document with the word {word} is taken in.")
        document = _take_in(word, person)
        say("It is asked about, judged and reviewed.")
        _ask(word, person)
        before = find_traces(word)
        if blind := [place for place in MUST_BE_SEEN if place not in before.found]:
            raise DrillFailed(f"The word was not found where it must stand: {', '.join(blind)}.")
        if sum(place.startswith("file ") for place in before.found) < 2:
            raise DrillFailed("The word was not found in the files of the document.")
        say(f"It stands in {len(before.found)} places. The document is deleted and purged.")
        documents.delete_document(actor=None, document=document)
        removed = purge_due()
        after = find_traces(word)
        left = after.found | _rows_left(document) | dict.fromkeys(after.unseen, 1)
        return Drill(word, document, before, after, removed, left)


def _tenant():
    try:
        return tenant_of_slug(SLUG)
    except NotFound:
        # Only the rule about deleted documents: the words of its answers must go with the document.
        return people.create_tenant(
            slug=SLUG, name="Deletion drill", keep_deleted_days=0, keep_answers_days=None
        ).id


def _take_in(word: str, person: User) -> Document:
    keeps = Tenant.objects.get(slug=SLUG).keep_deleted_days
    if keeps:
        raise DrillFailed(f"The tenant {SLUG} keeps deleted documents for {keeps} days, not for 0.")
    document, submission = documents.create_document(
        actor=None,
        title=f"Allowance {word}",
        reference=f"POL-{word}",
        department=people.get_or_create_department(name="Deletion drill"),
        upload=documents.Upload(data=_pdf(word), name=f"{word}.pdf"),
        life_cycle=LifeCycle.VETTED,
        subjects=[person],
        source_item_id=word,
    )
    version = _ingested(submission.version)
    if version.status != VersionStatus.SEARCHABLE:
        raise DrillFailed(f"The document is {version.status}. {version.failure_reason}")
    return document


def _ingested(version: DocumentVersion) -> DocumentVersion:
    """Here, unless a worker was quicker; then when that one is done."""
    deadline = time.monotonic() + _WAIT_SECONDS
    done = ingest_version(version_id=version.id)
    while done.status in (VersionStatus.RECEIVED, VersionStatus.ACCEPTED):
        if time.monotonic() > deadline:
            break
        time.sleep(0.5)
        done = DocumentVersion.objects.get(pk=version.pk)
    return done


def _ask(word: str, person: User) -> Answer:
    started = start_answer(
        user=person,
        request_id=f"drill-{uuid4()}",
        question=f"How many days is the {word} allowance?",
        channel=Channel.COMMAND,
        counted=False,
    )
    view = answer_to_the_end(user=person, started=started)
    if view.outcome != Outcome.ANSWERED:
        raise DrillFailed(f"The question about the document ended as {view.outcome}.")
    answer = view.answer
    give_feedback(user=person, answer=answer, helpful=False, category=word, comment=word)
    claim = {
        "text": f"The {word} is 26 days.",
        "quotes": [{"document": None, "quote": f"The {word} allowance is 25 days."}],
    }
    item = block_draft(answer=answer, reason=f"Blocked: number: {word}", draft=[claim])
    close_review_item(item=item, reviewer=person, note=f"Seen: {word}")
    return answer


def _rows_left(document: Document) -> dict[str, int]:
    """What has no words, and was made from them."""
    counts = {
        "rows of documents_chunk": Chunk.objects.filter(document=document).count(),
        "rows of documents_chunkembedding": ChunkEmbedding.objects.filter(
            document=document
        ).count(),
        "rows of documents_chunkterm": ChunkTerm.objects.filter(version__document=document).count(),
    }
    return {name: count for name, count in counts.items() if count}


def _pdf(word: str) -> bytes:
    """One page, its text in the clear, so that the word can be seen in the file."""
    lines = [
        f"Allowance {word}",
        f"The {word} allowance is 25 days a year.",
        f"Whoever wants the {word} asks the branch manager.",
    ]
    text = b"BT /F1 12 Tf 16 TL 60 780 Td "
    text += b" ".join(b"(" + line.encode() + b") Tj T*" for line in lines) + b" ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(text), text),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start, size = len(out), len(objects) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n"
        % (size, table, size, start)
    )
