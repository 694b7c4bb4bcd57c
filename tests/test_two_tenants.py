"""Two tenants with the same documents and questions never see each other: through every URL, every
admin page and every command. The URLs are found, not listed: a new one is walked from its first day.
"""

import io
import json
import re
import uuid
from collections.abc import Iterator

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command, get_commands
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from answers.models import ReviewItem
from answers.services import block_draft
from documents.models import Document
from evaluation.cases import create_case
from evaluation.models import EvalRun
from tenants import services as people
from tenants.models import Role
from tests.bank import Bank

QUESTION = "How many days of annual leave do I have?"
ROOMS = ("audit", "tenants", "documents", "answers", "evaluation")
ROLES = [
    Role.TENANT_ADMIN,
    (Role.DEPARTMENT_ADMIN, "Human Resources"),
    Role.REVIEWER,
    Role.AUDITOR,
]
METHODS = ("get", "post", "delete")
# What differs between any two responses to the same person.
NOISE = re.compile(
    r'name="csrfmiddlewaretoken" value="[^"]+"|name="request_id" value="[^"]+"'
    r'|data-request-id="[^"]+"|data-csrf="[^"]+"'
)
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def patterns(resolver=None, prefix: str = "") -> Iterator[tuple[str, str]]:
    """(route, name) of every URL there is."""
    for pattern in (resolver or get_resolver()).url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern, route)
        elif isinstance(pattern, URLPattern):
            yield route, pattern.name or ""


def with_objects() -> list[tuple[str, str]]:
    return [(route, name) for route, name in patterns() if "<" in route and "(?P" not in route]


def without_objects() -> list[str]:
    return sorted({route for route, _ in patterns() if "<" not in route and "^" not in route})


@pytest.fixture(scope="module")
def banks():
    """The same bank twice. What must not cross is marked by ids and one word each."""
    return fill(Bank.create(), "amethyst"), fill(Bank.create(), "tourmaline")


def fill(bank: Bank, word: str) -> dict:
    everything = bank.person(f"{word}-admin", roles=ROLES)
    group = bank.group(f"{word} group", everything)
    document = bank.document(
        "Annual leave",
        f"Annual leave allowance is 25 days. The {word} branch closes at noon.",
        readers=[bank.everyone, group],
    )
    view = bank.ask(everything, QUESTION)
    with bank.scope():
        block_draft(answer=view.answer, reason=f"{word} reason", draft=[])
        case = create_case(
            key=f"{word}-case",
            question=f"{word}?",
            as_user=everything,
            expected_outcome="answered",
            kind="fact",
        )
        run = EvalRun.objects.create(generator=word)
        _, token = people.issue_token(user=everything)
        item = ReviewItem.objects.get()
        client = Client()
        client.force_login(everything, backend="tenants.authentication.EmailBackend")
    return {
        "bank": bank,
        "word": word,
        "user": everything,
        "document": document,
        "answer": view.answer,
        "chunk": view.citations[0].chunk_id,
        "group": group,
        "case": case,
        "run": run,
        "item": item,
        "token": token,
        "client": client,
        "api": Client(headers={"authorization": f"Bearer {token}"}),
    }


def own_objects(one: dict, name: str) -> str:
    """The id that fits the URL's object: by the admin page's model, else by its parameter."""
    for model in apps.get_models():
        meta = model._meta
        if meta.app_label in ROOMS and name.startswith(f"{meta.app_label}_{meta.model_name}_"):
            with one["bank"].scope():
                found = model.objects.first()
            return str(found.pk) if found else str(uuid.uuid4())
    return str(one["document"].pk)


def url(route: str, name: str, one: dict, *, missing: bool = False) -> str:
    def value(match: re.Match) -> str:
        kind, _, parameter = match[1].rpartition(":")
        if kind == "int":
            return "1"
        if parameter == "what":
            return "retry"
        if missing:
            return str(uuid.uuid4())
        return str(one["answer"].pk) if parameter == "answer_id" else own_objects(one, name)

    return "/" + re.sub(r"<([^>]+)>", value, route)


def content(response) -> str:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return NOISE.sub("", body.decode("utf-8", "replace"))


def unechoed(response, asked: str) -> str:
    """Without the address and the keys that the request has named itself."""
    body = content(response).replace(asked, "URL")
    return re.sub("|".join(UUID.findall(asked)) or "$^", "KEY", body)


def traces(one: dict) -> list[str]:
    """Anything that would tell a tenant from another one."""
    with one["bank"].scope():
        people_seen = [one["user"].email]
    return [
        one["word"],
        *people_seen,
        *(str(one[kind].pk) for kind in ("document", "answer", "group", "case", "run", "item")),
        str(one["chunk"]),
        str(one["bank"].tenant.pk),
    ]


@pytest.mark.parametrize("who", ["client", "api"])
@pytest.mark.parametrize(("route", "name"), with_objects())
def test_an_object_of_the_other_tenant_is_as_absent_as_one_that_never_was(banks, route, name, who):
    mine, theirs = banks
    for method in METHODS:
        call = getattr(mine[who], method)
        foreign_url, missing_url = url(route, name, theirs), url(route, name, mine, missing=True)
        foreign, missing = call(foreign_url), call(missing_url)
        assert foreign.status_code == missing.status_code, (method, foreign_url)
        foreign_body = unechoed(foreign, foreign_url)
        assert foreign_body == unechoed(missing, missing_url), (method, foreign_url)
        for trace in traces(theirs):
            assert trace not in foreign_body


