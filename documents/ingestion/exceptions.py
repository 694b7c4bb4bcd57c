"""Words that take back, limit or continue what the sentence before says, in EN, NL, FR and DE.

Passages keep such a sentence with the one it belongs to, and so does a quote.
"""

from __future__ import annotations

import re

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
LEANS_BACK = re.compile(
    r"(?:they|it|this|these|those|he|she|such|then|deze|dit|die|zij|hij|ces?|cette|celle|celui|ils?"
    r"|elles?|diese[rs]?|sie|er)\b",
    re.IGNORECASE,
)
