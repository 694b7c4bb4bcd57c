"""The whole chain behind one answer, for an auditor. Ids, titles, counts and times; no text, no question."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from django.db.models import QuerySet

from audit.selectors import records_about
from documents.models import Document, DocumentVersion
from documents.standing import IN_WORDS, Standing, standing_of

from .authority.counting import KINDS
from .canonical import digest_of
from .models import Answer, Channel, Citation, ContextPermit, ReleasePermit

# Actions that can change who may read what; each names a document, a person or both.
ACCESS_ACTIONS = (
    "grant.given",
    "grant.revoked",
    "document.deleted",
    "document.life_cycle_set",
    "document.version_in_force",
    "document.version_reinstated",
    "group.member_added",
    "group.member_removed",
    "user.activated",
    "user.deactivated",
)
OWN_ACTIONS = ("answer.attempted", "answer.evaluated", "answer.feedback")
NOT_YOURS = "(no title for you)"


class _Names:
    """Titles of documents whose metadata the reader of the explanation sees, and version numbers."""

    def __init__(self, titles_of: QuerySet[Document], permits: Iterable[ContextPermit]):
        given = {pair for permit in permits for pair in _pairs(permit.document_versions)}
        found = titles_of.filter(id__in=[document for document, _ in given])
        self.given = given
        self.titles = dict(found.values_list("id", "title"))
        versions = DocumentVersion.objects.filter(id__in=[version for _, version in given])
        self.numbers = dict(versions.values_list("id", "number"))

    def source(self, document: UUID, version: UUID) -> dict[str, object]:
        return {
            "document_id": str(document),
            "title": self.titles.get(document, NOT_YOURS),
            "version_id": str(version),
            "version": self.numbers.get(version),
        }


def explain(*, answer: Answer, titles_of: QuerySet[Document]) -> dict[str, object]:
    """Who asked, what was counted out and why, who received what, what was released, what changed since.

    `titles_of` are the documents whose titles may be shown; of the others, the id. Keys are in
    snake case; everything is plain JSON but dates.
    """
    permits = list(answer.permits.order_by("admitted_at", "id"))
    names = _Names(titles_of, permits)
    release = ReleasePermit.objects.filter(answer=answer).first()
    return {
        "answer_id": str(answer.id),
        "asked_by": str(answer.user_id),
        "asked_by_email": answer.user.email,
        "asked_through": answer.channel,
        "token_id": answer.token_id and str(answer.token_id),
        "asked_at": answer.created_at,
        "finished_at": answer.finished_at,
        "request_id": answer.request_id,
        "purpose": answer.purpose,
        "state": answer.state,
        "outcome": answer.outcome or None,
        "reason": answer.reason or None,
        "attempts": answer.attempt,
        "generation": answer.generation_id_used and str(answer.generation_id_used),
        "configuration": answer.configuration_id_used and str(answer.configuration_id_used),
        "canary": answer.canary_id_asked and str(answer.canary_id_asked),
        "arm": answer.arm or None,
        "generator": answer.generator or None,
        "model": answer.model or None,
        "prompt_version": answer.prompt_version or None,
        "restarts": answer.signals.get("restarts", []),
        "model_failure": answer.signals.get("model_failure"),
        "passages_dropped": answer.signals.get("passages_dropped", []),
        "claims_removed": answer.signals.get("claims_removed", []),
        "blocked": [
            {
                "rule": item.reason.split(": ")[1] if ": " in item.reason else "",
                "at": item.created_at,
            }
            for item in answer.review_items.filter(kind="blocked_draft")
        ],
        "permits": [_permit(permit, names) for permit in permits],
        "processors": _processors(permits, names),
        "text_purged_at": answer.purged_at,
        "release": _release(answer, release),
        "sources_now": _sources_now(answer, names, release or (permits and permits[-1])),
        "changes_since": _changes_since(answer, names),
        "audit": [
            {"seq": record.seq, "action": record.action, "at": record.at, "hash": record.hash}
            for record in records_about(
                actions=OWN_ACTIONS, since=answer.created_at, ids={"answer": [answer.id]}
            )
        ],
    }


def _permit(permit: ContextPermit, names: _Names) -> dict[str, object]:
    return {
        "permit_id": str(permit.id),
        "step": permit.step,
        "attempt": permit.attempt,
        "processor": permit.processor,
        "admitted_at": permit.admitted_at,
        "passages": len(permit.chunks),
        "rejected": permit.rejected,
        "counted_out": permit.counted_out,
        "document_versions": permit.document_versions,
        "access_revisions": permit.access_revisions,
        "sources": [names.source(*pair) for pair in _pairs(permit.document_versions)],
    }


def _processors(permits: Iterable[ContextPermit], names: _Names) -> list[dict[str, object]]:
    received: dict[str, dict[tuple[UUID, UUID], None]] = {}
    for permit in permits:
        received.setdefault(permit.processor, {}).update(
            dict.fromkeys(_pairs(permit.document_versions))
        )
    return [
        {"processor": processor, "received": [names.source(*pair) for pair in pairs]}
        for processor, pairs in received.items()
    ]


def _release(answer: Answer, release: ReleasePermit | None) -> dict[str, object] | None:
    if release is None:
        return None
    return {
        "permit_id": str(release.id),
        "attempt": release.attempt,
        "caller": str(release.caller),
        "digest": release.digest,
        # None: there is nothing left to compare.
        "stored_answer_matches": None
        if answer.purged_at
        else release.digest
        == answer.digest
        == digest_of(answer_id=answer.id, outcome=answer.outcome),
        "document_versions": release.document_versions,
        "access_revisions": release.access_revisions,
        "admitted_at": release.admitted_at,
        "consumed_at": release.consumed_at,
    }


def _sources_now(
    answer: Answer, names: _Names, decided: ReleasePermit | ContextPermit | None
) -> list[dict[str, object]]:
    """How each version that a processor received stands now for the person who asked."""
    then = decided.access_revisions if decided else {}
    standing = standing_of(reader=answer.user_id, versions=names.given)
    cited = set(
        Citation.objects.filter(claim__answer=answer).values_list("document_id", "version_id")
    )
    now = dict(
        Document.objects.filter(id__in=[d for d, _ in names.given]).values_list(
            "id", "access_revision"
        )
    )
    return [
        {
            **names.source(*pair),
            "cited": pair in cited,
            "now": standing[pair].value,
            "still_readable": standing[pair] == Standing.READABLE,
            "revision_then": then.get(str(pair[0])),
            "revision_now": now.get(pair[0]),
        }
        for pair in sorted(names.given, key=lambda pair: (names.titles.get(pair[0], ""), pair))
    ]


def _changes_since(answer: Answer, names: _Names) -> list[dict[str, object]]:
    """What was recorded since about these documents and this person that can change access."""
    records = records_about(
        actions=ACCESS_ACTIONS,
        since=answer.finished_at or answer.created_at,
        ids={"document": {document for document, _ in names.given}, "user": {answer.user_id}},
    )
    return [
        {
            "seq": record.seq,
            "at": record.at,
            "action": record.action,
            "actor": record.actor and str(record.actor),
            "document_id": record.object_ids.get("document"),
            "title": _title(names, record.object_ids.get("document")),
        }
        for record in records
    ]


def _title(names: _Names, document: str | None) -> str | None:
    return document and names.titles.get(UUID(document))


def _pairs(document_versions: Mapping[str, str]) -> list[tuple[UUID, UUID]]:
    return [(UUID(document), UUID(version)) for document, version in document_versions.items()]


def _channel(one: Mapping[str, object]) -> str:
    if one["token_id"]:
        return f"with the token {one['token_id']}"
    return "by a command" if one["asked_through"] == Channel.COMMAND else "signed in"


def in_words(explained: Mapping[str, object]) -> str:
    """The same as lines for a person."""
    one = explained
    how = " ".join(
        filter(None, [one["outcome"] or one["state"], f"({one['reason']})" * bool(one["reason"])])
    )
    lines = [
        f"Answer {one['answer_id']}",
        f"Asked by {one['asked_by_email']} ({one['asked_by']})"
        f" at {one['asked_at']:%Y-%m-%d %H:%M:%S %Z}, {_channel(one)}",
        f"Ended as {how} in attempt {one['attempts']}",
        f"Written by {one['generator'] or '-'}, model {one['model'] or '-'},"
        f" prompt {one['prompt_version'] or '-'}, index generation {one['generation'] or '-'},"
        f" answer configuration {one['configuration'] or '-'}",
    ]
    if one["arm"]:
        lines.append(f"Fell to the {one['arm']} arm of the canary {one['canary']}")
    for restart in one["restarts"]:
        lines.append(
            f"Attempt {restart['attempt']} was started again, sources changed:"
            f" {counted_out_in_words(restart['counted_out'])}"
        )
    if one["model_failure"]:
        lines.append(f"The model gave nothing that could be used: {one['model_failure']}")
    if one["passages_dropped"]:
        ranks = ", ".join(str(rank) for rank in one["passages_dropped"])
        lines.append(
            f"The prompt might not have fitted: the model did not see the passages ranked {ranks}"
        )
    for blocked in one["blocked"]:
        lines.append(f"A draft was blocked by the check '{blocked['rule']}'")
    lines += ["", "Admissions"]
    for permit in one["permits"]:
        lines.append(
            f"  {permit['admitted_at']:%H:%M:%S} attempt {permit['attempt']}, {permit['step']}:"
            f" {permit['passages']} passages to {permit['processor']}; counted out:"
            f" {counted_out_in_words(permit['counted_out'], permit['rejected'])}"
            f" (permit {permit['permit_id']})"
        )
    lines += ["", "Who received what"]
    for processor in one["processors"]:
        lines.append(f"  {processor['processor']}")
        lines += [f"    {_source(source)}" for source in processor["received"]]
    lines += ["", "Release"]
    if release := one["release"]:
        lines += [
            f"  admitted {release['admitted_at']:%Y-%m-%d %H:%M:%S} (permit {release['permit_id']})",
            f"  digest {release['digest']}; {_stored_in_words(one)}",
        ]
    else:
        lines.append("  nothing was released")
    lines += ["", "Then and now"]
    for source in one["sources_now"]:
        cited = ", cited" if source["cited"] else ""
        lines.append(
            f"  {_source(source)}{cited}: {IN_WORDS[Standing(source['now'])]}"
            f" (access revision {source['revision_then']} then, {source['revision_now']} now)"
        )
    lines += ["", "Recorded since"]
    for record in one["changes_since"]:
        about = record["title"] or record["document_id"] or "the person who asked"
        lines.append(
            f"  {record['seq']}  {record['at']:%Y-%m-%d %H:%M:%S}  {record['action']}: {about}"
        )
    lines += [] if one["changes_since"] else ["  nothing that changes access to these sources"]
    lines += ["", "In the audit record"]
    lines += [f"  {row['seq']}  {row['action']}  {row['hash']}" for row in one["audit"]]
    return "\n".join(lines)


def _stored_in_words(one: Mapping[str, object]) -> str:
    if one["text_purged_at"]:
        return f"text no longer kept since {one['text_purged_at']:%Y-%m-%d}"
    return "what is stored " + (
        "matches it" if one["release"]["stored_answer_matches"] else "DOES NOT MATCH it"
    )


def counted_out_in_words(kinds: Mapping[str, int], total: int | None = None) -> str:
    """ "2 (no grant any more), 1 (…)"; admissions from before kinds were kept have a total only."""
    if kinds:
        return ", ".join(f"{count} ({KINDS.get(kind, kind)})" for kind, count in kinds.items())
    return f"{total} (the kind was not kept)" if total else "none"


def _source(source: Mapping[str, object]) -> str:
    return f"{source['title']}, version {source['version']} [{source['document_id']}]"
