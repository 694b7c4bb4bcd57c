"""The contract of /v1/answers and /v1/sources, over HTTP."""

import io
import json
import uuid

import pytest
from django.test import Client
from PIL import Image

from answers.models import Answer
from tenants import services as people
from tests.bank import PASSWORD

QUESTION = "How many days of annual leave do I have?"


@pytest.fixture
def leave(bank):
    user = bank.person("reader")
    document = bank.document(
        "Annual leave",
        ["Introduction to leave at the bank.", "Annual leave allowance is 25 days."],
        readers=[bank.everyone],
    )
    return user, document


@pytest.fixture
def api(bank, leave):
    """Calls the API with a bearer token of the reader."""
    user, _ = leave
    return Api(bank, user)


class Api:
    def __init__(self, bank, user):
        with bank.scope():
            _, token = people.issue_token(user=user)
        self.client = Client(headers={"authorization": f"Bearer {token}"})

    def get(self, path, **kwargs):
        return self.client.get(path, **kwargs)

    def post(self, path, body, accept="application/json"):
        return self.client.post(
            path, json.dumps(body), content_type="application/json", headers={"accept": accept}
        )

    def ask(self, question=QUESTION, request_id=None, **kwargs):
        body = {"requestId": request_id or uuid.uuid4().hex, "question": question}
        return self.post("/v1/answers", body, **kwargs)


def events(response) -> list[tuple[str, dict]]:
    blocks = b"".join(response.streaming_content).decode().strip().split("\n\n")
    parsed = []
    for block in blocks:
        if block.startswith(":"):
            continue
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        parsed.append((fields["event"], json.loads(fields["data"])))
    return parsed


def test_an_answer_carries_claims_citations_and_exact_offsets(api, leave):
    _, document = leave
    answer = api.ask().json()
    assert answer["outcome"] == "answered"
    assert answer["claims"] == [{"text": "Annual leave allowance is 25 days.", "citations": [1]}]
    [citation] = answer["citations"]
    assert citation["documentId"] == str(document.id)
    assert (citation["version"], citation["page"]) == (1, 2)
    text = api.get(f"/v1/sources/{document.id}/versions/1/text").content.decode()
    assert text[citation["startOffset"] : citation["endOffset"]] == citation["quote"]
    assert citation["quote"] == "Annual leave allowance is 25 days."
    assert set(answer) >= {"answerId", "requestId", "language", "generatedBy", "usage"}


def test_a_stream_sends_status_events_in_order_and_then_exactly_one_answer(api):
    response = api.ask(accept="text/event-stream")
    assert response["Content-Type"].startswith("text/event-stream")
    received = events(response)
    assert [name for name, _ in received] == ["status"] * 6 + ["answer"]
    assert [data["stage"] for name, data in received if name == "status"] == [
        "searching",
        "checking_access",
        "ranking",
        "writing",
        "verifying",
        "releasing",
    ]
    assert received[-1][1]["outcome"] == "answered"
    assert all("25 days" not in json.dumps(data) for name, data in received if name == "status")


def test_the_same_request_returns_the_same_attempt(api):
    request_id = uuid.uuid4().hex
    first, second = (api.ask(request_id=request_id).json() for _ in range(2))
    assert first["answerId"] == second["answerId"]
    assert first["claims"] == second["claims"]


def test_the_same_request_id_with_another_question_is_a_conflict(api):
    request_id = uuid.uuid4().hex
    api.ask(request_id=request_id)
    response = api.ask("What is the sick leave rule?", request_id=request_id)
    assert response.status_code == 409
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["code"] == "request_id_conflict"


