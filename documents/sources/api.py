"""HTTP for sources: text, page images and files of versions the caller may cite now."""

import hashlib
from uuid import UUID

from django.http import HttpResponse
from django.utils.http import parse_etags
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    OpenApiTypes,
    extend_schema,
)
from rest_framework import renderers, serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from documents import selectors, storage
from documents.access import get_readable_version
from documents.ingestion.extraction.sniff import ENDINGS
from tenants.api import Problem
from tenants.camel_case import CamelCaseJSONRenderer
from tenants.models import TokenUse
from tenants.openapi import refusals

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="The ETag of what one holds."
)
NOT_MODIFIED = OpenApiResponse(description="Still the same, and still to be read by the caller.")


OPENED_IN_THE_BROWSER = {"application/pdf"}
UNKNOWN_TYPE = "application/octet-stream"
# Browsers' PDF viewers do not open in a sandbox, and have one of their own.
SANDBOXED = "default-src 'none'; frame-ancestors 'none'; sandbox"


class PageOutput(serializers.Serializer):
    page = serializers.IntegerField()
    start = serializers.IntegerField()
    end = serializers.IntegerField()


class SourceOutput(serializers.Serializer):
    document_id = serializers.UUIDField()
    title = serializers.CharField()
    reference = serializers.CharField(allow_blank=True)
    version = serializers.IntegerField()
    page_count = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Of the file.")
    text_sha256 = serializers.CharField(help_text="Of the UTF-8 text.")
    effective_date = serializers.DateField(allow_null=True)
    withdrawn_date = serializers.DateField(allow_null=True)
    pages = PageOutput(many=True, help_text="Where each page lies in the text, in code points.")


class AnyRenderer(renderers.BaseRenderer):
    """The bytes have their own type; errors under these URLs are still problem+json."""

    media_type = "*/*"
    format = ""
    charset = None

    def render(self, data, accepted_media_type=None, renderer_context=None):
        return CamelCaseJSONRenderer().render(data)


class SourceView(APIView):
    token_uses = {"GET": TokenUse.READ}

    @extend_schema(operation_id="getSource", responses=SourceOutput)
    def get(self, request, document_id: UUID, number: int) -> Response:
        """A version's metadata and page map."""
        version = get_readable_version(user=request.user, document_id=document_id, number=number)
        document = version.document
        return Response(
            {
                "document_id": document.id,
                "title": document.title,
                "reference": document.reference,
                "version": version.number,
                "page_count": version.page_count,
                "sha256": version.sha256,
                "text_sha256": version.text_sha256,
                "effective_date": document.effective_date,
                "withdrawn_date": document.withdrawn_date,
                "pages": [
                    {"page": page, "start": start, "end": end}
                    for page, start, end in version.page_map
                ],
            }
        )


class BytesView(APIView):
    token_uses = {"GET": TokenUse.READ}
    renderer_classes = [AnyRenderer]


class TextView(BytesView):
    @extend_schema(
        operation_id="getSourceText",
        responses={(200, "text/plain"): OpenApiTypes.STR, 304: NOT_MODIFIED},
        parameters=[IF_NONE_MATCH],
        extensions=refusals(503),
    )
    def get(self, request, document_id: UUID, number: int) -> HttpResponse:
        """The extracted text that citation offsets count into."""
        text = intact(
            selectors.readable_version_text,
            user=request.user,
            document_id=document_id,
            number=number,
        )
        return private(request, text.encode(), "text/plain; charset=utf-8")


class FileView(BytesView):
    @extend_schema(
        operation_id="getSourceFile",
        responses={
            (200, "application/pdf"): OpenApiTypes.BINARY,
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            304: NOT_MODIFIED,
        },
        parameters=[IF_NONE_MATCH],
        extensions=refusals(503),
    )
    def get(self, request, document_id: UUID, number: int) -> HttpResponse:
        """The file as it was uploaded; one that is no PDF is only ever downloaded."""
        version, data = intact(
            selectors.readable_version_file,
            user=request.user,
            document_id=document_id,
            number=number,
        )
        # What a browser opens by itself is on a list; anything else is only ever downloaded. The
        # name in the address bar is ours, so nothing of the uploaded file's name is repeated.
        opens = version.media_type in OPENED_IN_THE_BROWSER
        name = f"{document_id}-v{version.number}.{ENDINGS.get(version.media_type, 'bin')}"
        response = private(request, data, version.media_type if opens else UNKNOWN_TYPE)
        response["Content-Disposition"] = (
            f'{"inline" if opens else "attachment"}; filename="{name}"'
        )
        return response


def intact(read, **which):
    """Call a selector that reads stored bytes; damage becomes a 503 with a stable code."""
    try:
        return read(**which)
    except storage.ObjectMissing:
        raise Problem(
            status_code=503,
            code="source_unavailable",
            detail="The source could not be read intact. The operator has to restore it.",
        ) from None


def private(request, data: bytes, content_type: str, *, etag: str = "") -> HttpResponse:
    """Bytes for this caller only: kept by no cache, but a program that kept them may ask again.

    Call it after the caller was authorised: 304 then says that what it holds may still be read.
    """
    etag = etag or etag_of(data)
    held = is_held(request, etag)
    response = HttpResponse(status=304) if held else HttpResponse(data, content_type=content_type)
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-store"
    if content_type not in OPENED_IN_THE_BROWSER:
        response["Content-Security-Policy"] = SANDBOXED
    return response


def etag_of(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()}"'


def is_held(request, etag: str) -> bool:
    """Whether `If-None-Match` says that the caller has these very bytes."""
    held = parse_etags(request.headers.get("If-None-Match", ""))
    return "*" in held or etag in {tag.removeprefix("W/") for tag in held}
