"""Word lists for reading questions in English, Dutch, French and German.

Stop words say nothing about the subject. Generic words do say something, but nearly every policy
of a bank uses them, so that finding them proves little. All are unaccented and in lower case.
"""

from __future__ import annotations

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOP_WORDS: Mapping[str, frozenset[str]] = {
    "en": _words(
        """
        a about after again all also am an and any anyone anybody anything are as at be because
        been before being but by can cannot can't could did do does doesn't doing don't during
        each either else every everyone everybody for from further get gets give given gives go
        goes going got had has have having he her here hers him his how i i'd i'm i've if in into
        is isn't it its itself just know let like long made make makes many may me might mine more
        most much must my need needs no nor not now of off often on once one ones or other our
        ours out over own per please same say says shall she should since so some someone
        somebody something soon still such take takes tell than that the their theirs them then
        there these they thing things this those though through to too under until up upon us use
        used using very want was way we were what whatever when where whether which while who
        whom whose why will with within without would you your yours there's what's who's it's
        that's allowed happen happens exactly actually currently
        """
    ),
    "nl": _words(
        """
        aan al alle alleen als altijd andere ben bij binnen daar dan dat de den der deze die dit
        doe doen door dus een eens elk elke en er ergens geen gaat gaan haar had heb hebben heeft
        hem het hier hij hoe hoelang hoeveel hoeverre hun iemand ieder iedere iets ik in is ja je
        jij jou jouw kan kun kunnen krijg krijgen krijgt lang maar mag mijn mij moet moeten moest
        mogen na naar niet niets nog nu of om omdat onder ons onze ook op over per sinds te tegen
        tijdens toch toen tot tussen u uit uw van vanaf veel voor waar waaraan waarvoor waarom
        waarop waarmee wanneer was wat we wel welk welke wie wij wil word worden wordt zal ze zelf
        zich zij zijn zo zonder zou zouden gebeurt vindt
        """
    ),
    "fr": _words(
        """
        a ai afin apres au aucun aucune aussi autre autres aux avant avec avoir avons ayant c ca
        ce ceci cela celle celles celui ces cet cette ceux chaque chez comme comment combien d
        dans de depuis des doit doivent donc dont du elle elles en encore entre es est et etant
        etes etre eu eux faire faisons fait font faut il ils j je jusqu l la laquelle le lequel
        les lesquelles lesquels leur leurs lors lorsque lui m ma mais me meme mes moi mon n ne ni
        nos notre nous on ont ou oui par parce pas pendant peut peuvent peux plus pour pourquoi
        puis puisque qu quand que quel quelle quelles quels qui quoi s sa sans se selon sera ses
        si soit son sont sous sur t ta te tes toi ton tous tout toute toutes tres tu un une vers
        vont vos votre vous y dois puis-je est-ce quelqu temps passe
        """
    ),
    "de": _words(
        """
        aber alle allem allen aller alles als also am an ander andere auch auf aus bei beim bin
        bis bist da damit dann darf das dass dein dem den denn der des dessen die dies diese dieser
        dieses doch dort du durch durfen ein eine einem einen einer eines er es etwas euch fur
        gibt hab habe haben hat hier hinter ich ihm ihn ihnen ihr ihre im in ist ja jede jeder
        jedes jemand kann kein keine konnen lange machen man mehr mein meine mich mir mit muss
        mussen nach nicht nichts noch nun nur ob oder ohne pro sehr sein seine seit sich sie sind
        so soll sollen uber um und uns unser unter viel viele vom von vor wann war warum was weil
        welche welcher welches wem wen wenn wer werden wie wieviel will wir wird wo wurde zu zum
        zur zwischen
        """
    ),
}

GENERIC_WORDS: Mapping[str, frozenset[str]] = {
    "en": _words(
        """
        bank bank's banks meridian company organisation organization policy policies rule rules
        procedure procedures guideline guidelines employee employees staff colleague colleagues
        person people somebody required requirement requirements apply applies case cases work
        working new current kind type mean means say said called document documents according
        """
    ),
    "nl": _words(
        """
        bank banken meridian bedrijf organisatie beleid regel regels procedure richtlijn
        medewerker medewerkers personeel werknemer werknemers collega persoon personen mensen
        geval gevallen nieuw nieuwe huidige soort document documenten volgens geldt gelden
        """
    ),
    "fr": _words(
        """
        banque meridian entreprise organisation politique regle regles procedure procedures
        employe employes employee employees salarie salaries collaborateur collaborateurs
        collaboratrice personnel personne personnes cas travail nouveau nouvelle actuel type
        document documents applique appliquent prevoit
        """
    ),
    "de": _words(
        """
        bank banken meridian unternehmen organisation richtlinie regel regeln verfahren
        mitarbeiter mitarbeiterin mitarbeitende personal kollege person personen fall falle neu
        neue art dokument dokumente gilt gelten gemass
        """
    ),
}
