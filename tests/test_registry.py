"""Walks the registry: everything there is, as everybody there is, and with ids that are not theirs."""

from __future__ import annotations

import importlib
import inspect
import re
import uuid

import pytest
from django.contrib import admin
from django.core.management import CommandError, call_command
from django.db.models import ForeignKey
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from documents import dispatch
from documents.models import DocumentVersion
from tests import test_two_tenants
from tests.bank import Bank
from tests.registry import ACTIONS, COMMANDS, PAGES, SWEEPS, TASKS, URLS, Rule
from tests.registry_actors import ROLES, Cast
from tests.test_two_tenants import NOISE, ROOMS, own_commands, patterns

PEOPLE = {
    "a": "asker",
    "c": "colleague",
    "r": "reviewer",
    "o": "auditor",
    "h": "hr_admin",
    "f": "finance_admin",
    "t": "tenant_admin",
    "l": "leaver",
    "s": "stranger",
    "v": "visitor",
}
RULES: dict[tuple[str, str], Rule] = {
    **{
        (method, route): Rule.parse(rule)
        for route, methods in URLS.items()
        for method, rule in methods.items()
    },
    **{
        ("GET", f"admin/{name.replace('_', '/', 1)}/{suffix}"): rule
        for name, rules in PAGES.items()
        for suffix, rule in rules.items()
    },
}
# Addresses written as a regular expression, and one that it matches.
SPELLED = {
    "^v1/": "v1/secrets/42",
    **{route: "admin/documents/" for route in URLS if route.startswith("admin/^(?P<app_label>")},
    "admin/(?P<url>.*)$": "admin/secrets/",
}
WORDS = {
    "what": "retry",
    "way": "off",
    "kind": "csv",
    "state": "draft",
    "number": "1",
    "page": "1",
    "pk": "1",
    "token": "none",
    "uidb64": "MQ",
    "resource": "Users",
}


class World:
    """Two tenants, everybody of the registry, and their clients."""

    def __init__(self):
        self.ours = Cast.of(Bank.create(), list(ROLES))
        self.theirs = Cast.of(Bank.create(), ["stranger"])
        self.ours.dismiss("leaver")

    def client(self, letter: str, route: str) -> Client:
        cast = self.theirs if letter == "s" else self.ours
        clients = cast.programs if route.startswith(("v1", "^v1")) else cast.sessions
        return clients[PEOPLE[letter]] if letter != "v" else Client()

    def url(self, route: str, cast: Cast, *, missing: bool = False) -> str:
        def value(match: re.Match) -> str:
            name = match[1].rpartition(":")[2]
            if name in WORDS:
                return WORDS[name]
            if missing:
                return str(uuid.uuid4())
            return cast.ids[name] if name in cast.ids else cast.row_of(page_of(route))

        return "/" + re.sub(r"<([^>]+)>", value, SPELLED.get(route, route))


@pytest.fixture(scope="module")
def world():
    return World()


def page_of(route: str) -> str:
    return "_".join(route.split("/")[1:3])


def send(client: Client, method: str, url: str, **data):
    return client.generic(method, url, **data) if not data else client.post(url, data)


def verdict(response) -> str:
    if response.status_code == 401 or "/login/" in response.headers.get("Location", ""):
        return "sign in"
    return {403: "refused", 404: "nothing"}.get(response.status_code, "opens")


def expected(rule: Rule, letter: str, route: str) -> str:
    if route.startswith("scim/"):
        return "sign in"  # opened by a directory's token, never by a person's
    if letter in rule.opens_for:
        return "opens"
    if letter in "lv" and letter not in rule.nothing_for:
        return "sign in"
    return "nothing" if letter in rule.nothing_for else "refused"


def body(response, url: str) -> str:
    """What was answered, without what differs between any two answers."""
    return NOISE.sub("", test_two_tenants.content(response)).replace(url, "URL")


# --- Nothing is missing ---------------------------------------------------------------------------


def test_every_address_is_in_the_registry():
    assert {route for route, _ in patterns()} == {route for _, route in RULES}


def views(resolver=None, prefix: str = ""):
    for pattern in (resolver or get_resolver()).url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from views(pattern, route)
        elif isinstance(pattern, URLPattern) and hasattr(pattern.callback, "cls"):
            yield route, pattern.callback.cls


def test_every_method_of_the_api_is_in_the_registry():
    offered = {
        (method, route)
        for route, view in views()
        for method in view().allowed_methods
        if method not in ("OPTIONS", "HEAD")
    }
    named = {(method, route) for method, route in RULES if route.startswith("v1")}
    assert offered == named


def test_every_page_and_action_of_the_administration_is_in_the_registry():
    pages = {model._meta.label_lower.replace(".", "_"): one for model, one in _registered()}
    assert set(pages) == set(PAGES)
    offered = {name: {action.__name__ for action in one.actions} for name, one in pages.items()}
    assert {name: actions for name, actions in offered.items() if actions} == {
        name: set(actions) for name, actions in ACTIONS.items()
    }


def _registered():
    return admin.site._registry.items()


def test_every_command_is_in_the_registry_and_tried_on_another_tenant():
    assert set(own_commands()) == set(COMMANDS)
    tried = {name for name, arguments in test_two_tenants.COMMANDS.items() if arguments}
    named = {name for name, kind in COMMANDS.items() if kind == "object"}
    assert named <= tried


def test_every_background_task_is_in_the_registry():
    found = set()
    for room in ROOMS:
        try:
            module = importlib.import_module(f"{room}.tasks")
        except ModuleNotFoundError:
            continue
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                found.add(f"{module.__name__}.{name}")
    assert found == TASKS
    assert {f"{sweep.__module__}.{sweep.__name__}" for sweep in dispatch._sweeps} == SWEEPS


