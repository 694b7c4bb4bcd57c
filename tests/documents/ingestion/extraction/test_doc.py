"""Old Word documents, read through LibreOffice inside the sandbox."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from documents.ingestion import sandbox
from documents.ingestion.extract import extract
from documents.ingestion.extracted import ExtractionFailed, FailureCode
from documents.ingestion.extraction import doc
from documents.ingestion.extraction.sniff import Kind, sniff
from tests.documents.ingestion.extraction.reading import kinds, read_file
from tests.fakes.office_files import docx_of

needs_libreoffice = pytest.mark.skipif(
    shutil.which("soffice") is None, reason="LibreOffice is not installed"
)


@pytest.fixture
def old_document(tmp_path) -> bytes:
    """Written by LibreOffice as Word 97 wrote it."""

    def write(document):
        document.add_heading("Leave", 1)
        document.add_paragraph("Annual leave is 25 days, for cliënten too.")
        table = document.add_table(rows=2, cols=2, style="Table Grid")
        for row, cells in enumerate([["City", "Limit"], ["Rome", "190"]]):
            for column, words in enumerate(cells):
                table.cell(row, column).text = words
        document.add_paragraph("End.")

    (tmp_path / "given.docx").write_bytes(docx_of(write))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    subprocess.run(
        ["soffice", profile, "--headless", "--convert-to", "doc", "given.docx"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        timeout=120,
    )
    return (tmp_path / "given.doc").read_bytes()


@needs_libreoffice
def test_an_old_word_document_keeps_its_headings_and_tables(old_document):
    assert sniff(old_document) is Kind.DOC
    try:
        extracted = extract(old_document)
    finally:
        sandbox.close()
    assert kinds(extracted) == [
        ("heading", "Leave"),
        ("paragraph", "Annual leave is 25 days, for cliënten too."),
        ("table_header", "City | Limit"),
        ("table_row", "City: Rome | Limit: 190"),
        ("paragraph", "End."),
    ]


@needs_libreoffice
def test_a_torn_one_is_refused_with_what_to_do(old_document):
    torn = old_document[:1024] + "WordDocument".encode("utf-16-le") + b"\xff" * 4000
    assert sniff(torn) is Kind.DOC
    try:
        with pytest.raises(ExtractionFailed) as caught:
            extract(torn)
    finally:
        sandbox.close()
    assert caught.value.code in (FailureCode.DAMAGED, FailureCode.STOPPED)
    assert caught.value.message.endswith("upload that.") or "upload it" in caught.value.message


def test_without_libreoffice_it_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(doc, "find_library", lambda: None)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 512 + "WordDocument".encode("utf-16-le")
    with pytest.raises(ExtractionFailed, match="ask the operator to install LibreOffice"):
        read_file(head)
