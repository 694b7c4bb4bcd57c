"""The list of documents somebody may read."""

import re

from django.test import Client

from documents.models import LifeCycle
from tests.signed_in import signed_in


def titles(client: Client, **query) -> list[str]:
    page = client.get("/documents/", query).content.decode()
    return re.findall(r'class="row-title"[^>]*><bdi>(.*?)</bdi>', page)


def test_only_readable_documents_are_listed_by_title(bank, other_bank):
    person = bank.person("Emma")
    bank.document("Travel", readers=[person])
    bank.document("Annual leave", readers=[bank.everyone])
    bank.document("Board minutes", readers=[])
    bank.document("A draft", readers=[person], life_cycle=LifeCycle.DRAFT)
    other_bank.document("Another bank's", readers=[other_bank.everyone])
    assert titles(signed_in(bank, person)) == ["Annual leave", "Travel"]


def test_the_filter_looks_in_titles_and_reference_codes_of_readable_documents_only(bank):
    person = bank.person("Emma")
    bank.document("Travel by train", readers=[person], reference="FIN-2024-007")
    bank.document("Annual leave", readers=[person], reference="HR-2024-003")
    bank.document("Travel of the board", readers=[], reference="BRD-1")
    client = signed_in(bank, person)
    assert titles(client, q="travel") == ["Travel by train"]
    assert titles(client, q="2024-003") == ["Annual leave"]
    assert titles(client, q="train fin") == ["Travel by train"]
    assert titles(client, q="BRD-1") == []
    assert titles(client, q="100%_") == []


def test_a_filter_that_finds_nothing_says_the_same_for_what_is_hidden_and_what_is_not_there(bank):
    person = bank.person("Emma")
    bank.document("Board minutes", readers=[])
    client = signed_in(bank, person)
    hidden = client.get("/documents/", {"q": "minutes"}).content.decode()
    absent = client.get("/documents/", {"q": "nothing"}).content.decode()
    token = re.compile(r'name="csrfmiddlewaretoken" value="[^"]+"')
    assert token.sub("", hidden).replace("minutes", "") == token.sub("", absent).replace(
        "nothing", ""
    )


def test_a_filter_of_any_characters_is_survived(bank):
    client = signed_in(bank, bank.person("Emma"))
    for words in ("\x00", "'; --", "%", "\\", "\u202e", "x" * 5000):
        assert client.get("/documents/", {"q": words}).status_code == 200


def test_strangers_are_asked_to_sign_in(database):
    assert Client().get("/documents/").url == "/accounts/login/?next=/documents/"
