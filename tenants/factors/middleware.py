"""Until a session has shown the second factor that its tenant asks for, it opens the pages to set one up."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect

from .selectors import lacks_factor

_OPEN = ("/accounts/", "/static/", "/healthz", "/readyz", "/metrics")
_PROBLEM = {
    "type": "about:blank",
    "title": "Forbidden",
    "status": 403,
    "code": "second_factor_required",
    "detail": "Sign in with a second factor first; set one up in the browser.",
}


class SecondFactorMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]):
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith(_OPEN) or not lacks_factor(request):
            return self.get_response(request)
        if request.path_info.startswith("/v1/"):
            return JsonResponse(_PROBLEM, status=403, content_type="application/problem+json")
        return redirect("mfa_index")
