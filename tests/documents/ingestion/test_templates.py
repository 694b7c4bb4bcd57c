from __future__ import annotations

import pytest

from documents.ingestion.chunkings import CHUNKERS, chunker
from documents.ingestion.extraction.pdf import extract_pdf
from documents.ingestion.templates import canonical_name, section_name
from tests.pdf import make_pdf

BODY = "This text says so in a sentence that is as long as those of such documents are."
CANONICAL = [
    "What is this product?",
    "What are the risks and what could I get in return?",
    "What happens if the manufacturer is unable to pay out?",
    "What are the costs?",
    "How long should I hold it and can I take money out early?",
    "How can I complain?",
]
PRINTED = {
    "en": [
        "What is this product?",
        "What are the risks and what could I get in return?",
        "What happens if Lindenhof Issuance SA is unable to pay out?",
        "What are the costs?",
        "How long should I hold it, and can I take money out early?",
        "How can I complain?",
    ],
    "nl": [
        "Wat is dit voor een product?",
        "Wat zijn de risico’s en wat kan ik ervoor terugkrijgen?",
        "Wat gebeurt er als Lindenhof Issuance SA niet kan uitbetalen?",
        "Wat zijn de kosten?",
        "Hoe lang moet ik het houden en kan ik er eerder geld uithalen?",
        "Hoe kan ik een klacht indienen?",
    ],
    "fr": [
        "En quoi consiste ce produit ?",
        "Quels sont les risques et qu’est-ce que cela pourrait me rapporter ?",
        "Que se passe-t-il si Lindenhof n’est pas en mesure d’effectuer les versements ?",
        "Que va me coûter cet investissement ?",
        "Combien de temps dois-je le conserver, et puis-je retirer de l’argent de façon anticipée ?",
        "Comment puis-je formuler une réclamation ?",
    ],
    "de": [
        "Um welche Art von Produkt handelt es sich?",
        "Welche Risiken bestehen und was könnte ich im Gegenzug dafür bekommen?",
        "Was geschieht, wenn Lindenhof nicht in der Lage ist, die Auszahlung vorzunehmen?",
        "Welche Kosten entstehen?",
        "Wie lange sollte ich die Anlage halten, und kann ich vorzeitig Geld entnehmen?",
        "Wie kann ich mich beschweren?",
    ],
}


@pytest.mark.parametrize("language", PRINTED)
def test_the_fixed_questions_have_one_name_in_every_language(language: str) -> None:
    assert [canonical_name(line) for line in PRINTED[language]] == CANONICAL


@pytest.mark.parametrize("chunking", CHUNKERS)
@pytest.mark.parametrize("language", PRINTED)
def test_passages_of_a_key_information_document_name_their_section(
    language: str, chunking: str
) -> None:
    printed = [line.replace("’", "'") for line in PRINTED[language]]
    extracted = extract_pdf(make_pdf([f"{heading}\n{BODY}\n{BODY}" for heading in printed]))
    chunks = chunker(chunking)(extracted)
    assert [chunk.section for chunk in chunks] == [
        heading if heading == name else f"{heading} ({name})"
        for heading, name in zip(printed, CANONICAL, strict=True)
    ]


def test_a_section_keeps_its_printed_heading_beside_the_canonical_name() -> None:
    assert section_name("Wat zijn de kosten?") == "Wat zijn de kosten? (What are the costs?)"
    assert section_name("What are the costs?") == "What are the costs?"
    assert section_name(section_name("Wat zijn de kosten?")) == section_name("Wat zijn de kosten?")


@pytest.mark.parametrize(
    "line",
    [
        "What are the costs of a transfer?",
        "Ask the client: what are the costs?",
        "How can I complain",
        "Wat zijn de kosten? Geen.",
        "What happens if " + "x" * 130 + " is unable to pay out?",
    ],
)
def test_other_questions_have_no_such_name(line: str) -> None:
    assert canonical_name(line) == ""
    assert section_name(line) == line
