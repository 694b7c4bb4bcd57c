"""HTML for documents: what the person may read."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from tenants.views import personal_page

from .ingestion.normalise import one_line
from .models import LifeCycle
from .selectors import list_readable_documents

DOCUMENTS_PER_PAGE = 25
LONGEST_FILTER = 100


@require_safe
@personal_page
def documents(request: HttpRequest) -> HttpResponse:
    """Readable documents by title; `?q=` keeps those whose title or reference holds the words."""
    words = one_line(request.GET.get("q", ""))[:LONGEST_FILTER]
    found = list_readable_documents(user=request.user, matching=words)
    page = Paginator(found, DOCUMENTS_PER_PAGE).get_page(request.GET.get("page"))
    return render(
        request, "documents.html", {"page": page, "words": words, "archived": LifeCycle.ARCHIVED}
    )
