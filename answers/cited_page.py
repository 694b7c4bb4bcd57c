"""A page of a source as an image, with the quote of one of the caller's own citations marked."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema

from documents.selectors import readable_version_file
from documents.sources.api import BytesView, intact, private
from documents.sources.page_image import PageImageFailed, PageNotFound, render_page
from tenants.api import Problem
from tenants.selectors import NotFound

from .selectors import own_citation


class CitedPageView(BytesView):
    @extend_schema(
        operation_id="getSourcePage",
        parameters=[
            OpenApiParameter("answer", OpenApiTypes.UUID, description="An own answer."),
            OpenApiParameter("citation", OpenApiTypes.INT, description="The citation to mark."),
        ],
        responses={(200, "image/png"): OpenApiTypes.BINARY},
    )
    def get(self, request, document_id: UUID, number: int, page: int):
        """A page as an image; with `answer` and `citation`, the quote is marked on it."""
        version, data = intact(
            readable_version_file, user=request.user, document_id=document_id, number=number
        )
        cited = own_citation(
            user=request.user,
            version=version,
            answer_id=request.query_params.get("answer", ""),
            number=request.query_params.get("citation", ""),
        )
        quote = cited.quote if cited and cited.page == page else None
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
        return private(image.png, "image/png")