# --- Everybody at every door ----------------------------------------------------------------------


@pytest.mark.parametrize(("method", "route"), sorted(RULES))
def test_an_address_opens_for_exactly_whom_the_registry_names(world, method, route):
    """And for whom there is nothing, the answer is that for an id which does not exist."""
    rule = RULES[method, route]
    if "logout" in route:
        return
    for letter in PEOPLE:
        client, url = world.client(letter, route), world.url(route, world.ours)
        data = {}
        if route == "cancel/":
            data = {"request_id": world.ours.ids["request_id"]}
        if method == "DELETE" and letter in rule.opens_for and route.endswith("document_id>"):
            url = f"/v1/documents/{world.ours.spare_document()}"
        answer = send(client, method, url, **data)
        if method == "POST" and route.startswith("admin"):
            client.get("/admin/")  # shows, and so forgets, what the page had to say
        assert answer.status_code < 500
        assert verdict(answer) == expected(rule, letter, route), (
            PEOPLE[letter],
            answer.status_code,
        )
        if verdict(answer) == "nothing" and "<" in route:
            absent = world.url(route, world.ours, missing=True)
            nowhere = send(client, method, absent)
            assert answer.status_code == nowhere.status_code
            assert body(answer, url) == body(nowhere, absent), PEOPLE[letter]


@pytest.mark.parametrize(
    ("page", "action"), [(page, action) for page, actions in ACTIONS.items() for action in actions]
)
def test_an_action_is_offered_to_exactly_whom_the_registry_names(world, page, action):
    rule, route = Rule.parse(ACTIONS[page][action]), f"admin/{page.replace('_', '/', 1)}/"
    row, nobodys = world.ours.row_of(page), str(uuid.uuid4())
    for letter in PEOPLE:
        client = world.client(letter, route)
        answer = client.post(f"/{route}", {"action": action, "_selected_action": row}, follow=True)
        is_offered = was_offered(answer)
        assert is_offered == (letter in rule.opens_for + rule.nothing_for), PEOPLE[letter]
        if letter in rule.nothing_for:
            chosen = {"action": action, "_selected_action": nobodys}
            nowhere = client.post(f"/{route}", chosen, follow=True)
            assert body(answer, row) == body(nowhere, nobodys), PEOPLE[letter]


def was_offered(answer) -> bool:
    """It asks to be confirmed, or was done and says so: what is not offered cannot be chosen."""
    said = [str(message) for message in (answer.context or {}).get("messages", ())]
    asks = "admin/bulk_action.html" in [template.name for template in answer.templates]
    if answer.status_code != 200:
        return False
    return asks or any("No action selected" not in words for words in said)


# --- Ids of the other tenant ----------------------------------------------------------------------


@pytest.mark.parametrize("page", sorted(PAGES))
def test_an_id_of_the_other_tenant_in_a_query_or_form_is_like_one_of_nobody(world, page):
    model = next(
        model for model, _ in _registered() if model._meta.label_lower == page.replace("_", ".", 1)
    )
    route, client = f"/admin/{page.replace('_', '/', 1)}/", world.client("t", "admin/")
    for foreign_key in (field for field in model._meta.fields if isinstance(field, ForeignKey)):
        with world.theirs.bank.scope():
            row = foreign_key.related_model.objects.order_by("pk").first()
        theirs, nobodys = str(row.pk if row else uuid.uuid4()), str(uuid.uuid4())
        if foreign_key.name == "tenant":
            theirs = str(world.theirs.bank.tenant.pk)
        for call in (
            lambda value, name: client.get(route, {f"{name}__id__exact": value}),
            lambda value, name: client.get(f"{route}add/", {name: value}),
            lambda value, name: client.post(f"{route}add/", {name: value}),
        ):
            there, nowhere = call(theirs, foreign_key.name), call(nobodys, foreign_key.name)
            assert there.status_code == nowhere.status_code < 500
            assert body(there, theirs) == body(nowhere, nobodys), foreign_key.name


@pytest.mark.parametrize("kind", ["answer", "citation of an own document"])
def test_an_answer_of_somebody_else_in_a_query_marks_nothing(world, kind):
    document, asker = world.ours.ids["document_id"], world.ours.programs["asker"]
    path = f"/v1/sources/{document}/versions/1/pages/1.png"
    answer = world.theirs.ids["answer_id"] if kind == "answer" else str(uuid.uuid4())
    assert asker.get(path, {"answer": answer, "citation": 1}).content == asker.get(path).content


@pytest.mark.parametrize("command", sorted(n for n, kind in COMMANDS.items() if kind == "tenant"))
def test_a_command_for_one_tenant_refuses_to_guess_which(command):
    needed = {
        "configurations": ["list"],
        "create_group": ["name"],
        "create_user": ["a@b.example", "--password-stdin"],
        "export_cases": ["cases.json"],
        "generations": ["list"],
        "import_cases": ["cases.json"],
        "ingest": [__file__],
        "invite": ["a@b.example"],
        "pilot": ["audit"],
        "reindex": ["--generation", "next"],
        "set_retention": ["--reason", "because"],
        "set_policy": ["--refusal-policy", "contact_admin", "--reason", "because"],
    }
    with pytest.raises(CommandError, match="tenant"):
        call_command(command, *needed.get(command, []))


def test_a_task_finds_nothing_of_another_tenant(world):
    from documents.tasks import ingest_version

    with world.theirs.bank.scope():
        version = DocumentVersion.objects.first()
    outcomes = []
    for version_id in (version.pk, uuid.uuid4()):
        try:
            outcomes.append(ingest_version(str(world.ours.bank.tenant.pk), str(version_id)))
        except Exception as error:
            outcomes.append(str(error).replace(str(version_id), "ID"))
    assert outcomes[0] == outcomes[1]
