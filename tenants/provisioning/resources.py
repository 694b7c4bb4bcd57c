"""What is kept of SCIM users and groups, and how it reads and is read.

Of a user only what Precept needs: directories send more (telephone numbers, managers, addresses), which
is dropped on arrival and not announced among the schemas.
"""

from typing import Annotated, Any

from pydantic import Field
from scim2_models import (
    URN,
    AuthenticationScheme,
    Bulk,
    CaseExact,
    ChangePassword,
    ComplexAttribute,
    Email,
    ETag,
    Filter,
    Meta,
    Mutability,
    Patch,
    Reference,
    Required,
    Resource,
    ScimPolicy,
    ScimProvider,
    ServiceProviderConfig,
    Sort,
    Uniqueness,
)

from .models import ProvisionedAccount, ProvisionedGroup
from .services import Person

_KEPT = ("name", "displayName", "emails")


class Name(ComplexAttribute):
    formatted: str | None = None
    """The full name, formatted for display."""

    family_name: str | None = None
    """The family name."""

    given_name: str | None = None
    """The given name."""


class User(Resource[Any]):
    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:User")

    user_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """Unique among the provider's users; an e-mail address unless emails holds one."""

    name: Name | None = None
    """The components of the name."""

    display_name: str | None = None
    """The name of the User as it is shown."""

    emails: list[Email] | None = None
    """Addresses; the primary one is the account's."""

    active: bool | None = None
    """Whether the account may be used."""


class Member(ComplexAttribute):
    value: Annotated[str | None, Mutability.immutable, CaseExact.true] = None
    """The id of a User; groups within groups are not kept."""

    ref: Annotated[Reference[User] | None, Mutability.immutable] = Field(
        None, serialization_alias="$ref", validation_alias="$ref"
    )
    """The URI of the User."""

    type: Annotated[str | None, Mutability.immutable] = Field(None, examples=["User"])
    """Always User."""


class Group(Resource[Any]):
    __schema__ = URN("urn:ietf:params:scim:schemas:core:2.0:Group")

    display_name: Annotated[str | None, Uniqueness.server, Required.true] = None
    """What the provider's rules know the Group by, besides its externalId."""

    members: list[Member] | None = None
    """Users of the Group."""


# Okta and Entra depart from the specification in these ways; see docs/provisioning.md.
POLICY = ScimPolicy(
    unknown=ScimPolicy.Unknown.ignore,
    remove_value_as_filter=ScimPolicy.RemoveValue.apply,
    unmatched_path_filter=ScimPolicy.UnmatchedPathFilter.create,
)
CONFIG = ServiceProviderConfig(
    patch=Patch(supported=True),
    bulk=Bulk(supported=False, max_operations=0, max_payload_size=0),
    filter=Filter(supported=True, max_results=200),
    change_password=ChangePassword(supported=False),
    sort=Sort(supported=False),
    etag=ETag(supported=True),
    authentication_schemes=[
        AuthenticationScheme(
            type=AuthenticationScheme.Type.oauthbearertoken,
            name="Bearer token",
            description="A token that an administrator issues under Sign-in → Directories.",
        )
    ],
)
PROVIDER = ScimProvider(models=[User, Group], config=CONFIG, policy=POLICY)


def user_of(account: ProvisionedAccount) -> User:
    active = account.user.is_active
    return User.model_validate(
        {
            **account.attributes,
            "id": str(account.user_id),
            "externalId": account.external_id or None,
            "userName": account.user_name,
            "active": active,
            "meta": _meta("User", account, f"{account.revision}-{int(active)}"),
        }
    )


def group_of(group: ProvisionedGroup) -> Group:
    members = [
        Member(value=str(member.user_id), ref=f"Users/{member.user_id}", type="User")
        for member in group.members.all()
        if member.removed_at is None
    ]
    return Group(
        id=str(group.pk),
        external_id=group.external_id or None,
        display_name=group.name,
        members=members or None,
        meta=_meta("Group", group, str(group.revision)),
    )


def _meta(kind: str, row: ProvisionedAccount | ProvisionedGroup, version: str) -> Meta:
    return Meta(
        resource_type=kind,
        created=row.created_at,
        last_modified=row.changed_at,
        version=f'W/"{version}"',
    )


def person_of(user: User) -> Person:
    """What a resource says of its person."""
    said = user.model_dump()
    return Person(
        user_name=(user.user_name or "").strip(),
        email=_email_of(user),
        name=_name_of(user),
        active=user.active,
        external_id=user.external_id or "",
        attributes={key: said[key] for key in _KEPT if said.get(key)},
    )


def _email_of(user: User) -> str:
    addresses = sorted(user.emails or [], key=lambda one: not one.primary)  # the primary one first
    given = next((one.value for one in addresses if one.value), None) or user.user_name or ""
    return given.strip().lower() if "@" in given else ""


def _name_of(user: User) -> str:
    name = user.name or Name()
    parts = " ".join(part for part in (name.given_name, name.family_name) if part)
    return (user.display_name or name.formatted or parts).strip()[:200]


def members_of(group: Group) -> list[str]:
    return [str(member.value) for member in group.members or []]
