"""Which sections changed from one version of a document to the next."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from tenants.models import User

from .access import readable_documents
from .ingestion.accept import accepted_text
from .ingestion.extracted import ExtractedText
from .ingestion.sections import PATH_SEPARATOR, sections
from .ingestion.sentences import sentences
from .models import DocumentVersion


class ChangeKind(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class SectionChange:
    """`gone` and `new` are the sentences of the one version that the other does not have.

    Heading and sentences are empty for who may not read the document.
    """

    kind: ChangeKind
    heading: str = ""
    gone: tuple[str, ...] = ()
    new: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionChanges:
    version: DocumentVersion
    former: DocumentVersion
    unchanged: int
    changes: tuple[SectionChange, ...]
    words_shown: bool


@dataclass(frozen=True, slots=True)
class _Part:
    heading: str
    sentences: tuple[str, ...]


def version_changes(*, user: User, version: DocumentVersion) -> VersionChanges | None:
    """What this version changed; None for a first one, or while one of the two has no text.

    For those who oversee the document. Its words are shown to those only who may read it.
    """
    former = (
        DocumentVersion.objects.filter(document_id=version.document_id, number__lt=version.number)
        .exclude(text_sha256="")
        .order_by("-number")
        .first()
    )
    if former is None or not version.text_sha256:
        return None
    before, after = list(_parts(accepted_text(former))), list(_parts(accepted_text(version)))
    readable = readable_documents(user=user).filter(pk=version.document_id).exists()
    changes, unchanged = _compare(before, after)
    if not readable:
        changes = [SectionChange(kind=change.kind) for change in changes]
    return VersionChanges(version, former, unchanged, tuple(changes), readable)


def _parts(extracted: ExtractedText) -> Iterator[_Part]:
    """Sections as a reader sees them: what goes on over a page break is one."""
    heading, said = None, []
    for section in sections(extracted):
        name = PATH_SEPARATOR.join(section.path)
        if heading is not None and name != heading:
            yield _Part(heading, tuple(said))
            said = []
        heading = name
        text = extracted.text[section.start : section.end]
        said += [" ".join(sentence.text.split()) for sentence in sentences(text)]
    if heading is not None:
        yield _Part(heading, tuple(said))


def _compare(before: list[_Part], after: list[_Part]) -> tuple[list[SectionChange], int]:
    changes: list[SectionChange] = []
    unchanged = 0
    for step, a, b, c, d in difflib.SequenceMatcher(None, before, after, False).get_opcodes():
        if step == "equal":
            unchanged += b - a
            continue
        old = {part.heading: part for part in before[a:b]}
        for part in after[c:d]:
            was = old.pop(part.heading, None)
            if was is None:
                changes.append(SectionChange(ChangeKind.ADDED, part.heading, (), part.sentences))
            else:
                changes.append(_changed(was, part))
        changes.extend(
            SectionChange(ChangeKind.REMOVED, part.heading, part.sentences) for part in old.values()
        )
    return changes, unchanged


def _changed(was: _Part, now: _Part) -> SectionChange:
    gone: list[str] = []
    new: list[str] = []
    matcher = difflib.SequenceMatcher(None, was.sentences, now.sentences, False)
    for step, a, b, c, d in matcher.get_opcodes():
        if step != "equal":
            gone += was.sentences[a:b]
            new += now.sentences[c:d]
    return SectionChange(ChangeKind.CHANGED, now.heading, tuple(gone), tuple(new))
