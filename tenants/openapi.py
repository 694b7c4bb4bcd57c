"""How the API describes itself: camelCase names, both ways to sign in, and every refusal."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension

from .camel_case import camel


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = "tenants.authentication.BearerAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema):
        return {"type": "http", "scheme": "bearer"}


class SessionScheme(OpenApiAuthenticationExtension):
    target_class = "tenants.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema):
        return {"type": "apiKey", "in": "cookie", "name": "precept_session"}


PROBLEM = {
    "type": "object",
    "description": "Why a request was refused (RFC 9457). `code` is stable; the words may change.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "errors": {
            "type": "object",
            "additionalProperties": True,
            "description": "By field, what is wrong with it; where the code is `invalid`.",
        },
    },
    "required": ["type", "title", "status", "code", "detail"],
}
REFUSALS = {
    "400": "The request is not what this page says (`invalid`, `parse_error`).",
    "401": "Nobody is signed in, or the token is not valid (any more).",
    "403": "The token was not issued for this (`insufficient_scope`), or the session's call has no"
    " CSRF token (`permission_denied`).",
    "404": "It is not there, or not for this caller: the two are never told apart.",
    "406": "None of the media types in `Accept` is offered here.",
    "409": "The requestId was used for another question (`request_id_conflict`).",
    "413": "The request is too large.",
    "415": "The body has a media type that is not taken here.",
    "429": "Too much at once; `Retry-After` says when to come back (`rate_limited`).",
    "503": "What is asked for cannot be served at the moment (`source_unavailable`).",
}
NO_NUL = r"^[^\x00]*$"
NOT_BLANK = r"^[^\x00]*[^\x00\s][^\x00]*$"
HEADERS = {
    "401": {"WWW-Authenticate": {"schema": {"type": "string"}, "required": True}},
    "429": {
        "Retry-After": {
            "schema": {"type": "integer", "minimum": 1},
            "required": True,
            "description": "Seconds.",
        }
    },
}


def describe_refusals(result, generator, request, public):
    """Each operation names the refusals it can answer with; what is particular, its view says."""
    result["components"]["schemas"]["Problem"] = PROBLEM
    _say_what_text_is(result["components"]["schemas"])
    for path, operations in result["paths"].items():
        for operation in operations.values():
            statuses = {"401", "403", "406"}
            if operation.get("parameters"):
                statuses |= {"400"}
            if "{" in path:
                statuses |= {"404"}
            if "requestBody" in operation:
                _close(operation["requestBody"]["content"], result["components"]["schemas"])
                statuses |= {"400", "413", "415"}
            for status in sorted(statuses | set(operation.get("x-refusals", ()))):
                operation["responses"].setdefault(status, _refusal(status))
            operation.pop("x-refusals", None)
            operation["responses"] = dict(sorted(operation["responses"].items()))
    return result


def _say_what_text_is(schemas: dict[str, dict]) -> None:
    """No input takes a NUL, and where something has to be said, blanks do not say it."""
    inputs = [schema for name, schema in schemas.items() if name.endswith("Request")]
    fields = [field for schema in inputs for field in schema["properties"].values()]
    fields += [field["items"] for field in fields if field.get("type") == "array"]
    for field in fields:
        if field.get("type") == "string" and not field.keys() & {"format", "enum", "pattern"}:
            field["pattern"] = NOT_BLANK if field.get("minLength") else NO_NUL


def _close(content: dict[str, dict], schemas: dict[str, dict]) -> None:
    """A JSON body with a field that is not described is refused; see tenants.api.Input."""
    reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    if reference:
        schemas[reference.rpartition("/")[2]]["additionalProperties"] = False


def _refusal(status: str) -> dict[str, object]:
    schema = {"$ref": "#/components/schemas/Problem"}
    refusal = {
        "description": REFUSALS[status],
        "content": {"application/problem+json": {"schema": schema}},
    }
    return refusal | ({"headers": HEADERS[status]} if status in HEADERS else {})


def refusals(*statuses: int) -> dict[str, object]:
    """For `extend_schema(extensions=…)`: refusals besides those that every operation has."""
    return {"x-refusals": [str(status) for status in statuses]}


def camelize_schema(result, generator, request, public):
    _walk(result)
    return result


def _walk(node):
    if isinstance(node, dict):
        properties = node.get("properties")
        if isinstance(properties, dict):
            node["properties"] = {camel(key): value for key, value in properties.items()}
        if isinstance(node.get("required"), list):
            node["required"] = [camel(key) for key in node["required"]]
        for value in node.values():
            _walk(value)
    elif isinstance(node, list):
        for value in node:
            _walk(value)
