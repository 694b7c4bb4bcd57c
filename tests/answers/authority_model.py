"""The authority's protocol in a few dozen lines: what each decision must be, given what was done.

Names are whatever the driver likes; a version is named by its number. Each method is one committed
step. Changes raise the revisions that the product's triggers raise.
"""

from dataclasses import dataclass, field

SOURCES_CHANGED = "sources changed"
PERMIT_REFUSED = "permit refused"
RELEASED = "released"
ENDED = "ended"

CITABLE = ("vetted", "archived")


@dataclass
class Person:
    active: bool = True
    groups: set = field(default_factory=set)
    revision: int = 0


@dataclass
class Document:
    readers: set = field(default_factory=set)  # of people and groups
    version: int = 1
    life_cycle: str = "vetted"
    deleted: bool = False
    revision: int = 0


@dataclass(frozen=True)
class Permit:
    """What a context or release permit must say. `sources` are (document, version), sorted."""

    caller: object
    answer: object
    step: str
    sources: tuple
    rejected: int
    revisions: dict = field(hash=False)


class Authority:
    def __init__(self):
        self.people: dict[object, Person] = {}
        self.documents: dict[object, Document] = {}
        self.released: set = set()  # answers
        self.consumed: set = set()  # answers

    def eligible(self, person, document, version) -> bool:
        reader, source = self.people[person], self.documents[document]
        return (
            reader.active
            and not source.deleted
            and source.life_cycle in CITABLE
            and source.version == version
            and bool(source.readers & {person, *reader.groups})
        )

    def admit(self, person, answer, step, sources, *, all_or_nothing=False) -> Permit | str:
        allowed = tuple(sorted(source for source in sources if self.eligible(person, *source)))
        if all_or_nothing and len(allowed) < len(sources):
            return SOURCES_CHANGED
        rejected = len(sources) - len(allowed)
        return Permit(person, answer, step, allowed, rejected, self._revisions(person, allowed))

    def release(self, answer, permit: Permit) -> Permit | str:
        if not all(self.eligible(permit.caller, *source) for source in permit.sources):
            return SOURCES_CHANGED
        if permit.step != "generate" or permit.answer != answer or not permit.sources:
            return PERMIT_REFUSED
        if answer in self.released:
            return ENDED
        self.released.add(answer)
        revisions = self._revisions(permit.caller, permit.sources)
        return Permit(permit.caller, answer, RELEASED, permit.sources, 0, revisions)

    def consume(self, person, permit: Permit) -> bool:
        allowed = person == permit.caller and permit.answer not in self.consumed
        if allowed:
            self.consumed.add(permit.answer)
        return allowed

    def may_read_again(self, permit: Permit) -> bool:
        return all(self.eligible(permit.caller, *source) for source in permit.sources)

    def _revisions(self, person, sources) -> dict:
        seen = {document: self.documents[document].revision for document, _ in sources}
        return seen | ({person: self.people[person].revision} if sources else {})

    # --- Changes of eligibility ---

    def grant(self, document, subject) -> None:
        self._set(self.documents[document], "readers", subject, there=True)

    def revoke(self, document, subject) -> None:
        self._set(self.documents[document], "readers", subject, there=False)

    def join(self, person, group) -> None:
        self._set(self.people[person], "groups", group, there=True)

    def leave(self, person, group) -> None:
        self._set(self.people[person], "groups", group, there=False)

    def set_active(self, person, active) -> None:
        if self.people[person].active != active:
            self.people[person].active = active
            self.people[person].revision += 1

    def delete(self, document) -> None:
        if not self.documents[document].deleted:
            self.documents[document].deleted = True
            self.documents[document].revision += 1

    def set_life_cycle(self, document, life_cycle) -> None:
        if self.documents[document].life_cycle != life_cycle:
            self.documents[document].life_cycle = life_cycle
            self.documents[document].revision += 1

    def publish(self, document, version) -> None:
        """Also putting in force what is in force counts as a change."""
        self.documents[document].version = version
        self.documents[document].revision += 1

    @staticmethod
    def _set(thing, names, name, *, there) -> None:
        if (name in getattr(thing, names)) != there:
            (set.add if there else set.discard)(getattr(thing, names), name)
            thing.revision += 1
