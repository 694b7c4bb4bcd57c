"""Which generator, prompt and reranker a tenant is answered by, and how another takes over.

The settings say what a new tenant begins with and what can be proposed. What serves is the tenant's
own: a changed setting, or a release with another prompt, writes nobody's answers before it has passed
the same gate as an index generation.
"""

from collections.abc import Sequence

from django.conf import settings
from django.db import transaction

from audit.services import record_action
from documents.embedding import Embedder
from documents.serving import PromotionConflict, lock_serving, take_over
from tenants.selectors import NotFound

from .evidence import Evidence
from .generation import (
    Draft,
    Generator,
    GeneratorUnavailable,
    UnavailableReason,
    get_generator,
    version_of,
)
from .models import AnswerConfiguration, ConfigurationStatus

KIND = "configurations"


class NotApproved:
    """Stands where a generator would that the tenant has not approved: nothing is sent to it."""

    def __init__(self, configuration: AnswerConfiguration):
        self.name = configuration.generator
        self.processor = f"none, instead of {configuration.generator}"

    def generate(self, *, question: str, language: str, evidence: Sequence[Evidence]) -> Draft:
        raise GeneratorUnavailable(
            UnavailableReason.NOT_APPROVED,
            f"This release has another version of {self.name} than the one that was approved. "
            "Run the cases and approve it: manage.py configurations adopt.",
        )


def serving_configuration() -> AnswerConfiguration:
    """What answers the current tenant; the first one is made on first use, from the settings."""
    return _serving() or _make_first()


def configuration_named(name: str) -> AnswerConfiguration:
    """Raises NotFound."""
    found = AnswerConfiguration.objects.filter(name=name).first()
    if found is None:
        raise NotFound(
            f"There is no configuration named {name}. See: manage.py configurations list."
        )
    return found


def is_available(configuration: AnswerConfiguration) -> bool:
    """Whether this release and installation can still do what was approved."""
    return (
        configuration.version == _version(configuration.generator)
        and configuration.reranker == settings.RERANKER
    )


def _version(generator: str) -> str:
    """Of the generator, and of the settings that decide what becomes of its claims."""
    told = [version_of(generator)]
    if generator != "extractive" and not settings.ENTAILMENT:
        told.append("no entailment")
    if settings.CLAIM_POLICY != "all_or_nothing":
        told.append(settings.CLAIM_POLICY)
    return ", ".join(told)


def generator_of(configuration: AnswerConfiguration, *, embedder: Embedder) -> Generator:
    """Its generator, or NotApproved where this release has another one under its name."""
    if not is_available(configuration):
        return NotApproved(configuration)
    return get_generator(
        configuration.generator,
        ollama_host=settings.OLLAMA_HOST,
        openai_url=settings.OPENAI_URL,
        openai_api_key=settings.OPENAI_API_KEY,
        context_tokens=settings.GENERATOR_CONTEXT_TOKENS,
        entailment=settings.ENTAILMENT,
        timeout_seconds=settings.GENERATOR_TIMEOUT_SECONDS,
        embedder=embedder,
    )


@transaction.atomic
def propose() -> AnswerConfiguration:
    """What the settings and this release say now, as a candidate if it is not known yet."""
    lock_serving(KIND)
    fields = {
        "generator": settings.GENERATOR,
        "version": _version(settings.GENERATOR),
        "reranker": settings.RERANKER,
    }
    found = AnswerConfiguration.objects.filter(**fields).first()
    return found or _create(**fields)


@transaction.atomic
def promote_configuration(
    *, configuration: AnswerConfiguration, action: str = "configuration.promoted"
) -> None:
    """Let it answer from now on. Raises PromotionRefused, PromotionConflict."""
    lock_serving(KIND)
    former = _serving()
    if former and former.pk == configuration.pk:
        return
    if not is_available(configuration):
        raise PromotionConflict(
            f"{configuration} is not what this release has. Propose what it has: "
            "manage.py configurations adopt."
        )
    take_over(candidate=configuration, former=former)
    configuration.refresh_from_db()
    record_action(
        action=action,
        actor=None,
        object_ids={"configuration": configuration.pk, "former": former and former.pk},
    )


def roll_back_configuration() -> AnswerConfiguration:
    """Let the one answer again from which this one took over. Raises PromotionConflict."""
    former = serving_configuration().took_over_from
    if former is None:
        raise PromotionConflict("No former configuration is known that could answer again.")
    promote_configuration(configuration=former, action="configuration.rolled_back")
    return former


def _serving() -> AnswerConfiguration | None:
    return AnswerConfiguration.objects.filter(status=ConfigurationStatus.SERVING).first()


@transaction.atomic
def _make_first() -> AnswerConfiguration:
    lock_serving(KIND)
    return _serving() or _create(
        generator=settings.GENERATOR,
        version=_version(settings.GENERATOR),
        reranker=settings.RERANKER,
        status=ConfigurationStatus.SERVING,
    )


def _create(**fields: str) -> AnswerConfiguration:
    name = ", ".join([fields["generator"], fields["version"], fields["reranker"]])
    configuration = AnswerConfiguration.objects.create(name=name, **fields)
    record_action(
        action="configuration.created",
        actor=None,
        object_ids={"configuration": configuration.pk},
        facts={name: str(value) for name, value in fields.items()},
    )
    return configuration
