"""Looks for a word in everything that is kept: every table, and every file of the object store.

For the deletion drill. Row-level security lets a session see, and write, rows of its own tenant only:
so of the tables of tenants, those of the open scope are looked at, and of the others, all rows.
"""

import base64
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.db import connection
from psycopg import sql

# Columns of every type but these can hold a word. Vectors and their rows are counted elsewhere.
_COLUMNS = """
SELECT c.relname, a.attname, t.typname = 'bytea', has_table_privilege(c.oid, 'SELECT')
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
WHERE c.relkind IN ('r', 'p', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.nspname NOT LIKE 'pg_toast%' AND t.typcategory IN ('S', 'U', 'A', 'X')
  AND t.typname NOT IN ('uuid', 'vector', 'halfvec', 'sparsevec')
ORDER BY c.relname, a.attnum
"""


@dataclass(frozen=True, slots=True)
class Traces:
    """`found` counts rows by table.column, and files by their place; `unseen` could not be read."""

    found: dict[str, int]
    tables: int
    columns: int
    rows: int
    files: int
    unseen: tuple[str, ...] = ()


@dataclass(slots=True)
class _Forms:
    """How the word may stand somewhere: in any case, in hexadecimal, inside of base64."""

    word: str
    plain: list[str] = field(init=False)
    exact: list[str] = field(init=False)

    def __post_init__(self) -> None:
        data = self.word.encode()
        self.plain = [self.word.lower(), data.hex()]
        # Whatever stands before it: the letters that depend on the word alone, at each of three offsets.
        self.exact = [
            base64.b64encode(b"\0" * before + data).decode()[2 * before : -4]
            for before in (0, 1, 2)
        ]

    def stand_in(self, data: bytes) -> bool:
        lower = data.lower()
        return any(form.encode() in lower for form in self.plain) or any(
            form.encode() in data for form in self.exact
        )


def find_traces(word: str) -> Traces:
    """Where the word stands, in the current tenant's rows, in rows of nobody's, and in any file."""
    forms, columns, unseen = _Forms(word), _columns(), []
    found: Counter[str] = Counter()
    rows = 0
    for table, named in columns.items():
        if not all(readable for _, _, readable in named):
            unseen.append(table)
            continue
        count, hits = _search(table, named, forms)
        rows += count
        found.update({f"{table}.{column}": n for column, n in hits.items() if n})
    files = 0
    for path in _files():
        files += 1
        if forms.stand_in(path.read_bytes()):
            found[f"file {path.name}"] += 1
    return Traces(
        found=dict(found),
        tables=len(columns),
        columns=sum(map(len, columns.values())),
        rows=rows,
        files=files,
        unseen=tuple(unseen),
    )


def _columns() -> dict[str, list[tuple[str, bool, bool]]]:
    tables: dict[str, list[tuple[str, bool, bool]]] = {}
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS)
        for table, *column in cursor.fetchall():
            tables.setdefault(table, []).append(tuple(column))
    return tables


def _search(table: str, columns: list, forms: _Forms) -> tuple[int, dict[str, int]]:
    """(rows looked at, rows with the word by column)."""
    counts = []
    for column, is_bytes, _ in columns:
        text = "encode({}, 'escape')" if is_bytes else "{}::text"
        counts.append(
            sql.SQL(
                f"count(*) FILTER (WHERE lower({text}) LIKE ANY (%(plain)s)"
                f" OR {text} LIKE ANY (%(exact)s))"
            ).format(*[sql.Identifier(column)] * 2)
        )
    query = sql.SQL("SELECT count(*), {} FROM {}").format(
        sql.SQL(", ").join(counts), sql.Identifier(table)
    )
    with connection.cursor() as cursor:
        cursor.execute(
            query,
            {
                "plain": [f"%{form}%" for form in forms.plain],
                "exact": [f"%{form}%" for form in forms.exact],
            },
        )
        count, *hits = cursor.fetchone()
    return count, dict(zip([column for column, _, _ in columns], hits, strict=True))


def _files() -> list[Path]:
    """Objects of all tenants, and the logs beside them."""
    roots = (Path(settings.OBJECT_STORE_DIR), Path(settings.DATA_DIR) / "logs")
    return [path for root in roots for path in sorted(root.rglob("*")) if path.is_file()]
