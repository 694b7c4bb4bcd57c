"""The SCIM endpoint: a directory's token opens its own tenant, and nothing else opens it."""

import json
import logging

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from scim2_models import (
    Context,
    InvalidSyntaxException,
    PayloadTooLargeException,
    SCIMException,
    UnauthorizedException,
)
from scim2_server.handler import ScimHandler
from scim2_server.requests import ScimRequest
from scim2_server.responses import ScimResponse
from scim2_server.service import ScimService

from tenants.scope import ScopeConflict

from . import selectors, services
from .models import ScimToken
from .resources import PROVIDER
from .storage import DirectoryStorage

log = logging.getLogger(__name__)


class Service(ScimService):
    def patch_response(self, base_url, resource, response_parameters) -> ScimResponse:
        """Okta wants the user that a PATCH leaves; a group may have many members, so 204 is left."""
        if resource.meta.resource_type == "Group":
            return super().patch_response(base_url, resource, response_parameters)
        return self.resource_response(
            self.publish(base_url, resource),
            Context.RESOURCE_PATCH_RESPONSE,
            response_parameters,
        )


_service = Service(PROVIDER)


@csrf_exempt  # no cookie opens it
def scim(request: HttpRequest, resource: str = "") -> HttpResponse:
    try:
        token = _authenticate(request)
        storage = DirectoryStorage(token, writes=request.method not in ("GET", "HEAD"))
        answer = ScimHandler(_service, storage).handle(_request(request, resource))
    except Exception as error:
        if not isinstance(error, SCIMException):
            log.exception("A SCIM request failed")
        answer = _service.error_response(error)
    body = b"" if answer.body is None else json.dumps(answer.body).encode()
    return HttpResponse(body, status=int(answer.status), headers=answer.headers)


def _authenticate(request: HttpRequest) -> ScimToken:
    """The token, with its tenant's scope opened for this request. Why one does not work is not said."""
    kind, _, given = request.headers.get("Authorization", "").partition(" ")
    given = given.strip()
    if kind.lower() == "bearer" and given:
        tenant_id = selectors.tenant_of_scim_token(given)
        if tenant_id is not None:
            try:
                request.enter_tenant(tenant_id)
            except ScopeConflict:  # a session of another tenant came with it
                raise UnauthorizedException(detail="The token is not valid.") from None
            token = selectors.usable_scim_token(given)
            if token is not None:
                services.note_scim_token_use(token=token)
                return token
    raise UnauthorizedException(detail="The token is not valid.")


def _request(request: HttpRequest, resource: str) -> ScimRequest:
    try:
        body = request.body
    except RequestDataTooBig:
        raise PayloadTooLargeException(detail="The request is too large; send less.") from None
    query = request.GET.dict()
    if b"\\u0000" in body or any("\x00" in value for value in query.values()):
        raise InvalidSyntaxException(detail="Text holds a NUL character, which cannot be kept.")
    return ScimRequest(
        method="GET" if request.method == "HEAD" else request.method,
        base_url=request.build_absolute_uri("/scim/v2"),
        path=f"/{resource}",
        query=query,
        headers=dict(request.headers),
        body=body,
    )
