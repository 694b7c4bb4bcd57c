"""A page of a source as an image, with the quote of one of the caller's own citations marked."""

from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, OpenApiTypes, extend_schema

from documents.models import DocumentVersion
from documents.selectors import readable_version_file
from documents.sources.api import BytesView, intact, private
from documents.sources.page_image import PageImageFailed, PageNotFound, render_page
from tenants.api import Problem
from tenants.models import User
from tenants.selectors import NotFound

from .selectors import get_own_answer, present_answer


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
        quote = cited_quote(
            user=request.user,
            version=version,
            page=page,
            answer_id=request.query_params.get("answer", ""),
            citation=request.query_params.get("citation", ""),
        )
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


def cited_quote(
    *, user: User, version: DocumentVersion, page: int, answer_id: str, citation: str
) -> str | None:
    """The quote of an own, still authorised citation of this page; None for anything else."""
    try:
        answer = get_own_answer(user=user, answer_id=UUID(answer_id))
        wanted = int(citation)
    except (ValueError, NotFound):
        return None
    for cited in present_answer(user=user, answer=answer).citations:
        same_place = cited.document_id == version.document_id and cited.version == version.number
        if cited.n == wanted and same_place and cited.page == page:
            return cited.quote
    return None
