"""A model's claim is put to it once more, alone with its quotes; only a plain yes lets it through."""

import json

import pytest

from answers.generation import GeneratorUnavailable, UnavailableReason, get_generator
from answers.generation.ollama import OllamaGenerator
from answers.generation.openai_compatible import OpenAICompatibleGenerator
from answers.grounding import GroundingFailed, GroundingRule, check
from answers.models import Outcome, Reason, ReviewItem
from tests.answers.passages import passage
from tests.fakes.ollama_server import FakeOllama
from tests.fakes.openai_server import FakeOpenAI

RULE = "Employees are entitled to 25 days of annual leave."
EVIDENCE = [passage(RULE), passage("Visitors sign the register at the desk.", number=2)]
CLAIMS = {"claims": [{"sentences": ["1.1"], "text": RULE}], "answerable": True}
QUESTION = "How many days of annual leave?"


def replying(verdict):
    """Claims when asked for an answer, ``verdict`` when asked to check one."""

    def reply(body):
        return CLAIMS if "sources" in json.loads(body["messages"][1]["content"]) else verdict

    return reply


def ask_ollama(verdict, **fake):
    with FakeOllama(chat_reply=replying(verdict), **fake) as server:
        generator = OllamaGenerator(model="llama3.2", host=server.url, entailment=True)
        draft = generator.generate(question=QUESTION, language="en", evidence=EVIDENCE)
        return draft, server.bodies("/api/chat")


def ask_openai(verdict):
    with FakeOpenAI(chat_reply=replying(verdict)) as server:
        generator = OpenAICompatibleGenerator(model="qwen", url=server.url, entailment=True)
        draft = generator.generate(question=QUESTION, language="en", evidence=EVIDENCE)
        return draft, server.bodies("/v1/chat/completions")


@pytest.mark.parametrize("ask", [ask_ollama, ask_openai])
def test_the_checker_sees_the_claim_and_its_quotes_and_nothing_else(ask):
    draft, (_, asked) = ask({"supported": True})
    assert json.loads(asked["messages"][1]["content"]) == {"quotes": [RULE], "claim": RULE}
    assert check(draft=draft, evidence=EVIDENCE, language="en").claims[0].text == RULE
    assert draft.explanation["entailed"] == [True]


@pytest.mark.parametrize("ask", [ask_ollama, ask_openai])
def test_a_no_blocks_a_claim_that_passes_every_other_check(ask):
    draft, _ = ask({"supported": False})
    with pytest.raises(GroundingFailed) as blocked:
        check(draft=draft, evidence=EVIDENCE, language="en")
    assert blocked.value.rule is GroundingRule.ENTAILMENT


@pytest.mark.parametrize("verdict", [{}, {"supported": None}, {"supported": "yes"}, "maybe", "[]"])
def test_no_verdict_is_no_draft(verdict):
    with pytest.raises(GeneratorUnavailable) as failed:
        ask_ollama(verdict)
    assert failed.value.reason is UnavailableReason.BAD_OUTPUT


def test_the_tokens_of_the_check_are_counted():
    draft, bodies = ask_ollama(
        {"supported": True}, chat_fields={"prompt_eval_count": 900, "eval_count": 5}
    )
    assert len(bodies) == 2
    assert (draft.tokens_in, draft.tokens_out) == (1800, 10)


@pytest.fixture
def asker(bank):
    user = bank.person("asker")
    bank.document("Annual leave", RULE, readers=[bank.everyone])
    return user


def ask_all_the_way(bank, asker, verdict):
    with FakeOllama(chat_reply=replying(verdict)) as server:
        model = get_generator("ollama:llama3.2", ollama_host=server.url)
        return bank.ask(asker, QUESTION, model)


def test_by_default_a_model_is_checked_and_what_it_takes_back_goes_to_reviewers(bank, asker):
    assert ask_all_the_way(bank, asker, {"supported": True}).outcome == Outcome.ANSWERED
    refused = ask_all_the_way(bank, asker, {"supported": False})
    assert (refused.outcome, refused.claims) == (Outcome.ABSTAINED, ())
    with bank.scope():
        assert ": entailment: " in ReviewItem.objects.get(answer=refused.answer).reason


def test_without_a_verdict_the_asker_gets_excerpts(bank, asker):
    view = ask_all_the_way(bank, asker, "who knows")
    assert (view.outcome, view.reason) == (Outcome.EXCERPTS, Reason.MODEL)
