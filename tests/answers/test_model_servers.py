"""A whole answer with a model server behind it: what the server does to a prompt is seen and told."""

import io

import pytest
from django.core.management import call_command

from answers.generation import get_generator
from answers.models import Outcome, Reason
from tests.fakes.ollama_server import FakeOllama

QUESTION = "How many days of annual leave?"
NO_ANSWER = {"claims": [], "answerable": False}


@pytest.fixture
def asker(bank):
    user = bank.person("asker")
    for branch in ("Antwerp", "Brussels", "Ghent", "Namur"):
        rule = f"Annual leave allowance is 25 days in {branch}. "
        more = f"Managers in {branch} record each day of annual leave in the register. "
        bank.document(f"Annual leave {branch}", rule + more * 15, readers=[bank.everyone])
    return user


def explained(answer) -> str:
    out = io.StringIO()
    call_command("explain_answer", str(answer.pk), stdout=out)
    return out.getvalue()


def test_nothing_that_a_model_said_of_a_prompt_read_in_part_is_answered_from(bank, asker):
    claims = {"claims": [{"sentences": ["1.1"], "text": "It is 99 days."}], "answerable": True}
    with FakeOllama(chat_reply=claims, chat_fields={"prompt_eval_count": 40}) as ollama:
        model = get_generator("ollama:llama3.2", ollama_host=ollama.url)
        view = bank.ask(asker, QUESTION, model)
        assert len(ollama.requests) == 1
    assert (view.outcome, view.reason) == (Outcome.EXCERPTS, Reason.MODEL)
    assert "nothing that could be used: truncated_prompt" in explained(view.answer)


def test_a_trimmed_prompt_is_told_with_the_answer(bank, asker):
    with FakeOllama(chat_reply=NO_ANSWER) as ollama:
        model = get_generator("ollama:llama3.2", ollama_host=ollama.url, context_tokens=3000)
        view = bank.ask(asker, QUESTION, model)
        assert len(ollama.requests) == 1
    assert "the model did not see the passages ranked" in explained(view.answer)
