"""A question in one language finds the passage in another: pinned, the best hit must not move."""

import pytest

from documents.models import Chunk
from documents.retrieval.search import search
from tests.bank import Bank

DUTCH = {
    "Thuiswerk": "Medewerkers mogen twee dagen per week van thuis uit werken na overleg met hun team.",
    "Verlof": "Een medewerker heeft recht op vijfentwintig vakantiedagen per kalenderjaar.",
    "Kluis": "De kluis van het kantoor wordt elke avond door twee personen gesloten.",
    "Klachten": "Een klacht van een klant wordt binnen de vijf werkdagen schriftelijk bevestigd.",
    "Wachtwoorden": "Een wachtwoord telt minstens veertien tekens en wordt nooit gedeeld.",
    "Reiskosten": "De bank betaalt voor elke kilometer met de eigen wagen 42 cent terug.",
}
PINNED = [
    ("fr", "Combien de jours de congé un employé a-t-il par an ?", "Verlof"),
    ("fr", "Combien de jours par semaine peut-on faire du télétravail ?", "Thuiswerk"),
    ("fr", "Qui ferme le coffre de l'agence le soir ?", "Kluis"),
    ("fr", "Sous quel délai confirme-t-on la plainte d'un client ?", "Klachten"),
    ("en", "How long must a password be?", "Wachtwoorden"),
    ("de", "Wie viel zahlt die Bank für einen Kilometer mit dem eigenen Auto?", "Reiskosten"),
]


@pytest.fixture(scope="module")
def shelf():
    bank = Bank.create()
    reader = bank.person("reader")
    titles = {}
    for title, text in DUTCH.items():
        document = bank.document(title, text, readers=[reader])
        titles[document.pk] = title
    return bank, reader, titles


@pytest.mark.parametrize(("language", "question", "title"), PINNED)
def test_the_best_hit_is_the_dutch_passage_that_answers(shelf, language, question, title):
    bank, reader, titles = shelf
    with bank.scope():
        best = search(user=reader, question=question).candidates[0]
        assert titles[Chunk.objects.get(pk=best.chunk_id).document_id] == title
