"""The inventory as a spreadsheet reads it."""

import csv
import io
from collections.abc import Iterable

from tenants.spreadsheets import harmless

from ..inventory import InventoryRow
from .inventory_words import STATES, reason_in_words

_COLUMNS = [
    "Document id",
    "Title",
    "Reference",
    "Bucket",
    "Department",
    "Owner",
    "Source",
    "Version in force",
    "In force since",
    "Withdrawn on",
    "Age in days",
    "Newest version",
    "State of the newest",
    "What went wrong",
    "Fit as a reference",
    "Why not",
    "Possible duplicate of",
    "Same reference as",
    "Pages without text",
    "Pages recognised",
    "Somebody may read it",
]


def csv_of(rows: Iterable[InventoryRow]) -> bytes:
    """UTF-8 with the mark that spreadsheets need to see that it is."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(_COLUMNS)
    for row in rows:
        writer.writerow([harmless(cell) for cell in _cells(row)])
    return out.getvalue().encode("utf-8-sig")


def _cells(row: InventoryRow) -> list[object]:
    newest, in_force = row.newest, row.in_force
    return [
        str(row.document_id),
        row.title,
        row.reference,
        row.life_cycle.value,
        row.department,
        row.owner,
        row.source,
        in_force.number if in_force else "",
        str(in_force.since) if in_force else "",
        str(row.withdrawn_date or ""),
        row.age_days,
        newest.number if newest else "",
        STATES[newest.status] if newest else "",
        newest.failure_reason if newest else "",
        "yes" if row.fit else "no",
        "; ".join(reason_in_words(reason) for reason in row.unfit),
        "; ".join(twin.title for twin in row.twins),
        "; ".join(rival.title for rival in row.rivals),
        row.empty_pages,
        row.recognised_pages,
        "yes" if row.has_readers else "no",
    ]
