"""Loads the demo bank of demo/: two tenants, their people, policies and golden questions."""

import json
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.db import transaction

from demo.policy import Policy, read_policies
from documents import services as documents
from documents.models import UNFINISHED, Document, DocumentVersion, LifeCycle
from tenants import services as people
from tenants.models import Department, Role, User
from tenants.scope import tenant_scope
from tenants.selectors import subject_by_name, tenant_of_slug

from .exchange import import_cases
from .models import CaseState

SOURCE = "demo"
LANGUAGES = ["en", "nl", "fr"]
DEMO = Path(settings.BASE_DIR) / "demo"


def bank() -> dict:
    return json.loads((DEMO / "bank.json").read_text(encoding="utf-8"))


@transaction.atomic
def create_demo_bank(*, password: str) -> None:
    """Everything but the indexing, all or nothing; the worker does the rest from the outbox."""
    golden = json.loads((DEMO / "golden.json").read_text(encoding="utf-8"))
    policies = read_policies()
    for tenant in bank()["tenants"]:
        created = people.create_tenant(
            slug=tenant["slug"],
            name=tenant["name"],
            default_language=tenant["default_language"],
            languages=LANGUAGES,
            refusal_policy=tenant["refusal_policy"],
        )
        with tenant_scope(created.id):
            _create_people(tenant, password)
            own = [policy for policy in policies if policy.tenant == tenant["slug"]]
            _create_documents(own)
            rows = [case for case in golden if case["tenant"] == tenant["slug"]]
            import_cases(rows=rows, state=CaseState.ACTIVE)


def pending_versions() -> tuple[int, int]:
    """(finished, all) versions of the demo tenants."""
    finished = total = 0
    for tenant in bank()["tenants"]:
        with tenant_scope(tenant_of_slug(tenant["slug"])):
            versions = DocumentVersion.objects.filter(document__source_system=SOURCE)
            total += versions.count()
            finished += versions.exclude(status__in=UNFINISHED).count()
    return finished, total


def demo_people() -> Iterator[tuple[str, str, str]]:
    """(tenant, e-mail, what this person shows)."""
    for tenant in bank()["tenants"]:
        for person in tenant["people"]:
            yield tenant["name"], person["email"], person["note"]


def _create_people(tenant: dict, password: str) -> None:
    departments = {
        name: people.get_or_create_department(name=name) for name in tenant["departments"]
    }
    groups = {group["name"]: people.create_group(name=group["name"]) for group in tenant["groups"]}
    for person in tenant["people"]:
        people.create_user(
            email=person["email"],
            name=person["name"],
            password=password,
            roles=[_role(role, departments) for role in person["roles"]],
            groups=[groups[name] for name in person["groups"]],
        )


def _role(role: dict, departments: dict[str, Department]) -> tuple[Role, Department | None]:
    return Role(role["role"]), departments.get(role.get("department"))


def _create_documents(policies: list[Policy]) -> None:
    made: dict[str, Document] = {}
    for policy in sorted(policies, key=lambda one: (one.slug, one.version)):
        upload = documents.Upload(data=policy.pdf.read_bytes(), name=policy.pdf.name)
        if policy.slug in made:
            documents.submit_version(
                actor=None,
                document=made[policy.slug],
                upload=upload,
                effective_date=policy.effective_date,
            )
            continue
        made[policy.slug], _ = documents.create_document(
            actor=None,
            title=policy.title,
            department=Department.objects.get(name=policy.department),
            upload=upload,
            owner=User.objects.filter(email=policy.owner).first(),
            reference=policy.reference,
            life_cycle=LifeCycle(policy.life_cycle),
            effective_date=policy.effective_date,
            withdrawn_date=policy.withdrawn_date,
            subjects=[subject_by_name(grant) for grant in policy.grants],
            source_system=SOURCE,
            source_item_id=policy.slug,
        )
