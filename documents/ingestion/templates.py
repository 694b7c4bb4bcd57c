"""Headings that a law fixes: the same section of such a document has one name in every language.

Key information documents of packaged investment products (Regulation (EU) No 1286/2014, Article 8,
with the template in Annex I of Delegated Regulation (EU) 2017/653) ask the same questions in the
same order everywhere in the Union.
"""

from __future__ import annotations

import re

from documents.ingestion.normalise import one_line

_ISSUER = r".{1,120}?"

# The English wording is the canonical name; the others are those of the Dutch, French and German
# texts of the regulation. Writing varies in commas and in the issuer's name.
_QUESTIONS: dict[str, tuple[str, ...]] = {
    "What is this product?": (
        "what is this product",
        "wat is dit voor een product",
        "en quoi consiste ce produit",
        "um welche art von produkt handelt es sich",
    ),
    "What are the risks and what could I get in return?": (
        "what are the risks and what could i get in return",
        "wat zijn de risico's en wat kan ik ervoor terugkrijgen",
        "quels sont les risques et qu'est-ce que cela pourrait me rapporter",
        "welche risiken bestehen und was könnte ich im gegenzug dafür bekommen",
    ),
    "What happens if the manufacturer is unable to pay out?": (
        f"what happens if {_ISSUER} is unable to pay out",
        f"wat gebeurt er als {_ISSUER} niet kan uitbetalen",
        f"que se passe-t-il si {_ISSUER} n'est pas en mesure d'effectuer les versements",
        f"was geschieht wenn {_ISSUER} nicht in der lage ist die auszahlung vorzunehmen",
    ),
    "What are the costs?": (
        "what are the costs",
        "wat zijn de kosten",
        "que va me coûter cet investissement",
        "quels sont les coûts",
        "welche kosten entstehen",
    ),
    "How long should I hold it and can I take money out early?": (
        "how long should i hold it and can i take money out early",
        "hoe lang moet ik het houden en kan ik er eerder geld uit ?halen",
        "combien de temps dois-je le conserver et puis-je retirer de l'argent de façon anticipée",
        "wie lange sollte ich die anlage halten und kann ich vorzeitig geld entnehmen",
    ),
    "How can I complain?": (
        "how can i complain",
        "hoe kan ik een klacht indienen",
        "comment puis-je formuler une réclamation",
        "wie kann ich mich beschweren",
    ),
}
_CANONICAL = {
    re.compile(rf"(?:\d{{1,2}}[.)]? )?{wording} ?\?", re.IGNORECASE): name
    for name, wordings in _QUESTIONS.items()
    for wording in wordings
}
_LONGEST = 250


def canonical_name(heading: str) -> str:
    """The English name of a section that a template fixes; "" for any other line."""
    if "?" not in heading or len(heading) > _LONGEST:
        return ""
    line = one_line(heading).replace("’", "'").replace(",", "")
    return next((name for form, name in _CANONICAL.items() if form.fullmatch(line)), "")


def section_name(heading: str) -> str:
    """A heading as printed, and in parentheses the canonical name where it reads otherwise."""
    name = canonical_name(heading)
    return heading if not name or name == heading else f"{heading} ({name})"
