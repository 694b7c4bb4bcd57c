"""Documents in French, Dutch and German, in whatever encoding, are found by their exact words."""

from __future__ import annotations

import pytest

from documents import services
from tests.fakes.office_files import docx_of, xlsx_of

RULES = {
    "rémunération": "La rémunération variable est versée au mois de mars.",
    "cliënt": "Een cliënt toont twee bewijzen van zijn identiteit.",
    "Überweisung": "Eine Überweisung über 10000 Euro prüft eine zweite Person.",
}
ENCODINGS = {
    "utf-8": lambda text: text.encode(),
    "windows-1252": lambda text: text.encode("cp1252"),
    "dos": lambda text: text.encode("cp850"),
    "utf-16": lambda text: text.encode("utf-16"),
    "twice": lambda text: text.encode().decode("cp1252", "replace").encode(),
    "docx": lambda text: docx_of(lambda document: document.add_paragraph(text)),
    "html": lambda text: (
        f'<html><head><meta charset="iso-8859-1"></head><body><p>{text}</p></body></html>'
    ).encode("cp1252"),
}


def take_in(bank, data, *readers, title="A rule"):
    with bank.scope():
        _, submission = services.create_document(
            actor=None,
            title=title,
            department=bank.department(),
            upload=services.Upload(data=data, name="rule.bin"),
            subjects=readers,
        )
    return bank.ingest(submission.version)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_exact_words_are_found_whatever_the_encoding(bank, encoding):
    reader = bank.person()
    for word, rule in RULES.items():
        take_in(bank, ENCODINGS[encoding](rule), reader, title=word)
    for word, rule in RULES.items():
        view = bank.ask(reader, f'"{word}"')
        assert rule in [citation.quote for citation in view.citations], word


def test_what_was_read_is_given_back_with_its_structure(bank):
    data = xlsx_of([["Product", "Rate"], ["Savings", "two percent"]])
    version = take_in(bank, data, bank.person())
    with bank.scope():
        from documents.ingestion.accept import accepted_text
        from documents.ingestion.extract import extract

        assert accepted_text(version) == extract(data)
        assert version.structure_key
        assert version.page_labels == {"1": "Sheet"}


def test_a_version_from_before_structure_was_kept_reads_as_one_without(bank):
    version = take_in(bank, b"Leave is 25 days.", bank.person())
    with bank.scope():
        from documents.ingestion.accept import accepted_text

        version.structure_key, version.page_labels = "", {}
        old = accepted_text(version)
    assert old.text == "Leave is 25 days."
    assert (old.blocks, old.repairs) == ((), ())
