"""JSON travels in camelCase; Python keeps snake_case. The border between the two."""

import json
import re

from rest_framework import exceptions, parsers, renderers


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
        try:
            data = super().parse(stream, media_type, parser_context)
            if not isinstance(data, dict):
                raise exceptions.ParseError("The body must be a JSON object.")
            # Half of a surrogate pair is JSON but not text: no answer could repeat it.
            json.dumps(data, ensure_ascii=False).encode()
            return rename_keys(data, snake)
        except (RecursionError, UnicodeEncodeError):
            raise exceptions.ParseError("The body is not the JSON of this API.") from None
