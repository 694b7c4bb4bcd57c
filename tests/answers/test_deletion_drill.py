"""The drill finds nothing after a deletion, and does find what is left on purpose."""

import io
import json

import pytest
from django.core.cache import cache
from django.core.management import call_command

from answers import deletion_drill, retention
from documents import retention as purging
from documents import storage


def drill() -> dict:
    out = io.StringIO()
    try:
        call_command("deletion_drill", "--json", stdout=out, stderr=io.StringIO())
    except SystemExit:
        pytest.fail(out.getvalue())
    return json.loads(out.getvalue())


def failing_drill() -> dict:
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("deletion_drill", "--json", stdout=out, stderr=io.StringIO())
    assert ended.value.code == 1
    return json.loads(out.getvalue())["left"]


def test_no_byte_of_a_deleted_document_is_left_in_any_table_or_file():
    held = drill()
    assert held["left"] == {}, held
    assert len(held["before"]) >= 14
    assert held["lookedAt"]["tables"] > 30
    assert held["removed"]["documents"] == held["removed"]["passages"] == 1
    assert held["removed"]["files"] == 3  # the file, its text, its structure


def leave_files(monkeypatch):
    monkeypatch.setattr(storage, "remove", lambda key: False)
    return "file "


def leave_the_quote(monkeypatch):
    monkeypatch.setattr(retention, "Citation", _Untouched)
    return "answers_citation.quote"


def leave_the_statistics(monkeypatch):
    delete = purging._delete
    monkeypatch.setattr(
        purging,
        "_delete",
        lambda rows: 0 if rows.model is purging.TermStatistics else delete(rows),
    )
    return "documents_termstatistics.term"


def leave_the_vectors_statistics_and_passages(monkeypatch):
    monkeypatch.setattr(purging, "_delete", lambda rows: 0)
    return "rows of documents_chunkembedding"


def leave_it_in_the_cache(monkeypatch):
    """Where a value is pickled and written in base64."""
    ask = deletion_drill._ask

    def and_cache(word, person):
        ask(word, person)
        cache.set("drill", {"said": f"what {word} says"})

    monkeypatch.setattr(deletion_drill, "_ask", and_cache)
    return "precept_cache.value"


class _Untouched:
    """A table from which nothing goes."""

    @classmethod
    def filter(cls, **_):
        return cls

    @staticmethod
    def update(**_):
        return 0


_Untouched.objects = _Untouched


@pytest.mark.parametrize(
    "leave",
    [
        leave_files,
        leave_the_quote,
        leave_the_statistics,
        leave_the_vectors_statistics_and_passages,
        leave_it_in_the_cache,
    ],
)
def test_what_is_left_on_purpose_is_found_and_ends_the_command_with_an_error(monkeypatch, leave):
    with monkeypatch.context() as patch:
        place = leave(patch)
        left = failing_drill()
    assert any(name.startswith(place) for name in left), left