def test_repeating_a_request_after_a_revocation_returns_not_a_word(api, bank, leave):
    _, document = leave
    request_id = uuid.uuid4().hex
    assert api.ask(request_id=request_id).json()["outcome"] == "answered"
    bank.revoke(document, bank.everyone)
    again = api.ask(request_id=request_id).json()
    assert (again["outcome"], again["reason"]) == ("unavailable", "sources_changed")
    assert (again["claims"], again["citations"]) == ([], [])


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"requestId": "1"},
        {"requestId": "1", "question": ""},
        {"requestId": "1", "question": "x" * 1001},
        {"requestId": "x" * 101, "question": "x"},
        {"requestId": "1", "question": "x", "language": "klingon"},
        {"requestId": "1", "question": "x", "tenant": "other"},
        {"requestId": "1", "question": "nul \x00"},
        {"requestId": 5, "question": ["a"]},
    ],
)
def test_bad_input_is_a_problem_with_a_stable_code(api, body):
    response = api.post("/v1/answers", body)
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["code"] in ("invalid", "parse_error")


@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b'"x"'])
def test_a_body_that_is_not_a_json_object_is_a_problem(api, body):
    response = api.client.post("/v1/answers", body, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["code"] == "parse_error"


def test_without_credentials_or_with_bad_ones_the_answer_is_401(bank):
    for headers in ({}, {"authorization": "Bearer nonsense"}, {"authorization": "Bearer "}):
        response = Client(headers=headers).get("/v1/documents")
        assert response.status_code == 401
        assert response["WWW-Authenticate"].startswith("Bearer")
        assert response["Content-Type"] == "application/problem+json"


def test_a_revoked_token_and_a_deactivated_person_are_out_at_once(bank, leave):
    user, _ = leave
    with bank.scope():
        row, token = people.issue_token(user=user)
    client = Client(headers={"authorization": f"Bearer {token}"})
    assert client.get("/v1/documents").status_code == 200
    with bank.scope():
        people.revoke_token(token=row)
    assert client.get("/v1/documents").status_code == 401
    api = Api(bank, user)
    with bank.scope():
        people.set_user_active(user=user, active=False)
    assert api.get("/v1/documents").status_code == 401


def test_a_session_works_with_a_csrf_token_only(bank, leave):
    user, _ = leave
    client = Client(enforce_csrf_checks=True)
    login = client.get("/accounts/login/")
    token = client.cookies["precept_csrf"].value
    assert login.status_code == 200
    response = client.post(
        "/accounts/login/",
        {"login": user.email, "password": PASSWORD, "csrfmiddlewaretoken": token},
    )
    assert response.status_code == 302
    body = json.dumps({"requestId": "1", "question": QUESTION})
    refused = client.post("/v1/answers", body, content_type="application/json")
    assert refused.status_code == 403
    accepted = client.post(
        "/v1/answers",
        body,
        content_type="application/json",
        headers={"x-csrftoken": client.cookies["precept_csrf"].value},
    )
    assert accepted.status_code == 200


def test_somebody_elses_answer_is_not_there(api, bank):
    answer_id = api.ask().json()["answerId"]
    colleague = Api(bank, bank.person("colleague"))
    missing = uuid.uuid4()
    for method, path in (("get", ""), ("post", "/cancel"), ("post", "/feedback")):
        call = getattr(colleague.client, method)
        theirs, nobodys = (
            call(f"/v1/answers/{answer_id}{path}"),
            call(f"/v1/answers/{missing}{path}"),
        )
        assert theirs.status_code == nobodys.status_code == 404
        assert theirs.content == nobodys.content


def test_feedback_is_kept_and_a_bad_mark_reaches_the_review_queue(api, bank):
    from answers.models import ReviewItem

    answer_id = api.ask().json()["answerId"]
    path = f"/v1/answers/{answer_id}/feedback"
    assert api.post(path, {"helpful": False, "comment": "wrong year"}).status_code == 200
    with bank.scope():
        assert ReviewItem.objects.get(answer_id=answer_id).kind == "feedback"
        assert Answer.objects.get(pk=answer_id).feedback.comment == "wrong year"


def test_a_cited_page_is_shown_with_the_quote_marked(api, leave):
    _, document = leave
    answer = api.ask().json()
    path = f"/v1/sources/{document.id}/versions/1/pages/2.png"
    plain = api.get(path)
    marked = api.get(path, data={"answer": answer["answerId"], "citation": 1})
    assert plain["Content-Type"] == marked["Content-Type"] == "image/png"
    assert _yellow(plain.content) == 0
    assert _yellow(marked.content) > 500


def test_a_mark_is_drawn_for_own_citations_of_that_page_only(api, bank, leave):
    _, document = leave
    answer_id = api.ask().json()["answerId"]
    colleague = Api(bank, bank.person("colleague"))
    page = f"/v1/sources/{document.id}/versions/1/pages"
    which = {"answer": answer_id, "citation": 1}
    assert _yellow(colleague.get(f"{page}/2.png", data=which).content) == 0
    assert _yellow(api.get(f"{page}/1.png", data=which).content) == 0
    assert _yellow(api.get(f"{page}/2.png", data={**which, "citation": 7}).content) == 0
    unknown = {"answer": uuid.uuid4(), "citation": 1}
    assert _yellow(api.get(f"{page}/2.png", data=unknown).content) == 0
    assert api.get(f"{page}/2.png", data={"answer": "x", "citation": "y"}).status_code == 400


def _yellow(png: bytes) -> int:
    image = Image.open(io.BytesIO(png)).convert("RGB")
    return sum(
        count
        for count, (r, g, b) in image.getcolors(maxcolors=2**24)
        if r > 200 and g > 180 and b < 160
    )


@pytest.mark.parametrize("part", ["", "/text", "/file", "/pages/1.png"])
def test_a_source_one_may_not_read_is_not_there(api, bank, part):
    secret = bank.document("Vault", "The vault access code is 7391.", readers=[])
    theirs = api.get(f"/v1/sources/{secret.id}/versions/1{part}")
    nobodys = api.get(f"/v1/sources/{uuid.uuid4()}/versions/1{part}")
    assert theirs.status_code == nobodys.status_code == 404
    assert theirs.content == nobodys.content
    assert dict(theirs.headers) == dict(nobodys.headers)


@pytest.mark.parametrize(
    "part", ["/versions/2", "/versions/1/pages/3.png", "/versions/1/pages/0.png"]
)
def test_a_page_or_version_that_does_not_exist_is_not_there(api, leave, part):
    _, document = leave
    assert api.get(f"/v1/sources/{document.id}{part}").status_code == 404


def test_a_superseded_version_is_not_served_any_more(api, bank, leave):
    _, document = leave
    bank.new_version(document, "Annual leave allowance is 27 days.")
    assert api.get(f"/v1/sources/{document.id}/versions/1/text").status_code == 404
    assert "27 days" in api.get(f"/v1/sources/{document.id}/versions/2/text").content.decode()


def test_paths_that_no_room_serves_answer_like_things_that_are_not_there(api):
    response = api.get("/v1/secrets/42")
    assert response.status_code == 404
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "body",
    [
        b'{"\\ud800": 1}',
        b'{"requestId": "1", "question": "q", "language": "\\ud800"}',
        b'{"requestId": "1", "question": "half a pair: \\ud800"}',
        b'{"requestId": "1", "question": "nul: \\u0000"}',
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
    ],
    ids=lambda body: body[:24].decode(errors="replace"),
)
def test_a_body_that_is_not_what_it_should_be_is_a_problem_of_the_caller(api, body):
    response = api.client.post("/v1/answers", body, content_type="application/json")
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"


def test_a_token_beside_a_session_of_another_tenant_is_refused(api, other_bank):
    stranger = other_bank.person("stranger")
    with other_bank.scope():
        api.client.force_login(stranger)
    response = api.get("/v1/documents")
    assert response.status_code == 401
    api.client.logout()
    assert api.get("/v1/documents").status_code == 200
