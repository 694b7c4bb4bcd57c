"""The source viewer: a page of a document, and beside it the words an answer quoted from it."""

from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from documents.access import get_readable_version
from documents.ingestion.extraction.sniff import Kind
from documents.models import DocumentVersion, LifeCycle
from documents.selectors import readable_version_text
from documents.storage import ObjectMissing
from tenants.models import User
from tenants.selectors import NotFound
from tenants.views import personal_page

from .selectors import CitationView, own_citation


@dataclass(frozen=True, slots=True)
class PageText:
    """A page's words, split where the quote begins and ends; an alternative to the picture."""

    before: str
    quote: str
    after: str


@require_safe
@personal_page
def source(request: HttpRequest, document_id: UUID, number: int) -> HttpResponse:
    """A page of a version in force, for whoever may read it now; without `page`, the cited one."""
    version = get_readable_version(user=request.user, document_id=document_id, number=number)
    cited = own_citation(
        user=request.user,
        version=version,
        answer_id=request.GET.get("answer", ""),
        number=request.GET.get("citation", ""),
    )
    page = _page_number(request.GET.get("page"), default=cited.page if cited else 1)
    if not 1 <= page <= version.page_count:
        raise NotFound("There is nothing here.")
    kept = {"answer": request.GET["answer"], "citation": cited.n} if cited else {}
    context = {
        "version": version,
        "document": version.document,
        "archived": version.document.life_cycle == LifeCycle.ARCHIVED,
        "page": page,
        "cited": cited,
        "is_drawn": version.media_type == Kind.PDF,
        "page_label": version.printed_label(page),
        "recognised": page in version.recognised_pages,
        "quote_is_here": cited is not None and cited.page == page,
        "text": _page_text(request.user, version, page, cited),
        "image_url": _with_query(
            reverse("api_source_page", args=[document_id, number, page]), kept
        ),
        "previous_url": page > 1 and _page_url(version, page - 1, kept),
        "next_url": page < version.page_count and _page_url(version, page + 1, kept),
        "quote_url": cited and _page_url(version, cited.page, kept),
    }
    return render(request, "source.html", context)


def _page_number(given: str | None, *, default: int) -> int:
    if given is None:
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 7):
        raise NotFound("There is nothing here.")
    return int(given)


def _page_url(version: DocumentVersion, page: int, kept: dict[str, object]) -> str:
    path = reverse("source", args=[version.document_id, version.number])
    return _with_query(path, {"page": page, **kept})


def _with_query(path: str, query: dict[str, object]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _page_text(
    user: User, version: DocumentVersion, page: int, cited: CitationView | None
) -> PageText | None:
    """None if the stored text is damaged; the picture may still be whole."""
    try:
        text = readable_version_text(
            user=user, document_id=version.document_id, number=version.number
        )
    except ObjectMissing:
        return None
    start, end = next((a, b) for number, a, b in version.page_map if number == page)
    if cited is None or not start <= cited.start_offset < cited.end_offset <= end:
        return PageText(before=text[start:end], quote="", after="")
    return PageText(
        before=text[start : cited.start_offset],
        quote=text[cited.start_offset : cited.end_offset],
        after=text[cited.end_offset : end],
    )
