"""Whatever a file does to its reader: the worker lives, and the file ends in a clear state."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError

from documents import services
from documents.ingestion import sandbox
from documents.ingestion.job import ingest_version
from documents.models import Chunk, VersionStatus
from tests.documents.ingestion.hostile_files import FILES, HIDDEN, READ, REFUSED, RULE

CLEAR = {"damaged", "no_text", "too_large", "stopped", "unsupported", "encrypted"}


@pytest.fixture(autouse=True)
def tight(monkeypatch):
    """Limits that a document keeps and that do not make the tests wait."""
    limits = sandbox.Limits(seconds=20, cpu_seconds=3, memory=500 * 2**20, output=16 * 2**20)
    monkeypatch.setattr(sandbox, "READING", limits)
    monkeypatch.setattr(sandbox, "RECOGNISING", limits)


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_ends_in_a_clear_state(bank, name):
    make, expected = FILES[name]
    with bank.scope():
        refusal = None
        try:
            _, submission = services.create_document(
                actor=None,
                title=name,
                department=bank.department(),
                upload=services.Upload(data=make(), name=f"{name}.pdf"),
            )
        except ValidationError as error:
            refusal = error
        if refusal:
            assert expected in (REFUSED, None, refusal.code)
            assert refusal.messages[0].endswith(".")
            return
        version = ingest_version(version_id=submission.version.id)
        words = " ".join(Chunk.objects.filter(version=version).values_list("text", flat=True))
    if version.status == VersionStatus.FAILED:
        assert version.failure_code in CLEAR
        assert version.failure_code == expected or expected is None
        assert version.failure_reason.endswith(".")
    else:
        assert version.status == VersionStatus.SEARCHABLE
        assert expected in (READ, None)
        assert RULE in words or expected is None
    assert HIDDEN not in words


def test_the_worker_reads_on_after_all_of_that(bank):
    assert bank.document("Leave", RULE).current_version_id is not None
