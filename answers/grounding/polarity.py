"""Words that turn a rule round or bound it: negations, exceptions, conditions, limits, may and must.

A claim must keep those of the sentences it quotes. The lists cover English, Dutch, French and
German together, since an answer may be in another language than its source. The check errs on the
side of refusing: a paraphrase it cannot follow costs an answer, a lost "not" costs trust.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from answers.terms import content_words, fold, known_language, unaccented

# Said with a negation but meaning a limit; replaced before negations are looked for.
_LIMITS: Mapping[str, str] = {
    "atmost": (
        r"(?:no|not) (?:more|longer|greater|higher) than|(?:may|must|can|should|shall|does|do) "
        r"not exceed|cannot exceed|not exceeding|at (?:the )?most|up to|"
        r"niet (?:meer|langer|hoger) dan|ten hoogste|hoogstens|maximaal|maximum|"
        r"au plus|au maximum|tout au plus|jusqu['’]a|hochstens|nicht mehr als|maximal|"
        r"ne (?:doit|doivent|peut|peuvent) (?:pas )?(?:depasser|exceder)|"
        r"ne (?:depasse|excede)(?:nt)? pas"
    ),
    "atleast": (
        r"(?:no|not) (?:less|fewer) than|at least|minimum|ten minste|tenminste|minstens|minimaal|"
        r"niet minder dan|au moins|au minimum|pas moins de|mindestens|nicht weniger als"
    ),
    "latest": (
        r"(?:no|not) later than|at the latest|niet later dan|uiterlijk|au plus tard|spatestens"
    ),
}

_NEGATIONS = (
    r"not|\w+n['’]t|cannot|no(?!\.? ?\d)|never|none|neither|nor|nobody|nothing|nowhere|"
    r"prohibit\w*|forbid\w*|forbade|disallow\w*|"
    r"niet|geen|geenszins|nooit|noch|niemand|niets|nergens|evenmin|verbod\w*|verbied\w*|"
    r"ne|non|jamais|aucune?s?|rien|ni|interdi\w*|defendue?s?|pas(?= de\b)|"
    r"nicht|kein\w*|nie|niemals|verboten\w*|untersagt\w*"
)

_CLASSES: Mapping[str, str] = {
    "exception": (
        r"unless|except(?:ing|ions?|ed)?|exclud\w+|other than|apart from|"
        r"save (?:for|that|where|as)|tenzij|behalve|behoudens|uitgezonderd|uitzondering\w*|"
        r"sauf|excepte\w*|hormis|exceptions?|a moins (?:que|d)\w*|en dehors de|"
        r"es sei denn|ausser|ausgenommen|ausnahme\w*|mit ausnahme"
    ),
    "only": (
        r"only|solely|exclusively|merely|alleen|uitsluitend|slechts|enkel|"
        r"uniquement|seulement|seule?s?|exclusivement|nur|ausschliesslich|lediglich"
    ),
    "condition": (
        r"if|provided|providing|on condition|subject to|as long as|insofar as|"
        r"mits|indien|op voorwaarde|voor zover|"
        r"si|s['’]il\w*|pourvu que|a condition|sous reserve|"
        r"wenn|falls|sofern|vorausgesetzt|unter der bedingung"
    ),
    # What opens the next sentence and bounds the one before it.
    "contrast": (
        r"(?<=[.!?;] )(?:however|but|nevertheless|echter|evenwel|maar|toutefois|cependant|"
        r"neanmoins|mais|jedoch|allerdings|aber)"
    ),
    "without": r"without|zonder|sans|ohne",
    "approval": (
        r"(?:with|after|upon|on|subject to|against|requires?|needs?|pending)(?: [\w-]+){0,4}? "
        r"(?:approval|consent|permission|agreement|authori[sz]ation|sign-off)|"
        r"(?:approved|authori[sz]ed|agreed) (?:in advance|beforehand|in writing)|"
        r"(?:met|na|mits|vereist|vergt|behoudens)(?: [\w-]+){0,4}? "
        r"(?:goedkeuring|toestemming|akkoord|machtiging|instemming)|"
        r"(?:avec|apres|moyennant|sous reserve|exige|requiert|necessite)(?: [\w'-]+){0,4}? "
        r"(?:l')?(?:approbation|accord|autorisation|consentement|aval)|"
        r"(?:mit|nach|vorbehaltlich|erfordert|bedarf)(?: [\w-]+){0,4}? "
        r"(?:genehmigung|zustimmung|einwilligung|erlaubnis|freigabe)"
    ),
}
# What may stand in a claim for what its source says, but is too common to demand anything.
_STANDS_IN: Mapping[str, str] = {
    "condition": (
        r"when|whenever|where|once|until|before|after|in case|wanneer|als|zodra|zolang|voordat|nadat|"
        r"lorsqu\w*|quand|des que|en cas|avant|apres|sobald|im falle|bei|requires?|required|needs?"
    ),
    "contrast": (
        r"however|but|nevertheless|although|though|while|yet|unless|except\w*|if|only|"
        r"echter|evenwel|maar|hoewel|tenzij|behalve|toutefois|cependant|neanmoins|mais|bien que|"
        r"sauf|jedoch|allerdings|aber|obwohl|ausser"
    ),
    "approval": (
        r"approv\w*|consent\w*|permission|agree\w*|authori[sz]\w*|sign(?:s|ed)?[ -]off|"
        r"goedkeur\w*|goedgekeurd\w*|toestemm\w*|akkoord|gemachtigd|machtiging|instemm\w*|"
        r"(?:l'|d')?(?:approbation|approuv\w*|accord\w*|autoris\w*|consent\w*|aval)|"
        r"genehmig\w*|zustimm\w*|einwillig\w*|erlaub\w*|freigabe|freigegeben"
    ),
}
# A claim may add these to nothing: they would invent a limit the source does not have.
_NEVER_ADDED = ("exception", "only", "without")

_OPPOSITES: tuple[tuple[str, str], ...] = (
    (r"atmost", r"atleast"),
    (
        r"more than|meer dan|plus de|mehr als|above|boven",
        r"less than|fewer than|minder dan|moins de|weniger als|below",
    ),
    (r"before|avant|voordat", r"after|apres|nadat"),
    (r"internal\w*", r"external\w*"),
    (r"increase\w*|raise\w*", r"decrease\w*|reduce\w*|lower\w*"),
    (r"includ\w*|inclusief|compris\w*", r"exclud\w*|exclusief"),
    (
        r"mandatory|obligatory|compulsory|verplicht\w*|obligatoire\w*",
        r"optional|voluntary|facultati\w*|vrijwillig\w*",
    ),
)
_PREFIXES = ("un", "in", "im", "il", "ir", "non", "dis", "on", "mis")
_CLAUSE_END: Mapping[str, re.Pattern[str]] = {
    "en": re.compile(r"[,;:.!?()\n]|\b(?:but|and|or)\b"),
    "nl": re.compile(r"[,;:.!?()\n]|\b(?:maar|en|of)\b"),
    "fr": re.compile(r"[,;:.!?()\n]|\b(?:mais|et|ou)\b"),
    "de": re.compile(r"[,;:.!?()\n]|\b(?:aber|sondern|und|oder)\b"),
}


_MAY = (
    r"may|might|can|could|mag|mogen|kan|kunnen|peut|peuvent|pourra|pourront|darf|durfen|kann|konnen"
)
_MUST = (
    r"must|shall|(?:has|have) to|(?:is|are) (?:required|obliged) to|moet|moeten|dient|dienen|"
    r"verplicht\w*|doit|doivent|devra|devront|muss|mussen"
)
# What may not be done must not be done: one prohibition, whatever its verb.
_MODAL_NEGATED = rf"(?:{_MAY}|{_MUST}) (?:not|niet|geen|pas|nicht|kein\w*|only|alleen|nur)"


class Turn(StrEnum):
    """In which way a claim left its source."""

    NEGATION = "negation"
    CONDITION = "condition"
    LIMIT = "limit"
    MODALITY = "modality"


@dataclass(frozen=True, slots=True)
class Deviation:
    turn: Turn
    what: str


def deviation(claim: str, source: str, language: str) -> Deviation | None:
    """How ``claim`` turns what ``source`` says, or None. ``source`` is the quoted sentences."""
    claim_text, source_text = _readable(claim), _readable(source)
    language = known_language(language)
    return (
        _negation(claim_text, source_text, language)
        or _opposite_prefix(claim_text, source_text, language)
        or _condition(claim_text, source_text)
        or _limit(claim_text, source_text)
        or _modality(claim_text, source_text)
    )


def _negation(claim: str, source: str, language: str) -> Deviation | None:
    in_claim, in_source = _matches(_NEGATIONS, claim), _matches(_NEGATIONS, source)
    if in_source and not in_claim:
        return Deviation(Turn.NEGATION, "the claim leaves out a negation of its source")
    if in_claim and not in_source:
        return Deviation(Turn.NEGATION, f'the claim adds "{in_claim[0][0]}"')
    for one, other, verb in ((claim, source, "negates"), (source, claim, "no longer negates")):
        for match in _matches(_NEGATIONS, one):
            word = _first_content_word(one[match.end() :], language)
            if word and _stands_only_affirmed(word, other, language):
                return Deviation(
                    Turn.NEGATION, f"the claim {verb} something that its source does not"
                )
    return None


def _opposite_prefix(claim: str, source: str, language: str) -> Deviation | None:
    """ "eligible" where the source only says "ineligible", and the other way round."""
    ours, theirs = set(content_words(claim, language)), set(content_words(source, language))
    for some, others in ((ours, theirs), (theirs, ours)):
        for word in some - others:
            if len(word) >= 4 and any(
                prefix + word in others and prefix + word not in some for prefix in _PREFIXES
            ):
                return Deviation(
                    Turn.NEGATION, "a word of the claim is the opposite of its source's"
                )
    return None


def _condition(claim: str, source: str) -> Deviation | None:
    for kind, pattern in _CLASSES.items():
        in_claim, in_source = _matches(pattern, claim), _matches(pattern, source)
        stand_in = _STANDS_IN.get(kind)
        if in_source and not in_claim and not (stand_in and _matches(stand_in, claim)):
            written = in_source[0][0]
            return Deviation(Turn.CONDITION, f'the claim leaves out "{written}" of its source')
        if in_claim and not in_source and kind in _NEVER_ADDED:
            return Deviation(Turn.CONDITION, f'the claim adds "{in_claim[0][0]}"')
    return None


def _limit(claim: str, source: str) -> Deviation | None:
    for one, other in _OPPOSITES:
        for mine, opposite in ((one, other), (other, one)):
            said = _matches(mine, claim)
            if said and _matches(opposite, source) and not _matches(mine, source):
                return Deviation(Turn.LIMIT, "the claim turns a limit of its source round")
    return None


def _modality(claim: str, source: str) -> Deviation | None:
    """ "must" where the source only says "may", and the other way round."""
    said, borne = (re.sub(_MODAL_NEGATED, " ", text) for text in (claim, source))
    for one, other in ((_MAY, _MUST), (_MUST, _MAY)):
        if _matches(one, said) and not _matches(one, borne) and _matches(other, borne):
            return Deviation(
                Turn.MODALITY, "the claim makes a duty of a right, or a right of a duty"
            )
    return None


def _readable(text: str) -> str:
    plain = " ".join(unaccented(text).replace("’", "'").replace("ß", "ss").split())
    plain = re.sub(r"\bn'(?=\w)", "ne ", plain)
    for limit, pattern in _LIMITS.items():
        plain = re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", limit, plain)
    return plain


def _matches(pattern: str, text: str) -> list[re.Match[str]]:
    return list(re.finditer(rf"(?<![\w-])(?:{pattern})(?!\w)", text))


def _first_content_word(text: str, language: str) -> str:
    clause = _CLAUSE_END[language].split(text, maxsplit=1)[0]
    found = content_words(clause, language)
    return fold(found[0], language) if found else ""


def _stands_only_affirmed(word: str, text: str, language: str) -> bool:
    """Whether the word occurs, and never in a clause with a negation."""
    occurs = False
    for clause in _CLAUSE_END[language].split(text):
        stems = {fold(found, language) for found in content_words(clause, language)}
        if word in stems:
            occurs = True
            if _matches(_NEGATIONS, clause):
                return False
    return occurs
