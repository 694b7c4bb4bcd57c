"""Whether a text layer says words. Fonts that do not tell which letters they draw give nonsense."""

from __future__ import annotations

import re
import unicodedata

# The commonest pairs of letters within words of English, Dutch, French and German. They make up
# 40 to 60 % of the pairs of an ordinary page, and under 10 % of one whose letters are shifted.
_PAIRS = frozenset(
    str.split(
        "th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le"
        " ve co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur ee ij ie ge va aa el oo ui we"
        " wo da di ke ns et ai qu us un ue ux ei au sc rs rt ns em ec ss sa la"
        " tr ta no pe po pa so lo mi na ni nn eu ag ut ul am ac ad av ab ig id il im ir"
    )
)
_WORD = re.compile(r"[a-z]{2,}")
_ENOUGH = 80
_LEAST_SHARE = 0.3
_MOST_UNKNOWN = 0.2


def is_language(text: str) -> bool:
    """False only for text that is surely none; too little of it, or another script, passes."""
    shown = [character for character in text if not character.isspace()]
    if len(shown) < _ENOUGH:
        return True
    unknown = sum(
        character == "\ufffd" or unicodedata.category(character) == "Co" for character in shown
    )
    if unknown > _MOST_UNKNOWN * len(shown):
        return False
    plain = unicodedata.normalize("NFKD", text)
    letters = sum(character.isascii() and character.isalpha() for character in plain)
    others = sum(character.isalpha() and ord(character) > 0x24F for character in plain)
    if others > letters:
        return True
    if letters < 0.3 * len(shown):
        # Figures are no words either; but nonsense is made of signs, not of digits.
        digits = sum(character.isdigit() for character in shown)
        return letters + digits > 0.4 * len(shown)
    plain = "".join(c for c in plain.lower() if not unicodedata.combining(c))
    pairs = [word[at : at + 2] for word in _WORD.findall(plain) for at in range(len(word) - 1)]
    if len(pairs) < _ENOUGH:
        return True
    return sum(pair in _PAIRS for pair in pairs) >= _LEAST_SHARE * len(pairs)
