"""Effective access: who reads a document, what a person reads, and what a change would do."""

from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.urls import path
from django.views.decorators.http import require_safe

from tenants.models import User
from tenants.selectors import departments_administered_by

from ..access import overseen_documents
from ..effective_access import AccessChange, readers_of, readings_of
from ..models import Document
from ..models.document import CITABLE

CONFIRMED = "access_confirmed"


class Unconfirmed(Exception):
    """The change would give or take access, and nobody has seen yet to whom. Nothing was written."""

    def __init__(self, document: Document, change: AccessChange):
        super().__init__(str(document.pk))
        self.document = document
        self.change = change


def check_confirmed(request: HttpRequest, document: Document, change: AccessChange) -> None:
    """Raises Unconfirmed unless exactly these gains and losses were confirmed."""
    if change and request.POST.get(CONFIRMED) != change.digest:
        raise Unconfirmed(document, change)


class EffectiveAccessPages:
    """Pages beside those of a document; each shows no more than the caller oversees."""

    def get_urls(self):
        wrap = self.admin_site.admin_view
        return [
            path(
                "<path:object_id>/readers/",
                wrap(require_safe(self.readers_view)),
                name="documents_readers",
            ),
            path(
                "readable-by/<uuid:user_id>/",
                wrap(require_safe(self.person_view)),
                name="documents_person",
            ),
            *super().get_urls(),
        ]

    def readers_view(self, request, object_id):
        """Everybody who may read it now, and through what."""
        document = self._document(request, object_id)
        context = {
            **self._page(request, f"Who may read “{document}” now"),
            "document": document,
            "rows": readers_of(document=document),
            "is_citable": document.life_cycle in CITABLE,
        }
        return TemplateResponse(request, "admin/documents/document/readers.html", context)

    def person_view(self, request, user_id):
        """What a person may read now of the documents the caller oversees, and through what."""
        person = User.objects.filter(pk=user_id).first()
        if person is None or not self.has_view_permission(request):
            raise Http404
        overseen = overseen_documents(user=request.user)
        whole = overseen.count() == Document.objects.filter(deleted_at=None).count()
        context = {
            **self._page(request, f"What {person} may read now"),
            "person": person,
            "rows": readings_of(person=person, among=overseen),
            "departments": [] if whole else departments_administered_by(request.user).distinct(),
        }
        return TemplateResponse(request, "admin/documents/document/person.html", context)

    def confirmation(self, request: HttpRequest, asked: Unconfirmed) -> TemplateResponse:
        return confirmation_page(request, asked, self._page(request, "Before this is saved"))

    def _page(self, request, title: str) -> dict[str, object]:
        return {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "page_name": self.page_name,
        }


def confirmation_page(request: HttpRequest, asked: Unconfirmed, page: dict) -> TemplateResponse:
    """The same input once more, behind a page that says who gains and who loses.

    `page` is the context of the admin page around it: title, opts, page_name.
    """
    kept = [
        (name, value)
        for name, values in request.POST.lists()
        for value in values
        if name not in (CONFIRMED, "csrfmiddlewaretoken")
    ]
    context = {
        **page,
        "document": asked.document,
        "change": asked.change,
        "kept": kept,
        "confirmed": CONFIRMED,
    }
    return TemplateResponse(request, "admin/documents/document/confirm_access.html", context)
