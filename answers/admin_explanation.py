"""The chain behind an answer as a page: for auditors and tenant administrators, metadata only."""

from django.http import Http404
from django.template.response import TemplateResponse
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from documents.access import overseen_documents
from documents.standing import IN_WORDS, Standing
from tenants.admin_base import holds
from tenants.models import Role

from .explanation import counted_out_in_words, explain

EXPLAINED_TO = (Role.TENANT_ADMIN, Role.AUDITOR)


class ExplanationPage:
    """Beside an answer's page. Titles only of documents whose metadata the caller oversees."""

    def get_urls(self):
        view = self.admin_site.admin_view(never_cache(require_safe(self.explanation_view)))
        return [
            path("<path:object_id>/explanation/", view, name="answers_answer_explanation"),
            *super().get_urls(),
        ]

    def explanation_view(self, request, object_id):
        answer = self.get_object(request, object_id) if holds(request, EXPLAINED_TO) else None
        if answer is None:
            raise Http404
        explained = explain(answer=answer, titles_of=overseen_documents(user=request.user))
        for permit in explained["permits"]:
            permit["in_words"] = counted_out_in_words(permit["counted_out"], permit["rejected"])
        for restart in explained["restarts"]:
            restart["in_words"] = counted_out_in_words(restart["counted_out"])
        for source in explained["sources_now"]:
            source["in_words"] = IN_WORDS[Standing(source["now"])]
        context = {
            **self.admin_site.each_context(request),
            "title": "How this answer came about",
            "opts": self.opts,
            "page_name": self.page_name,
            "answer": answer,
            "explained": explained,
        }
        return TemplateResponse(request, "admin/answers/answer/explanation.html", context)

    def render_change_form(self, request, context, add=False, change=False, form_url="", obj=None):
        context["is_explained"] = obj is not None and holds(request, EXPLAINED_TO)
        return super().render_change_form(request, context, add, change, form_url, obj)
