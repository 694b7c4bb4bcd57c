"""Calls of model servers end when their time, all together, is over or nobody waits any more."""

import asyncio
import json
import threading

import httpx
import pytest

from answers.generation import GeneratorUnavailable, UnavailableReason
from answers.generation.calls import NoLongerWanted, call, while_wanted, within
from answers.generation.ollama import OllamaGenerator
from tests.answers.passages import passage
from tests.fakes.ollama_server import FakeOllama

RULE = "Employees are entitled to 25 days of annual leave."


class Endless:
    """Work that never ends by itself, and tells when it was ended."""

    def __init__(self):
        self.ended = threading.Event()

    async def __call__(self):
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()


def test_a_call_whose_time_is_over_is_ended():
    work = Endless()
    with pytest.raises(httpx.TimeoutException), within(0.05):
        call(work)
    assert work.ended.wait(30)


def test_an_inner_limit_does_not_lengthen_an_outer_one():
    with pytest.raises(httpx.TimeoutException), within(0.05), within(3600):
        call(Endless())


def test_a_call_that_nobody_waits_for_is_ended():
    work = Endless()
    with pytest.raises(NoLongerWanted), while_wanted(lambda: False):
        call(work)
    assert work.ended.wait(30)


def test_what_a_call_raises_is_raised():
    async def fails():
        raise KeyError("its own")

    with pytest.raises(KeyError, match="its own"):
        call(fails)


def test_a_checker_that_does_not_answer_leaves_no_draft():
    def reply(body):
        server.hang = "sources" in json.loads(body["messages"][1]["content"])
        return {"claims": [{"sentences": ["1.1"], "text": RULE}], "answerable": True}

    with FakeOllama(chat_reply=reply) as server:
        generator = OllamaGenerator(
            model="llama3.2", host=server.url, timeout_seconds=1, entailment=True
        )
        with pytest.raises(GeneratorUnavailable) as failed:
            generator.generate(question="Leave?", language="en", evidence=[passage(RULE)])
        assert server.left.wait(30)
    assert failed.value.reason is UnavailableReason.TIMEOUT
