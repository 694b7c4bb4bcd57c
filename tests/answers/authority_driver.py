"""The real services, step by step like the model, answering in the model's terms.

Decisions are made on the caller's connection; changes commit on another one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from uuid import UUID

from django.db import connections, transaction

from answers import authority
from answers.evidence import Evidence
from answers.grounding import GroundedAnswer, GroundedClaim, GroundedQuote
from answers.models import Answer, Outcome
from answers.selectors import present_answer
from benchmarks.generated_bank import chunk_of
from documents import services as documents
from documents.ingestion.accept import put_in_force
from documents.models import Document, DocumentVersion, LifeCycle
from documents.services import lock_documents
from tenants import services as people
from tenants.models import Group, User
from tenants.scope import tenant_scope

from .authority_model import ENDED, PERMIT_REFUSED, RELEASED, SOURCES_CHANGED, Permit


class OtherConnection:
    """A thread with a connection of its own, in the tenant's scope."""

    def __init__(self, tenant_id: UUID):
        self._scope = tenant_scope(tenant_id)
        self._thread = ThreadPoolExecutor(max_workers=1, initializer=self._scope.__enter__)

    def run(self, change: Callable[[], object]) -> None:
        self._thread.submit(change).result()

    def close(self) -> None:
        self._thread.submit(self._scope.__exit__, None, None, None).result()
        self._thread.submit(connections.close_all).result()
        self._thread.shutdown()


@dataclass
class Driver:
    """`versions` holds the ids of each document's versions, the first being number 1."""

    other: OtherConnection
    versions: dict[UUID, list[UUID]]
    _real: dict[Permit, object] = field(default_factory=dict)

    def admit(self, answer: Answer, step, sources, *, all_or_nothing=False) -> Permit | str:
        chunks = [chunk_of(self.versions[document][number - 1]) for document, number in sources]
        try:
            admission = authority.admit(
                answer=answer,
                step=step,
                processor="test",
                chunk_ids=chunks,
                cosines=dict.fromkeys(chunks, 0.5),
                all_or_nothing=all_or_nothing,
            )
        except authority.SourcesChanged:
            return SOURCES_CHANGED
        made = admission.permit
        assert made.chunks == [str(chunk.chunk_id) for chunk in admission.evidence]
        permit = self._permit(made, made.step, made.rejected)
        self._real[permit] = admission
        return permit

    def release(self, answer: Answer, permit: Permit) -> Permit | str:
        admission = self._real[permit]
        try:
            released = authority.release(
                answer=answer,
                context=admission.permit,
                grounded=quoting(admission.evidence),
                evidence=admission.evidence,
                finish={"outcome": Outcome.ANSWERED},
            )
        except authority.SourcesChanged:
            return SOURCES_CHANGED
        except authority.PermitRefused:
            return PERMIT_REFUSED
        if released is None:
            return ENDED
        made = self._permit(released.permit, RELEASED, 0)
        self._real[made] = released.permit
        return made

    def consume(self, person: UUID, permit: Permit) -> bool:
        return authority.consume(permit=self._real[permit], caller=person)

    def may_read_again(self, permit: Permit) -> bool:
        answer = Answer.objects.select_related("user").get(pk=permit.answer)
        return present_answer(user=answer.user, answer=answer).is_released

    def _permit(self, row, step: str, rejected: int) -> Permit:
        sources = {UUID(document): UUID(v) for document, v in row.document_versions.items()}
        return Permit(
            caller=row.caller,
            answer=row.answer_id,
            step=step,
            sources=tuple(sorted((d, self.versions[d].index(v) + 1) for d, v in sources.items())),
            rejected=rejected,
            revisions={UUID(thing): seen for thing, seen in row.access_revisions.items()},
        )

    # --- Changes, each by the service that makes it in the product ---

    def grant(self, document: UUID, subject: User | Group) -> None:
        self._change(documents.grant_access, document=Document(id=document), subject=subject)

    def revoke(self, document: UUID, subject: User | Group) -> None:
        self._change(documents.revoke_access, document=Document(id=document), subject=subject)

    def join(self, person: User, group: Group) -> None:
        self._change(people.add_to_group, user=person, group=group)

    def leave(self, person: User, group: Group) -> None:
        self._change(people.remove_from_group, user=person, group=group)

    def set_active(self, person: User, active: bool) -> None:
        self._change(people.set_user_active, user=person, active=active)

    def delete(self, document: UUID) -> None:
        self._change(documents.delete_document, document=Document(id=document))

    def set_life_cycle(self, document: UUID, life_cycle: str) -> None:
        row = Document.objects.get(pk=document)
        self._change(documents.set_life_cycle, document=row, life_cycle=LifeCycle(life_cycle))

    def publish(self, document: UUID, version: int) -> None:
        """Forward as ingestion does it, back as an administrator does."""
        made = DocumentVersion.objects.select_related("document").get(
            pk=self.versions[document][version - 1]
        )
        current = Document.objects.only("current_version").get(pk=document).current_version_id
        forward = self.versions[document].index(current) + 1 < version

        def put() -> None:
            with transaction.atomic():
                lock_documents([document])
                put_in_force(made)

        if forward:
            self.other.run(put)
        else:
            self._change(documents.reinstate_version, version=made)

    def _change(self, service: Callable, **arguments) -> None:
        self.other.run(lambda: service(actor=None, **arguments))


def quoting(evidence: tuple[Evidence, ...]) -> GroundedAnswer:
    """An answer that cites every passage it was given."""
    return GroundedAnswer(
        tuple(
            GroundedClaim(
                ordinal=number,
                text=chunk.text[:20],
                citations=(GroundedQuote(chunk.number, 0, 20, chunk.text[:20]),),
            )
            for number, chunk in enumerate(evidence, start=1)
        )
    )
