"""A model is asked only when there is something to answer from, and never decides that alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from answers.evidence import Evidence
from answers.generation.base import Draft, Generator


class GatedGenerator:
    """Asks ``model`` when ``gate`` finds an answer in the evidence; the gate's abstention stands.

    Small models find an answer to anything: the bundled generator's rules are calibrated on
    questions that have none. It also saves the call. The permit names both processors.
    """

    def __init__(self, *, gate: Generator, model: Generator) -> None:
        self._gate = gate
        self._model = model
        self.name = model.name
        self.processor = f"{gate.processor}, {model.processor}"

    def generate(self, *, question: str, language: str, evidence: Sequence[Evidence]) -> Draft:
        """The model's draft, or the gate's without claims. Raises GeneratorUnavailable."""
        found = self._gate.generate(question=question, language=language, evidence=evidence)
        if not found.claims:
            return found
        draft = self._model.generate(question=question, language=language, evidence=evidence)
        gate = {f"gate_{name}": value for name, value in found.explanation.items()}
        return replace(draft, explanation={**gate, **draft.explanation})
