"""How the API describes itself: camelCase names, and both ways to sign in."""

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
