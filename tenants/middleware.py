"""Opens the tenant scope of the signed-in person for the length of a request; refuses odd encodings."""

from collections.abc import Callable
from contextlib import ExitStack

from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse

from . import selectors
from .scope import tell_database, tenant_scope

LOGIN_SESSION_KEY = "account_login"  # allauth's, between the two steps of a sign-in
_SECOND_STEP = "/accounts/second-factor/show/"


class TenantMiddleware:
    """The tenant comes from the account in the session or the token, never from the request's text."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        tell_database()  # a connection handed on from an earlier request forgets its tenant
        with ExitStack() as stack:
            # Sign-in and bearer tokens learn the tenant later and enter it here, for this request only.
            request.enter_tenant = lambda tenant_id: stack.enter_context(tenant_scope(tenant_id))
            tenant_id = selectors.tenant_of_user(_person(request))
            if tenant_id is not None:
                request.enter_tenant(tenant_id)
            response = self.get_response(request)
        # What one person may read is kept by nobody on the way, unless a view knows better.
        response.setdefault("Cache-Control", "private, no-store")
        return response


def _person(request: HttpRequest) -> str | None:
    """Who is signed in, or is showing a second factor. Leaving that page gives the sign-in up."""
    user_id = request.session.get(SESSION_KEY)
    if user_id is None and LOGIN_SESSION_KEY in request.session:
        if request.path_info == _SECOND_STEP:
            return (request.session[LOGIN_SESSION_KEY] or {}).get("user_pk")
        if request.path_info.startswith("/accounts/"):
            del request.session[LOGIN_SESSION_KEY]
    return user_id


class PlainTextMiddleware:
    """Text in another encoding than UTF-8 is refused before anything tries to read it."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        charset = request.content_params.get("charset", "utf-8")
        if charset.lower() not in ("utf-8", "utf8", "us-ascii"):
            return _refuse(request, "The request is not plain UTF-8 text.")
        return self.get_response(request)


def _refuse(request: HttpRequest, detail: str) -> HttpResponse:
    """In the shape that its reader expects: a problem for programs, a sentence for others."""
    if not request.path_info.startswith("/v1/"):
        return HttpResponseBadRequest(detail, content_type="text/plain; charset=utf-8")
    problem = {"type": "about:blank", "title": "Bad Request", "status": 400, "code": "invalid"}
    return JsonResponse(
        {**problem, "detail": detail}, status=400, content_type="application/problem+json"
    )
