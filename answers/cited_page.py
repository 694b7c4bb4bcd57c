"""A page of a source as an image, with the quote of one of the caller's own citations marked."""

from uuid import UUID

from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework import serializers

from documents.ingestion.extraction.sniff import Kind
from documents.selectors import readable_version_file
from documents.sources.api import (
    IF_NONE_MATCH,
    NOT_MODIFIED,
    BytesView,
    etag_of,
    intact,
    is_held,
    private,
)
from documents.sources.page_image import PageImageFailed, PageNotFound, render_page
from tenants.api import Problem
from tenants.openapi import refusals
from tenants.selectors import NotFound

from .selectors import own_citation

DRAWING = "1"  # raise it when the same page would be drawn otherwise


class MarkQuery(serializers.Serializer):
    answer = serializers.UUIDField(required=False, help_text="An own answer.")
    citation = serializers.IntegerField(
        required=False, min_value=1, max_value=1000, help_text="The citation of it to mark."
    )


class CitedPageView(BytesView):
    @extend_schema(
        operation_id="getSourcePage",
        parameters=[MarkQuery, IF_NONE_MATCH],
        responses={(200, "image/png"): OpenApiTypes.BINARY, 304: NOT_MODIFIED},
        extensions=refusals(503),
    )
    def get(self, request, document_id: UUID, number: int, page: int):
        """A page of a PDF as an image; with `answer` and `citation`, the quote is marked on it."""
        version, data = intact(
            readable_version_file, user=request.user, document_id=document_id, number=number
        )
        wanted = MarkQuery(data=request.query_params)
        wanted.is_valid(raise_exception=True)
        if version.media_type != Kind.PDF or not 1 <= page <= version.page_count:
            raise NotFound("There is nothing here.")
        cited = own_citation(
            user=request.user,
            version=version,
            answer_id=str(wanted.validated_data.get("answer", "")),
            number=str(wanted.validated_data.get("citation", "")),
        )
        quote = cited.quote if cited and cited.page == page else None
        # Known before it is drawn, which is the costly part.
        etag = etag_of("\n".join((DRAWING, version.sha256, str(page), quote or "")).encode())
        if is_held(request, etag):
            return private(request, b"", "image/png", etag=etag)
        try:
            image = render_page(data=data, page=page, quote=quote)
        except PageNotFound:
            raise NotFound("There is nothing here.") from None
        except PageImageFailed:
            raise Problem(
                status_code=503,
                code="source_unavailable",
                detail="This page cannot be drawn. Open the file instead.",
            ) from None
        return private(request, image.png, "image/png", etag=etag)
