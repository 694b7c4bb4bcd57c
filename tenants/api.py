"""What every API room shares: camelCase JSON and errors as application/problem+json."""

import re

from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404
from rest_framework import exceptions, parsers, renderers, serializers, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from .selectors import NotFound


def camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in rest)


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def rename_keys(value, rename):
    if isinstance(value, dict):
        return {rename(str(key)): rename_keys(item, rename) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [rename_keys(item, rename) for item in value]
    return value


class CamelCaseJSONRenderer(renderers.JSONRenderer):
    def render(self, data, accepted_media_type=None, renderer_context=None):
        return super().render(rename_keys(data, camel), accepted_media_type, renderer_context)


class CamelCaseJSONParser(parsers.JSONParser):
    def parse(self, stream, media_type=None, parser_context=None):
        data = super().parse(stream, media_type, parser_context)
        if not isinstance(data, dict):
            raise exceptions.ParseError("The body must be a JSON object.")
        return rename_keys(data, snake)


class Input(serializers.Serializer):
    """Base of request bodies: a field it does not know is an error, never silently dropped."""

    def to_internal_value(self, data):
        unknown = set(data) - set(self.fields)
        if unknown:
            raise serializers.ValidationError(
                {name: ["There is no such field."] for name in sorted(unknown)}
            )
        return super().to_internal_value(data)


class Problem(exceptions.APIException):
    """An error with a stable code. Its sentence never hints at what the caller may not see."""

    def __init__(self, *, status_code: int, code: str, detail: str):
        super().__init__(detail=detail, code=code)
        self.status_code = status_code
        self.stable_code = code


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
    else:
        return None
    set_rollback()
    body = {
        "type": "about:blank",
        "title": detail.split(".")[0],
        "status": http_status,
        "code": code,
        "detail": detail,
    }
    if errors is not None:
        body["errors"] = errors
    return Response(body, status=http_status, headers=headers, content_type="application/problem+json")
