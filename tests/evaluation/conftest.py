"""Active cases about a leave policy, asked as a reader of it."""

import pytest

from evaluation.cases import create_case
from evaluation.models import CaseState

QUESTION = "How many days of annual leave do I have?"


@pytest.fixture
def case(bank):
    """Makes active cases, asked as a reader of the policy."""
    reader = bank.person("reader")
    document = bank.document("Annual leave", readers=[reader])

    def make(as_user=reader, **fields):
        defaults = {
            "key": f"case-{len(made)}",
            "question": QUESTION,
            "as_user": as_user,
            "expected_outcome": "answered",
            "kind": "number",
            "required_text": ["25 days"],
            "required_documents": [document.id],
            "state": CaseState.ACTIVE,
        }
        with bank.scope():
            made.append(create_case(**(defaults | fields)))
        return made[-1]

    made = []
    make.document, make.reader = document, reader
    return make
