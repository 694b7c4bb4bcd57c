"""Words that take back, limit or continue what the sentence before says, in EN, NL, FR and DE.

Passages keep such a sentence with the one it belongs to, and so does a quote.
"""

from __future__ import annotations

import re

# A clause number, list mark or bullet that opens a sentence and says nothing.
MARK = re.compile(
    r"\A(?:[•▪◦●○■□‣–—*-]|\d{1,2}(?:\.\d{1,2}){1,3}\.?|\(?[a-z]\)|\d{1,2}[.)])\s+(?=[^\W\d_])"
)
OPENS = re.compile(
    r"(?:unless|except|however|but|nevertheless|provided|only|otherwise|this (?:does not|rule)"
    r"|tenzij|behalve|echter|evenwel|maar|mits|alleen|uitzonder|dit geldt niet"
    r"|sauf|excepté|toutefois|cependant|néanmoins|mais|seul|cette règle ne|à moins"
    r"|jedoch|allerdings|ausgenommen|ausnahme|es sei denn|nur|dies gilt nicht"
    r"|(?:the only |an |no )?exceptions?\b|une exception|een uitzondering)",
    re.IGNORECASE,
)
INSIDE = re.compile(
    r"(?<!\w)(?:unless|except(?:ion)?s?|however|provided that|does not apply|tenzij|behalve|echter"
    r"|uitzondering|sauf|toutefois|à moins que|exceptions?|jedoch|es sei denn|ausnahmen?)(?!\w)",
    re.IGNORECASE,
)
# What a sentence needs before it holds, said in the next one.
NEEDS = re.compile(
    r"(?:this|that|it|doing so|dit|dat|cela|ceci|celle-ci|celui-ci|dies|das)\W+(?:\w+\W+){0,3}?"
    r"(?:requires?|needs?|is subject to|applies only|is (?:only )?(?:allowed|possible|permitted)"
    r"|vereist|vergt|geldt (?:alleen|enkel|niet)|exige|requiert|nécessite|ne vaut|n['’]est"
    r"|erfordert|bedarf|gilt (?:nur|nicht))\b",
    re.IGNORECASE,
)
# These speak of the sentence before, wherever they stand; "unless" may bound a rule of its own.
_TURNS = re.compile(
    r"(?<!\w)(?:however|does not apply|do not apply|echter|geldt niet|gelden niet|toutefois"
    r"|ne s['’]appliquent? pas|jedoch|gilt nicht|gelten nicht)(?!\w)",
    re.IGNORECASE,
)
LEANS_BACK = re.compile(
    r"(?:they|it|this|these|those|he|she|such|then|deze|dit|die|zij|hij|ces?|cette|celle|celui|ils?"
    r"|elles?|diese[rs]?|sie|er)\b",
    re.IGNORECASE,
)


def takes_back(sentence: str) -> bool:
    """Whether it limits the sentence before it in the same paragraph."""
    return bool(OPENS.match(sentence) or NEEDS.match(sentence) or _TURNS.search(sentence))