@pytest.mark.parametrize("who", ["client", "api"])
@pytest.mark.parametrize("route", without_objects())
def test_no_list_or_form_shows_anything_of_the_other_tenant(banks, route, who):
    mine, theirs = banks
    if "logout" in route:
        return
    response = mine[who].get(f"/{route}")
    assert response.status_code < 500
    body = content(response)
    for trace in traces(theirs):
        assert trace not in body, trace


def test_the_walk_would_notice_a_leak(banks):
    """The same pages do show one's own: the traces are really looked for."""
    mine, _ = banks
    seen = "".join(
        content(mine["client"].get(f"/{route}"))
        for route in without_objects()
        if "logout" not in route
    )
    assert mine["word"] in seen
    assert str(mine["document"].pk) in seen


def test_with_the_python_filter_gone_row_level_security_alone_keeps_the_pages_apart(
    banks, monkeypatch
):
    from django.db import models

    from tenants.scope import TenantManager

    monkeypatch.setattr(TenantManager, "get_queryset", models.Manager.get_queryset)
    mine, theirs = banks
    for route, name in with_objects():
        body = content(mine["client"].get(url(route, name, theirs)))
        assert theirs["word"] not in body
    for route in without_objects():
        if "logout" not in route:
            assert theirs["word"] not in content(mine["client"].get(f"/{route}"))


def test_the_answer_to_the_same_question_cites_ones_own_document(banks):
    for one, other in (banks, banks[::-1]):
        body = json.dumps({"requestId": uuid.uuid4().hex, "question": QUESTION})
        answer = one["api"].post("/v1/answers", body, content_type="application/json").json()
        assert answer["outcome"] == "answered"
        assert {cited["documentId"] for cited in answer["citations"]} == {str(one["document"].pk)}
        for trace in traces(other):
            assert trace not in json.dumps(answer)


def test_asking_for_a_word_that_only_the_other_tenant_has_finds_nothing(banks):
    mine, theirs = banks
    view = mine["bank"].ask(mine["user"], f"When does the {theirs['word']} branch close?")
    assert theirs["word"] not in " ".join(claim.text for claim in view.claims)
    assert view.outcome == "abstained"


def test_a_foreign_id_in_a_body_is_refused_like_an_unknown_one(banks):
    mine, theirs = banks
    path = f"/v1/documents/{mine['document'].pk}/grants"
    for to in (f"group:{theirs['group'].name}", f"user:{theirs['user'].email}"):
        foreign = mine["api"].post(path, json.dumps({"to": to}), content_type="application/json")
        assert foreign.status_code == 400
    unknown = mine["api"].post(
        path, json.dumps({"to": "user:nobody@nowhere.example"}), content_type="application/json"
    )
    assert unknown.json()["detail"] == foreign.json()["detail"].replace(
        theirs["user"].email, "nobody@nowhere.example"
    )


def own_commands() -> list[str]:
    return sorted(name for name, app in get_commands().items() if app.partition(".")[0] in ROOMS)


# How each command is tried on another tenant's objects; None: it names no tenant's objects.
COMMANDS = {
    "add_to_group": lambda m, t: [t["user"].email, m["group"].name],
    "allow_link": lambda m, t: [t["user"].email, "--provider", "Login"],
    "ask": lambda m, t: [QUESTION, "--user", t["user"].email],
    "configurations": None,
    "compliance_report": None,
    "create_group": None,
    "create_tenant": None,
    "create_user": None,
    "delete_document": lambda m, t: [str(t["document"].pk)],
    "deletion_drill": None,
    "dispatch_outbox": None,
    "export_cases": None,
    "find_duplicates": None,
    "import_cases": None,
    "explain_answer": lambda m, t: [str(t["answer"].pk)],
    "gates": None,
    "generations": None,
    "grant": lambda m, t: [str(t["document"].pk), "--to", "group:everyone"],
    "ingest": lambda m, t: [__file__, "--document", str(t["document"].pk)],
    "inventory": None,
    "invite": None,
    "issue_token": lambda m, t: [t["user"].email],
    "load_demo": None,
    "pilot": None,
    "purge": None,
    "reindex": None,
    "calibrate": None,
    "reseal_secrets": None,
    "remove_from_group": lambda m, t: [t["user"].email, m["group"].name],
    "reset_factors": lambda m, t: [t["user"].email],
    "revoke": lambda m, t: [str(t["document"].pk), "--to", "group:everyone"],
    "run_evaluation": None,
    "sample_answers": None,
    "set_life_cycle": lambda m, t: [str(t["document"].pk), "draft"],
    "set_policy": None,
    "set_retention": None,
    "verify_audit": None,
}


def test_every_command_is_in_the_table():
    assert set(own_commands()) <= set(COMMANDS)


@pytest.mark.parametrize("command", [name for name in own_commands() if COMMANDS.get(name)])
def test_a_command_for_one_tenant_does_not_touch_the_other(banks, command):
    mine, theirs = banks
    arguments = COMMANDS[command](mine, theirs)
    out = io.StringIO()
    with pytest.raises(CommandError) as refused:
        call_command(
            command, *arguments, "--tenant", mine["bank"].tenant.slug, "--json", stdout=out
        )
    assert theirs["word"] not in out.getvalue()
    assert "There is no" in str(refused.value) or "nothing" in str(refused.value)
    with theirs["bank"].scope():
        document = Document.objects.get(pk=theirs["document"].pk)
        assert (document.deleted_at, document.life_cycle) == (None, "vetted")
        assert document.grants.count() == 2


def test_inventory_counts_ones_own_documents_only(banks):
    for one in banks:
        out = io.StringIO()
        call_command("inventory", "--tenant", one["bank"].tenant.slug, "--json", stdout=out)
        assert json.loads(out.getvalue())["documents"] == 1
