"""Check that the demo bank agrees with itself: people, policies, PDFs and golden questions.

    python demo/check.py

A golden question is right when the person asking may read the document that answers it and can
read nothing that holds a forbidden word. Both are checked against the text of the PDFs.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from policy import CITABLE, DEMO, Policy, PolicyInvalid, current_versions, read_policies
from pypdf import PdfReader

KINDS = (
    "fact",
    "number",
    "condition",
    "identifier",
    "table",
    "version",
    "restricted",
    "no_answer",
    "cross_language",
    "mixed",
    "archived",
    "draft",
)
# Elsewhere a forbidden text may be a near miss: the wrong number of a readable look-alike.
STRICT = ("restricted", "no_answer", "version", "draft", "mixed", "archived")
ROLES = ("tenant_admin", "department_admin", "reviewer", "auditor", "employee")
EVERYONE = "everyone"
GOLDEN_FIELDS = (
    "id",
    "tenant",
    "question",
    "language",
    "kind",
    "as_user",
    "outcome",
    "required_text",
    "required_documents",
    "forbidden_text",
    "correct_answer",
)
# A question that repeats this many words of a policy in a row was copied, not asked.
COPIED_WORDS = 8


@dataclass(frozen=True, slots=True)
class Person:
    email: str
    tenant: str
    groups: frozenset[str]

    def may_read(self, policy: Policy) -> bool:
        if policy.tenant != self.tenant:
            return False
        mine = {f"group:{group}" for group in self.groups} | {f"user:{self.email}"}
        return not mine.isdisjoint(policy.grants)


@dataclass(frozen=True, slots=True)
class Library:
    policies: list[Policy]
    current: set[tuple[str, str, int]]
    text: dict[tuple[str, str, int], str]

    def words(self, policy: Policy) -> str:
        return self.text[key(policy)]

    def citable(self, policy: Policy) -> bool:
        return key(policy) in self.current and policy.life_cycle in CITABLE


def key(policy: Policy) -> tuple[str, str, int]:
    return policy.tenant, policy.slug, policy.version


def holds(text: str, words: str) -> bool:
    """Whether `words` stand in `text`, whole, whatever white space is between them."""
    pattern = r"\s*".join(re.escape(word) for word in words.split())
    return re.search(rf"(?<!\w){pattern}(?!\w|[.,]\d)", text, re.IGNORECASE) is not None


def check_bank(bank: dict[str, Any]) -> Iterator[str]:
    emails = Counter(p["email"] for tenant in bank["tenants"] for p in tenant["people"])
    yield from (f"bank.json: {email} appears {n} times" for email, n in emails.items() if n > 1)
    for tenant in bank["tenants"]:
        groups = [group["name"] for group in tenant["groups"]]
        if len(set(groups)) != len(groups) or EVERYONE in groups:
            yield f"bank.json: groups of {tenant['slug']} must be unique; 'everyone' is built in"
        for person in tenant["people"]:
            where = f"bank.json: {person['email']}"
            for group in sorted(set(person["groups"]) - set(groups)):
                yield f"{where} is in group '{group}', which {tenant['slug']} does not have"
            for role in person["roles"]:
                if role["role"] not in ROLES:
                    yield f"{where} has the unknown role '{role['role']}'"
                owns = role.get("department")
                if (role["role"] == "department_admin") != (owns in tenant["departments"]):
                    yield f"{where}: role {role} must name a department of the tenant, or none"


def people_of(bank: dict[str, Any]) -> dict[str, Person]:
    return {
        person["email"]: Person(
            email=person["email"],
            tenant=tenant["slug"],
            groups=frozenset([EVERYONE, *person["groups"]]),
        )
        for tenant in bank["tenants"]
        for person in tenant["people"]
    }


def check_policies(bank: dict[str, Any], policies: Iterable[Policy]) -> Iterator[str]:
    tenants = {tenant["slug"]: tenant for tenant in bank["tenants"]}
    people = people_of(bank)
    for policy in policies:
        tenant = tenants.get(policy.tenant)
        if tenant is None:
            yield f"{policy.path}: tenant '{policy.tenant}' is not in bank.json"
            continue
        if policy.department not in tenant["departments"]:
            yield f"{policy.path}: {policy.tenant} has no department '{policy.department}'"
        groups = {EVERYONE, *(group["name"] for group in tenant["groups"])}
        readers = [("owner", policy.owner)] + [
            ("grant", grant.partition(":")[2]) for grant in policy.grants if grant[0] == "u"
        ]
        for label, email in readers:
            if email not in people or people[email].tenant != policy.tenant:
                yield f"{policy.path}: {label} {email} is nobody at {policy.tenant}"
        for grant in policy.grants:
            if grant.startswith("group:") and grant.partition(":")[2] not in groups:
                yield f"{policy.path}: {policy.tenant} has no group for grant '{grant}'"


def read_library(policies: list[Policy]) -> Library:
    """The extracted text of each rendered policy. Raises PolicyInvalid when a PDF is missing."""
    text = {}
    for policy in policies:
        if not policy.pdf.exists():
            raise PolicyInvalid(f"{policy.pdf}: missing; run python demo/render.py")
        pages = PdfReader(policy.pdf).pages
        text[key(policy)] = "\n".join(page.extract_text() for page in pages)
    current = current_versions(policies, today=dt.date.today())
    return Library(policies=policies, current=set(map(key, current)), text=text)


def check_case(case: dict[str, Any], people: dict[str, Person], library: Library) -> Iterator[str]:
    missing = [field for field in GOLDEN_FIELDS if field not in case]
    extra = [field for field in case if field not in GOLDEN_FIELDS]
    if missing or extra:
        yield f"fields missing {missing}, unknown {extra}"
        return
    person = people.get(case["as_user"])
    if person is None or person.tenant != case["tenant"]:
        yield f"{case['as_user']} is nobody at {case['tenant']}"
        return
    if case["kind"] not in KINDS:
        yield f"kind '{case['kind']}' is not one of {', '.join(KINDS)}"
    if case["outcome"] not in ("answered", "abstained"):
        yield f"outcome '{case['outcome']}' must be answered or abstained"
    if (case["outcome"] == "answered") != bool(case["required_text"]):
        yield "an answered question needs required_text, an abstained one must have none"
    if bool(case["required_text"]) != bool(case["required_documents"]):
        yield "required_text and required_documents go together"
    yield from _required(case, person, library)
    yield from _forbidden(case, person, library)
    yield from _copied(case, library)


def _required(case: dict[str, Any], person: Person, library: Library) -> Iterator[str]:
    evidence = []
    for slug in case["required_documents"]:
        found = [
            policy
            for policy in library.policies
            if policy.slug == slug and person.may_read(policy) and library.citable(policy)
        ]
        if not found:
            yield f"{person.email} may not be answered from document '{slug}'"
        evidence.extend(found)
    for required in case["required_text"]:
        if evidence and not any(holds(library.words(p), required) for p in evidence):
            yield f"required text {required!r} is in none of {case['required_documents']}"


def _forbidden(case: dict[str, Any], person: Person, library: Library) -> Iterator[str]:
    for forbidden in case["forbidden_text"]:
        strict = case["kind"] in STRICT or not case["required_text"]
        holders = [p for p in library.policies if holds(library.words(p), forbidden)]
        if not holders:
            yield f"forbidden text {forbidden!r} is in no policy, so it forbids nothing"
        for policy in holders:
            if not person.may_read(policy):
                continue
            # Old versions and drafts may be granted; they may never be quoted.
            if case["kind"] == "restricted" or (strict and library.citable(policy)):
                yield f"forbidden text {forbidden!r} is in {policy.name}, granted to this person"


def _copied(case: dict[str, Any], library: Library) -> Iterator[str]:
    words = case["question"].split()
    for start in range(len(words) - COPIED_WORDS + 1):
        run = " ".join(words[start : start + COPIED_WORDS])
        for policy in library.policies:
            if holds(library.words(policy), run):
                yield f"question copies {COPIED_WORDS} words of {policy.name}; ask it in own words"
                return


def read_golden() -> list[dict[str, Any]]:
    cases = json.loads((DEMO / "golden.json").read_text(encoding="utf-8"))
    return [{**case, "id": case.get("id", "nameless")} for case in cases]


def counts(policies: list[Policy], cases: list[dict[str, Any]]) -> Iterator[str]:
    slugs = {(policy.tenant, policy.slug) for policy in policies}
    lines = {
        "documents": Counter(tenant for tenant, _ in slugs),
        "versions": Counter(policy.tenant for policy in policies),
        "languages": Counter(policy.language for policy in policies),
        "life-cycles": Counter(policy.life_cycle for policy in policies),
        "questions": Counter(case["tenant"] for case in cases),
        "kinds": Counter(case["kind"] for case in cases),
        "outcomes": Counter(case["outcome"] for case in cases),
    }
    for name, counter in lines.items():
        parts = ", ".join(f"{label} {n}" for label, n in sorted(counter.items()))
        yield f"{name:<12} {sum(counter.values()):>4}  ({parts})"
    restricted = {key(p)[:2] for p in policies if f"group:{EVERYONE}" not in p.grants}
    yield f"{'restricted':<12} {len(restricted):>4}  documents not granted to everyone"
    asked: dict[tuple[str, str], set[str]] = {}
    for case in cases:
        asked.setdefault((case["tenant"], case["question"]), set()).add(case["outcome"])
    both = sum(len(outcomes) > 1 for outcomes in asked.values())
    yield f"{'same words':<12} {both:>4}  questions answered for one person, not for another"


def main() -> int:
    bank = json.loads((DEMO / "bank.json").read_text(encoding="utf-8"))
    try:
        policies = read_policies()
        library = read_library(policies)
    except PolicyInvalid as error:
        print(error, file=sys.stderr)
        return 1
    faults = [*check_bank(bank), *check_policies(bank, policies)]
    people = people_of(bank)
    cases = read_golden()
    repeated = [name for name, n in Counter(case["id"] for case in cases).items() if n > 1]
    faults.extend(f"golden {name}: id is used twice" for name in repeated)
    for case in cases:
        faults.extend(
            f"golden {case['id']}: {fault}" for fault in check_case(case, people, library)
        )
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print("\n".join(counts(policies, cases)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
