"""The API keeps what its own description says: requests made from it, good and bad, find nothing."""

from __future__ import annotations

import copy
import datetime as dt
import uuid

import hypothesis
import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.test import override_settings
from drf_spectacular.generators import SchemaGenerator
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.transport.serialization import Binary

from tenants import services as people
from tenants.models import Role
from tests.bank import Bank
from tests.pdf import make_pdf

EXAMPLES = 25
QUESTION = "How many days of annual leave do I have?"
# Stand for objects that exist, once there is a database to make them in; the last is nobody's.
STAND_INS = [str(uuid.UUID(int=number)) for number in (1, 2, 3)]
EXISTING = {"department": ["Human Resources"], "to": ["group:everyone"]}
load_all_checks()


def described() -> schemathesis.BaseSchema:
    """The served description, narrowed to what exists: other words are refused, rightly."""
    raw = copy.deepcopy(SchemaGenerator().get_schema(request=None, public=True))
    for operations in raw["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"].endswith("_id"):
                    parameter["schema"]["enum"] = STAND_INS
                if parameter["name"] == "to":
                    parameter["schema"]["enum"] = EXISTING["to"]
    schemas = raw["components"]["schemas"]
    upload = schemas["UploadInputRequest"]["properties"]
    upload["department"]["enum"] = EXISTING["department"]
    schemas["GrantInputRequest"]["properties"]["to"]["enum"] = EXISTING["to"]
    # Without its length: the client drops an empty part, and with it what should be refused.
    upload["grants"]["items"] = {"type": "string", "enum": EXISTING["to"]}
    schema = schemathesis.openapi.from_dict(raw)
    schema.app = get_wsgi_application()
    return schema


api = described()


@pytest.fixture(scope="module")
def caller():
    """(token, what the stand-ins stand for)."""
    bank = Bank.create()
    user = bank.person("api", roles=[(Role.DEPARTMENT_ADMIN, "Human Resources")])
    documents = [bank.document(f"Leave {n}", readers=[bank.everyone]) for n in range(2)]
    answers = [bank.ask(user, QUESTION).answer for _ in range(2)]
    with bank.scope():
        _, token = people.issue_token(user=user, lifetime=dt.timedelta(days=1))
    nobodys = str(uuid.uuid4())
    with override_settings(PERSON_QUESTIONS_PER_MINUTE=10**6, TENANT_QUESTIONS_PER_MINUTE=10**6):
        yield (
            token,
            {
                name: dict(zip(STAND_INS, [*(str(one.id) for one in rows), nobodys], strict=True))
                for name, rows in (("document_id", documents), ("answer_id", answers))
            },
        )


@api.parametrize()
@hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
def test_requests_made_from_the_description_find_nothing(case, caller):
    token, meant = caller
    for name, value in (case.path_parameters or {}).items():
        case.path_parameters[name] = meant.get(name, {}).get(value, value)
    if case.media_type == "multipart/form-data" and isinstance(case.body, dict):
        if "" in case.body.values():
            return  # the client leaves empty parts out, so that nothing wrong would be sent
        if isinstance(case.body.get("file"), Binary):
            # One that is taken, and new. What is not a PDF has tests of its own.
            case.body["file"] = Binary(make_pdf(f"Leave {uuid.uuid4()}."))
    case.call_and_validate(
        headers={"Authorization": f"Bearer {token}"}, checks=list(CHECKS.get_all())
    )
