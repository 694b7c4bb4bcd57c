"""One demo policy: a Markdown file whose front matter says what it is and who may read it.

Needs PyYAML only, so the running product can read the demo bank without the rendering tools.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

DEMO = Path(__file__).resolve().parent
POLICIES = DEMO / "policies"
PDFS = DEMO / "pdfs"

LIFE_CYCLES = ("vetted", "archived", "draft", "duplicate", "unknown_provenance")
CITABLE = ("vetted", "archived")
LANGUAGES = ("en", "nl", "fr")

REQUIRED = (
    "slug",
    "title",
    "reference",
    "tenant",
    "department",
    "owner",
    "life_cycle",
    "language",
    "effective_date",
    "version",
    "grants",
)
OPTIONAL = ("withdrawn_date",)

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_GRANT = re.compile(r"group:[a-z0-9-]+|user:[a-z0-9.-]+@[a-z0-9.-]+")


class PolicyInvalid(Exception):
    """A policy file cannot be used as it stands; the message names the file and the remedy."""


@dataclass(frozen=True, slots=True)
class Policy:
    path: Path
    slug: str
    title: str
    reference: str
    tenant: str
    department: str
    owner: str
    life_cycle: str
    language: str
    effective_date: dt.date
    withdrawn_date: dt.date | None
    version: int
    grants: tuple[str, ...]
    body: str

    @property
    def name(self) -> str:
        """The tenant and file stem, as people cite a policy in an error message."""
        return f"{self.tenant}/{self.slug}-v{self.version}"

    @property
    def pdf(self) -> Path:
        return PDFS / self.tenant / f"{self.slug}-v{self.version}.pdf"


def read_policy(path: Path) -> Policy:
    """Read one file. Raises PolicyInvalid, listing every fault found in its front matter."""
    text = path.read_text(encoding="utf-8")
    parts = re.split(r"^---[ \t]*\n", text, maxsplit=2, flags=re.MULTILINE)
    if len(parts) != 3 or parts[0].strip():
        raise PolicyInvalid(f"{path}: must start with front matter between two lines '---'")
    try:
        fields = yaml.safe_load(parts[1])
    except yaml.YAMLError as error:
        raise PolicyInvalid(
            f"{path}: front matter is not valid YAML; put a value with a colon in quotes: {error}"
        ) from error
    if not isinstance(fields, dict):
        raise PolicyInvalid(f"{path}: front matter must be a list of 'name: value' lines")
    faults = list(_faults(path, fields))
    body = parts[2].strip()
    if not body:
        faults.append("has no text below the front matter; write the policy")
    if faults:
        raise PolicyInvalid("\n".join(f"{path}: {fault}" for fault in faults))
    return Policy(
        path=path,
        withdrawn_date=fields.get("withdrawn_date"),
        grants=tuple(fields["grants"]),
        body=body,
        **{key: fields[key] for key in REQUIRED if key != "grants"},
    )


def _faults(path: Path, fields: dict[str, Any]) -> Iterator[str]:
    for key in REQUIRED:
        if fields.get(key) is None:
            yield f"'{key}' is missing; add it to the front matter"
    for key in fields:
        if key not in REQUIRED + OPTIONAL:
            yield f"'{key}' is not a known field; use {', '.join(REQUIRED + OPTIONAL)}"
    for key in ("slug", "title", "reference", "tenant", "department", "owner"):
        value = fields.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            yield f"'{key}' must be text, not {value!r}; put it in quotes"
    slug, version = fields.get("slug"), fields.get("version")
    if isinstance(slug, str) and not _SLUG.fullmatch(slug):
        yield f"slug '{slug}' must be lower-case words joined by hyphens"
    if version is not None and (type(version) is not int or version < 1):
        yield f"version {version!r} must be a whole number from 1"
    if isinstance(slug, str) and path.stem not in (slug, f"{slug}-v{version}"):
        yield f"slug '{slug}' version {version} belongs in '{slug}.md' or '{slug}-v{version}.md'"
    for key, allowed in (("life_cycle", LIFE_CYCLES), ("language", LANGUAGES)):
        value = fields.get(key)
        if value is not None and value not in allowed:
            yield f"{key} '{value}' is unknown; use one of {', '.join(allowed)}"
    for key in ("effective_date", "withdrawn_date"):
        value = fields.get(key)
        if value is not None and type(value) is not dt.date:
            yield f"{key} '{value}' must be a date such as 2024-01-31"
    if fields.get("life_cycle") == "archived" and not fields.get("withdrawn_date"):
        yield "is archived, so it needs a withdrawn_date"
    if fields.get("life_cycle") != "archived" and fields.get("withdrawn_date"):
        yield "has a withdrawn_date, so its life_cycle must be archived"
    grants = fields.get("grants")
    if grants is None:
        return
    if not isinstance(grants, list):
        yield "grants must be a list such as [group:everyone]"
        return
    for grant in grants:
        if not isinstance(grant, str) or not _GRANT.fullmatch(grant):
            yield f"grant {grant!r} must read group:NAME or user:EMAIL"


def read_policies(root: Path = POLICIES) -> list[Policy]:
    """All policies under `root`, by tenant, slug and version.

    Raises PolicyInvalid with the faults of every file, and when two files claim one version or
    one slug changes its reference or access between versions.
    """
    policies: list[Policy] = []
    faults: list[str] = []
    for path in sorted(root.rglob("*.md")):
        try:
            policies.append(read_policy(path))
        except PolicyInvalid as error:
            faults.append(str(error))
    policies.sort(key=lambda policy: (policy.tenant, policy.slug, policy.version))
    faults.extend(_clashes(policies))
    if faults:
        raise PolicyInvalid("\n".join(faults))
    return policies


def _clashes(policies: Iterable[Policy]) -> Iterator[str]:
    by_slug: dict[tuple[str, str], list[Policy]] = {}
    by_reference: dict[tuple[str, str], Policy] = {}
    for policy in policies:
        by_slug.setdefault((policy.tenant, policy.slug), []).append(policy)
        holder = by_reference.setdefault((policy.tenant, policy.reference), policy)
        # A copy or a translation may carry its original's reference; two living rules may not.
        same = holder.slug == policy.slug or holder.language != policy.language
        if not same and {"duplicate"}.isdisjoint({holder.life_cycle, policy.life_cycle}):
            yield f"{policy.path}: reference {policy.reference} already belongs to {holder.path}"
    for versions in by_slug.values():
        numbers = [policy.version for policy in versions]
        if numbers != list(range(1, len(numbers) + 1)):
            paths = ", ".join(str(policy.path) for policy in versions)
            yield f"{paths}: versions must run 1, 2, …, each once; found {numbers}"
        for field in ("reference", "grants", "department", "language"):
            if len({getattr(policy, field) for policy in versions}) > 1:
                yield f"{versions[0].path}: its versions differ in '{field}'; make them agree"


def current_versions(policies: Iterable[Policy], *, today: dt.date) -> list[Policy]:
    """Of each document, the newest version already in force."""
    current: dict[tuple[str, str], Policy] = {}
    for policy in policies:
        if policy.effective_date <= today:
            held = current.get((policy.tenant, policy.slug))
            if held is None or held.version < policy.version:
                current[policy.tenant, policy.slug] = policy
    return list(current.values())
