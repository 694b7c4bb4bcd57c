"""The storage that the SCIM library reads and writes through: selectors and services of one token."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from scim2_models import (
    InvalidValueException,
    NotFoundException,
    PreconditionFailedException,
    Resource,
    ResourceType,
    ScimFilter,
    SearchRequest,
    UniquenessException,
)
from scim2_models.path import CompareOperator, Comparison
from scim2_server.storage import ScimStorage, SearchPage

from tenants.selectors import NotFound

from . import selectors, services
from .models import ProvisionedAccount, ProvisionedGroup, ScimToken
from .resources import Group, group_of, members_of, person_of, user_of

# What directories look for, by column; the rest is looked for among all.
_COLUMNS = {
    "User": {"username": "user_name__iexact", "externalid": "external_id"},
    "Group": {"displayname": "name__iexact", "externalid": "external_id"},
}


@contextmanager
def _in_scim_words() -> Iterator[None]:
    try:
        yield
    except NotFound as error:
        raise NotFoundException(detail=str(error)) from None
    except services.Taken as error:
        raise UniquenessException(detail=str(error)) from None
    except ValidationError as error:
        raise InvalidValueException(detail=" ".join(error.messages)) from None


class DirectoryStorage(ScimStorage):
    """What one directory may see and change. Built for one request."""

    def __init__(self, token: ScimToken, *, writes: bool):
        self._token, self._provider, self._writes = token, token.provider, writes

    @contextmanager
    def operation(self) -> Iterator[None]:
        with transaction.atomic():
            if self._writes:
                services.wait_for_others(provider=self._provider)
            yield

    def get(self, resource_type: ResourceType, resource_id: str, *, response_parameters=None):
        return _resource(self._row(resource_type, resource_id))

    def search(
        self, resource_types: list[ResourceType], search_request: SearchRequest, *, position=None
    ) -> SearchPage:
        start, count = search_request.start_index_0 or 0, search_request.count
        wanted = search_request.filter
        if wanted is None and len(resource_types) == 1:
            rows = self._rows(resource_types[0])
            page = rows[start:] if count is None else rows[start : start + count]
            return SearchPage(rows.count(), [_resource(row) for row in page])
        found = [
            resource
            for kind in resource_types
            for resource in map(_resource, _narrowed(self._rows(kind), kind.name, wanted))
            if wanted is None or wanted.match(resource)
        ]
        return SearchPage(len(found), found[start:] if count is None else found[start:][:count])

    def create(self, resource_type: ResourceType, resource: Resource) -> Resource:
        with _in_scim_words():
            if isinstance(resource, Group):
                row = services.create_group(token=self._token, **_said(resource))
            else:
                row = services.create_account(token=self._token, person=person_of(resource))
        return self.get(resource_type, _key(row))

    def update(
        self, resource_type: ResourceType, resource: Resource, *, expected_version=None
    ) -> Resource:
        row = self._row(resource_type, resource.id, expected_version)
        with _in_scim_words():
            if isinstance(row, ProvisionedGroup):
                services.change_group(token=self._token, group=row, **_said(resource))
            else:
                services.change_account(token=self._token, account=row, person=person_of(resource))
        return self.get(resource_type, _key(row))

    def delete(
        self, resource_type: ResourceType, resource_id: str, *, expected_version=None
    ) -> None:
        row = self._row(resource_type, resource_id, expected_version)
        with _in_scim_words():
            if isinstance(row, ProvisionedGroup):
                services.remove_group(token=self._token, group=row)
            else:
                services.remove_account(token=self._token, account=row)

    def _rows(self, kind: ResourceType) -> QuerySet:
        rows = selectors.accounts if kind.name == "User" else selectors.groups
        return rows(self._provider)

    def _row(self, kind: ResourceType, key: str, expected_version: str | None = None):
        find = selectors.account_of if kind.name == "User" else selectors.group_of
        with _in_scim_words():
            row = find(self._provider, key)
        if expected_version is not None and _resource(row).meta.version != expected_version:
            raise PreconditionFailedException
        return row


def _resource(row: ProvisionedAccount | ProvisionedGroup) -> Resource:
    return user_of(row) if isinstance(row, ProvisionedAccount) else group_of(row)


def _key(row: ProvisionedAccount | ProvisionedGroup) -> str:
    return str(row.user_id if isinstance(row, ProvisionedAccount) else row.pk)


def _said(group: Group) -> dict:
    return {
        "name": (group.display_name or "").strip(),
        "external_id": group.external_id or "",
        "members": members_of(group),
    }


def _narrowed(rows: QuerySet, kind: str, wanted: ScimFilter | None) -> QuerySet:
    """The rows that can match at all; which do is the filter's to say."""
    node = wanted and wanted.ast
    if not isinstance(node, Comparison) or node.op != CompareOperator.eq:
        return rows
    column = _COLUMNS[kind].get(str(node.attr_path).rpartition(":")[2].lower())
    return rows.filter(**{column: node.value}) if column and isinstance(node.value, str) else rows
