"""Count documents by life-cycle, department and state of their latest version."""

from collections import Counter

from documents.models import Document
from tenants.commands import PreceptCommand


class Command(PreceptCommand):
    help = __doc__

    def run(self, **options):
        documents = Document.objects.filter(deleted_at=None).select_related(
            "department", "current_version"
        )
        states, cycles, departments = Counter(), Counter(), Counter()
        for document in documents:
            cycles[document.life_cycle] += 1
            departments[document.department.name] += 1
            latest = document.versions.order_by("-number").first()
            states[latest.status if latest else "empty"] += 1
        return {
            "documents": sum(cycles.values()),
            "byLifeCycle": dict(cycles),
            "byDepartment": dict(departments),
            "latestVersion": dict(states),
        }
