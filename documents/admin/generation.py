"""Index generations: what each is made of, how far it is, what it cost. Changed by command only."""

from django.contrib import admin

from tenants.admin_base import PreceptModelAdmin
from tenants.models import Role

from ..models import IndexGeneration
from ..shadowing import with_comparisons


@admin.register(IndexGeneration)
class IndexGenerationAdmin(PreceptModelAdmin):
    view_roles = (Role.TENANT_ADMIN, Role.AUDITOR)
    section, order = "Oversight", 45
    plural = "Index generations"
    summary = "How documents are cut, embedded and ranked: what serves, what is being built."
    empty_text = "No generation yet: the first is made with the first document."
    list_display = ["name", "state", "chunking", "embedder", "progress", "cost", "alike"]
    list_filter = ["status"]
    fields = readonly_fields = [
        "name",
        "state",
        "chunking",
        "tokeniser",
        "embedder",
        "embedder_version",
        "dims",
        "ranking",
        "progress",
        "cost",
        "alike",
        "failure_reason",
        "created_at",
        "retired_at",
        "reclaimed_at",
    ]

    def visible_rows(self, request):
        return with_comparisons(super().visible_rows(request))

    @admin.display(description="state", ordering="status")
    def state(self, generation: IndexGeneration) -> str:
        if generation.reclaimed_at:
            return "Retired, its vectors deleted"
        if generation.failure_reason:
            return f"{generation.get_status_display()}: stopped"
        return generation.get_status_display()

    @admin.display(description="built")
    def progress(self, generation: IndexGeneration) -> str:
        if not generation.progress_total:
            return "–"
        return f"{generation.progress_done} of {generation.progress_total} versions"

    @admin.display(description="cost")
    def cost(self, generation: IndexGeneration) -> str:
        if not generation.passages_embedded:
            return "–"
        return (
            f"{generation.passages_embedded} passages embedded in {generation.seconds_spent:.0f} s"
        )

    @admin.display(description="found the same in shadow")
    def alike(self, generation: IndexGeneration) -> str:
        """The share of the best passages shown that this generation finds too."""
        if not generation.compared:
            return "–"
        return (
            f"{generation.overlap:.0%} of the best passages, over {generation.compared} questions"
        )
