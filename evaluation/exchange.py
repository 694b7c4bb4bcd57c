"""Cases as files: JSON and CSV, in and out. A file is taken in whole or not at all."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction

from documents.models import Document
from tenants.models import User
from tenants.spreadsheets import MARK, harmless

from .cases import create_case, may_see_words
from .models import CaseState, EvalCase, Expected

MOST_CASES = 5000
_TEXTS = ("id", "question", "language", "kind", "as_user", "outcome", "correct_answer")
_LISTS = ("required_text", "required_documents", "required_sections", "forbidden_text")
COLUMNS = (*_TEXTS, *_LISTS)
_NEEDED = ("id", "question", "as_user", "outcome")
# In a cell of CSV, between the items of a list.
_BETWEEN = "\n"


class FileFormat(StrEnum):
    JSON = "json"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Imported:
    cases: tuple[EvalCase, ...]


def parse(text: str, file_format: FileFormat) -> list[dict[str, object]]:
    """Rows as they stand in the file. Raises ValidationError for one that cannot be read."""
    try:
        if file_format == FileFormat.JSON:
            rows = json.loads(text)
        else:
            rows = [_from_cells(row) for row in csv.DictReader(io.StringIO(text.lstrip("\ufeff")))]
    except (ValueError, csv.Error) as error:
        raise ValidationError(f"The file is not {file_format.upper()}: {error}.") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValidationError("The file must hold a list of cases.")
    if len(rows) > MOST_CASES:
        raise ValidationError(f"The file holds more than {MOST_CASES} cases; split it.")
    return rows


@transaction.atomic
def import_cases(
    *,
    rows: Sequence[dict[str, object]],
    actor: User | None = None,
    state: CaseState = CaseState.DRAFT,
) -> Imported:
    """All rows or none. Raises ValidationError that names each row which is wrong, and how.

    `required_documents` are ids, reference codes or the ids they have where they come from.
    """
    documents = _Documents()
    made, wrong = [], []
    for number, row in enumerate(rows, start=1):
        try:
            with transaction.atomic():
                made.append(create_case(**_arguments(row, documents), state=state, actor=actor))
        except ValidationError as error:
            wrong.append(f"Row {number} ({row.get('id') or 'no id'}): {' '.join(error.messages)}")
    if wrong:
        more = f" And {len(wrong) - 20} more." if len(wrong) > 20 else ""
        raise ValidationError([*wrong[:20], f"Nothing was imported.{more}"])
    return Imported(tuple(made))


def export_cases(*, viewer: User | None) -> list[dict[str, object]]:
    """All cases; of those whose words the viewer may not see, only what a list shows.

    `viewer` None is the platform's operator.
    """
    rows = []
    for case in EvalCase.objects.select_related("as_user").order_by("key"):
        row = {
            "id": case.key,
            "question": case.question,
            "language": case.language,
            "kind": case.kind,
            "as_user": case.as_user.email,
            "outcome": case.expected_outcome,
            "state": case.state,
            "version": case.version,
        }
        if viewer is None or may_see_words(viewer=viewer, case=case):
            row |= {
                "correct_answer": case.correct_answer,
                "required_text": case.required_text,
                "required_documents": case.required_documents,
                "required_sections": case.required_sections,
                "forbidden_text": case.forbidden_text,
            }
        else:
            row["withheld"] = True
        rows.append(row)
    return rows


def as_file(rows: Sequence[dict[str, object]], file_format: FileFormat) -> str:
    if file_format == FileFormat.JSON:
        return json.dumps(rows, ensure_ascii=False, indent=1)
    target = io.StringIO()
    columns = [*COLUMNS, "state", "version", "withheld"]
    writer = csv.DictWriter(target, columns, extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(row.get(name, "")) for name in columns})
    return target.getvalue()


class _Documents:
    """What a file may call a document, looked up once."""

    def __init__(self) -> None:
        self._by_name: dict[str, UUID] = {}
        for row in Document.objects.filter(deleted_at=None).only("reference", "source_item_id"):
            for name in (row.source_item_id, row.reference, str(row.pk)):
                if name:
                    self._by_name[name] = row.pk

    def find(self, name: object) -> UUID:
        found = self._by_name.get(str(name))
        if found is None:
            raise ValidationError(f"There is no document “{str(name)[:100]}” for you here.")
        return found


def _arguments(row: dict[str, object], documents: _Documents) -> dict[str, object]:
    if missing := [name for name in _NEEDED if not row.get(name)]:
        raise ValidationError(f"{', '.join(missing)} is missing.")
    for name in _TEXTS:
        if not isinstance(row.get(name, ""), str):
            raise ValidationError(f"{name} must be text.")
    for name in _LISTS:
        value = row.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValidationError(f"{name} must be a list of texts.")
    if row["outcome"] not in Expected.values:
        raise ValidationError(f"outcome must be one of {', '.join(Expected.values)}.")
    person = User.objects.filter(email__iexact=row["as_user"]).first()
    if person is None:
        raise ValidationError(f"There is no account {row['as_user']}.")
    return {
        "key": row["id"],
        "question": row["question"],
        "language": row.get("language") or "en",
        "kind": row.get("kind") or "imported",
        "as_user": person,
        "expected_outcome": row["outcome"],
        "required_text": row.get("required_text", []),
        "required_documents": [documents.find(one) for one in row.get("required_documents", [])],
        "required_sections": row.get("required_sections", []),
        "forbidden_text": row.get("forbidden_text", []),
        "correct_answer": row.get("correct_answer", ""),
    }


def _from_cells(row: dict[str, str | None]) -> dict[str, object]:
    """Of CSV: lists are lines of one cell, and what was written against formulas is taken off."""
    read = {name: _uncell(value or "") for name, value in row.items() if name}
    return {
        **{name: value for name, value in read.items() if name not in _LISTS},
        **{name: [item for item in read.get(name, "").split(_BETWEEN) if item] for name in _LISTS},
    }


def _cell(value: object) -> object:
    text = _BETWEEN.join(value) if isinstance(value, list) else value
    if isinstance(text, str) and text.startswith(MARK):
        return MARK + text  # so that taking one off gives it back
    return harmless(text)


def _uncell(value: str) -> str:
    return value.removeprefix(MARK)
