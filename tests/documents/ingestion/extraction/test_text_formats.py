"""HTML, Markdown and plain text, in whatever encoding they come."""

from __future__ import annotations

import pytest

from documents.ingestion.extracted import BlockKind
from tests.documents.ingestion.extraction.reading import kinds, parts, read_file

SENTENCES = {
    "fr": "La rémunération variable n’est pas versée à l’employé avant le 1er mars.",
    "nl": "De cliënt geeft vóór de overeenkomst twee bewijzen van zijn identiteit.",
    "de": "Eine Überweisung größer als 10 000 € prüft eine zweite Person.",
}


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "cp850"]
)
@pytest.mark.parametrize("language", SENTENCES)
def test_text_is_read_in_the_encoding_it_is_in(language, encoding):
    sentence = SENTENCES[language]
    if encoding == "cp850":  # which has neither
        sentence = sentence.replace("’", "'").replace("€", "EUR")
    assert read_file(sentence.encode(encoding)).text == sentence


@pytest.mark.parametrize("language", SENTENCES)
def test_text_that_went_through_the_wrong_encoding_is_mended_and_the_repair_is_said(language):
    broken = SENTENCES[language].encode().decode("cp1252", "replace").encode()
    extracted = read_file(broken)
    word = {"fr": "rémunération", "nl": "cliënt", "de": "größer"}[language]
    assert word in extracted.text
    assert extracted.repairs == ("encoding",)


def test_a_file_glued_together_from_two_encodings_is_read_line_by_line():
    data = SENTENCES["fr"].encode() + b"\n" + SENTENCES["de"].encode("cp1252")
    extracted = read_file(data)
    assert extracted.text == f"{SENTENCES['fr']}\n{SENTENCES['de']}"
    assert extracted.repairs == ("encoding",)


def test_curly_quotes_dashes_and_sound_text_are_left_alone():
    text = "“Don’t” – he said ‘never’; Ãland is a name, 25 days² too, and ½."
    extracted = read_file(text.encode())
    assert extracted.text == text
    assert extracted.repairs == ()


def test_html_gives_what_a_reader_sees_with_its_structure():
    extracted = read_file(
        b"""<!doctype html><html><head><title>T</title><style>p{}</style></head><body>
        <h2>Travel</h2><p>Second  class <b>only</b>.</p><script>evil()</script>
        <p style="display: none">Unseen.</p><ol start="3"><li>Book early</li><li>Keep receipts</li></ol>
        <table><caption>Limits</caption><tr><th>City</th><th colspan="2">Limit</th></tr>
        <tr><th></th><th>MIN</th><th>MAX</th></tr><tr><td>Rome</td><td>90</td><td>190</td></tr></table>
        </body></html>"""
    )
    assert kinds(extracted) == [
        ("heading", "Travel"),
        ("paragraph", "Second class only."),
        ("list_item", "3. Book early"),
        ("list_item", "4. Keep receipts"),
        ("caption", "Limits"),
        ("table_header", "City | Limit | Limit"),
        ("table_header", "| MIN | MAX"),
        ("table_row", "City: Rome | Limit MIN: 90 | Limit MAX: 190"),
    ]
    assert extracted.repairs == ("hidden text left out",)


def test_html_in_the_encoding_it_declares():
    page = '<html><head><meta charset="windows-1252"></head><body><p>Überweisung</p></body></html>'
    assert read_file(page.encode("cp1252")).text == "Überweisung"


def test_markdown_keeps_headings_lists_and_tables():
    extracted = read_file(
        b"# Leave\n\nAsk **early**.\n\n1. First\n2. Second\n\n| City | Days |\n|---|---|\n| Rome | 5 |\n"
    )
    assert kinds(extracted) == [
        ("heading", "Leave"),
        ("paragraph", "Ask early."),
        ("list_item", "1. First"),
        ("list_item", "2. Second"),
        ("table_header", "City | Days"),
        ("table_row", "City: Rome | Days: 5"),
    ]


def test_plain_text_has_paragraphs_headings_and_items():
    extracted = read_file(
        b"1. Scope\nThis holds for all staff.\n\n- one thing\n- another\n\nThe end.\n"
    )
    assert parts(extracted, BlockKind.HEADING) == ["1. Scope"]
    assert parts(extracted, BlockKind.LIST_ITEM) == ["- one thing", "- another"]
    assert parts(extracted, BlockKind.PARAGRAPH) == ["This holds for all staff.", "The end."]
