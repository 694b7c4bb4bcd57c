"""A tenant for one test: people, groups and documents through the product's own services."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from answers import services as answering
from answers.generation import Generator
from answers.selectors import AnswerView
from answers.transport import answer_to_the_end
from documents import services as documents
from documents.ingestion.job import ingest_version
from documents.models import Document, DocumentVersion, LifeCycle, VersionStatus
from tenants import services as people
from tenants.models import Department, Group, Role, Tenant, User
from tenants.scope import tenant_scope
from tests.pdf import make_pdf

PASSWORD = "correct horse battery"


@dataclass
class Bank:
    """Methods open the tenant's scope themselves; use `scope()` to look at rows directly."""

    tenant: Tenant
    _departments: dict[str, Department] = field(default_factory=dict)

    @classmethod
    def create(cls, **policies) -> Bank:
        slug = f"bank-{uuid.uuid4().hex[:10]}"
        tenant = people.create_tenant(
            slug=slug, name="Test Bank", languages=["en", "nl", "fr"], **policies
        )
        return cls(tenant=tenant)

    @contextmanager
    def scope(self) -> Iterator[None]:
        with tenant_scope(self.tenant.id):
            yield

    @property
    def everyone(self) -> Group:
        with self.scope():
            return Group.objects.get(built_in=True)

    def department(self, name: str = "Human Resources") -> Department:
        with self.scope():
            return people.get_or_create_department(name=name)

    def person(
        self,
        name: str = "person",
        *,
        roles: Sequence[Role | tuple[Role, str]] = (),
        groups: Sequence[Group] = (),
    ) -> User:
        """Roles: Role, or (Role.DEPARTMENT_ADMIN, department name)."""
        held = [
            (role[0], self.department(role[1])) if isinstance(role, tuple) else (role, None)
            for role in roles
        ]
        with self.scope():
            return people.create_user(
                email=f"{name}-{uuid.uuid4().hex[:8]}@bank.example",
                name=name.title(),
                password=PASSWORD,
                roles=held,
                groups=list(groups),
            )

    def group(self, name: str | None = None, *members: User) -> Group:
        with self.scope():
            group = people.create_group(name=name or f"group-{uuid.uuid4().hex[:6]}")
            for member in members:
                people.add_to_group(user=member, group=group)
        return group

    def document(
        self,
        title: str = "A policy",
        text: str | Sequence[str] = "Annual leave allowance is 25 days.",
        *,
        readers: Sequence[User | Group] = (),
        department: str = "Human Resources",
        life_cycle: LifeCycle = LifeCycle.VETTED,
        ingest: bool = True,
        **fields,
    ) -> Document:
        """A document of one page per text, granted to `readers` and, by default, searchable."""
        with self.scope():
            document, submission = documents.create_document(
                actor=None,
                title=title,
                department=self.department(department),
                upload=documents.Upload(data=make_pdf(text), name=f"{title}.pdf"),
                life_cycle=life_cycle,
                subjects=readers,
                **fields,
            )
            if ingest:
                self.ingest(submission.version)
            document.refresh_from_db()
        return document

    def new_version(self, document: Document, text: str | Sequence[str], *, ingest: bool = True):
        with self.scope():
            submission = documents.submit_version(
                actor=None,
                document=document,
                upload=documents.Upload(data=make_pdf(text), name="new.pdf"),
            )
            if ingest:
                self.ingest(submission.version)
            document.refresh_from_db()
        return submission.version

    def ingest(self, version: DocumentVersion) -> DocumentVersion:
        with self.scope():
            done = ingest_version(version_id=version.id)
            assert done.status == VersionStatus.SEARCHABLE, done.failure_reason
        return done

    def grant(self, document: Document, subject: User | Group) -> None:
        with self.scope():
            documents.grant_access(actor=None, document=document, subject=subject)

    def revoke(self, document: Document, subject: User | Group) -> None:
        with self.scope():
            documents.revoke_access(actor=None, document=document, subject=subject)

    def start(self, user: User, question: str) -> answering.Started:
        with self.scope():
            return answering.start_answer(user=user, request_id=uuid.uuid4().hex, question=question)

    def ask(self, user: User, question: str, generator: Generator | None = None) -> AnswerView:
        """The whole pipeline, as the API runs it."""
        started = self.start(user, question)
        with self.scope():
            return answer_to_the_end(user=user, started=started, generator=generator)
