"""What every API room shares: strict input and errors as application/problem+json."""

from http import HTTPStatus

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    ValidationError,
)
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.response import Response
from rest_framework.views import APIView, set_rollback

from .selectors import NotFound

# What a field takes in JSON. REST framework would also take 0 for "0" and "yes" for true.
JSON_TYPES = {
    serializers.CharField: (str, "Write a string."),
    serializers.BooleanField: (bool, "Write true or false."),
}


class Input(serializers.Serializer):
    """Base of request bodies: a field it does not know is an error, and so is another type."""

    def to_internal_value(self, data):
        unknown = set(data) - set(self.fields)
        errors = {name: ["There is no such field."] for name in sorted(unknown)}
        for name in data.keys() & self.fields.keys():
            for kind, (taken, message) in JSON_TYPES.items():
                if isinstance(self.fields[name], kind) and not isinstance(data[name], taken):
                    errors[name] = [message]
        if errors:
            raise serializers.ValidationError(errors)
        return super().to_internal_value(data)


class Problem(exceptions.APIException):
    """An error with a stable code. Its sentence never hints at what the caller may not see."""

    def __init__(self, *, status_code: int, code: str, detail: str, retry_after: int | None = None):
        super().__init__(detail=detail, code=code)
        self.status_code = status_code
        self.stable_code = code
        self.wait = retry_after  # seconds; REST framework's name for it


def problem_handler(exc: Exception, context: dict) -> Response | None:
    """Maps every refusal to `{type, title, status, code, detail}`; unknown errors stay 500."""
    headers, errors = {}, None
    if isinstance(exc, Http404 | NotFound):
        code, http_status, detail = "not_found", status.HTTP_404_NOT_FOUND, "There is nothing here."
    elif isinstance(exc, PermissionDenied):
        code, http_status, detail = (
            "forbidden",
            status.HTTP_403_FORBIDDEN,
            "You do not have the role for this.",
        )
    elif isinstance(exc, ValidationError):
        code, http_status = "invalid", status.HTTP_400_BAD_REQUEST
        detail = " ".join(exc.messages)
    elif isinstance(exc, exceptions.ValidationError):
        code, http_status = "invalid", exc.status_code
        detail, errors = "The request is not valid; see errors.", exc.detail
    elif isinstance(exc, exceptions.APIException):
        code = getattr(exc, "stable_code", None) or getattr(exc, "default_code", "error")
        http_status, detail = exc.status_code, str(exc.detail)
        if getattr(exc, "auth_header", None):
            headers["WWW-Authenticate"] = exc.auth_header
        if getattr(exc, "wait", None):
            headers["Retry-After"] = str(int(exc.wait))
    elif isinstance(exc, RequestDataTooBig):
        code, http_status = "too_large", status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
        detail = "The request is too large."
    elif isinstance(exc, SuspiciousOperation):
        code, http_status = "invalid", status.HTTP_400_BAD_REQUEST
        detail = "The request cannot be read."
    else:
        return None
    set_rollback()
    body = {
        "type": "about:blank",
        "title": HTTPStatus(http_status).phrase,
        "status": http_status,
        "code": code,
        "detail": detail,
    }
    if errors is not None:
        body["errors"] = errors
    return Response(
        body, status=http_status, headers=headers, content_type="application/problem+json"
    )


@extend_schema(exclude=True)
class NothingHereView(APIView):
    """Paths under /v1/ that no room serves answer like objects that are not there."""

    token_uses = None

    def initial(self, request, *args, **kwargs):
        super().initial(request, *args, **kwargs)
        raise Http404
