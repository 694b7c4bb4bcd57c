"""The schema shows names as they travel: camelCase."""

from .camel_case import camel


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
