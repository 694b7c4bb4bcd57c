"""Load the demo bank if the database is empty, and show how far its indexing is."""

import logging
import time

from documents.embedding import keep_to_one_thread
from documents.ingestion.job import ingest_version
from documents.models import UNFINISHED, DocumentVersion
from evaluation.demo_bank import bank, create_demo_bank, demo_people, pending_versions
from tenants.commands import PreceptCommand
from tenants.scope import tenant_scope
from tenants.selectors import NotFound, all_tenant_ids, tenant_of_slug

# Printed at every start: the demo is for looking at, not for keeping anything in.
PASSWORD = "precept-demo"  # noqa: S105
LOOK_EVERY_SECONDS = 1
SAY_EVERY_VERSIONS = 5


class Command(PreceptCommand):
    help = __doc__
    needs_tenant = False

    def add_command_arguments(self, parser):
        parser.add_argument(
            "--inline", action="store_true", help="index here instead of waiting for the worker"
        )
        parser.add_argument("--no-wait", action="store_true", help="leave the indexing running")

    def run(self, *, inline, no_wait, **options):
        if not all_tenant_ids():
            self.say("Loading the demo bank: people, documents, golden questions.")
            create_demo_bank(password=PASSWORD)
        elif not self._is_demo():
            self.say("The database holds other tenants; the demo bank is not loaded.")
            return {"loaded": False}
        if inline:
            self._index_here()
        elif not no_wait:
            self._watch()
        finished, total = pending_versions()
        return {
            "loaded": True,
            "versions": total,
            "finished": finished,
            "password": PASSWORD,
            "people": [
                {"tenant": tenant, "email": email, "note": note}
                for tenant, email, note in demo_people()
            ],
        }

    def describe(self, result):
        if not result["loaded"]:
            return None
        lines = [f"Demo logins (password for all: {PASSWORD}):"]
        for person in result["people"]:
            lines.append(f"  {person['email']:<38} {person['note']}")
        return "\n".join(lines)

    def _is_demo(self) -> bool:
        try:
            return all(tenant_of_slug(tenant["slug"]) for tenant in bank()["tenants"])
        except NotFound:
            return False

    def _watch(self) -> None:
        """Until all is indexed. Nobody has asked yet, so this process indexes along with the worker."""
        keep_to_one_thread()
        logging.getLogger("precept").setLevel(logging.WARNING)  # the lines below tell how far it is
        shown = -1
        while True:
            finished, total = pending_versions()
            if finished // SAY_EVERY_VERSIONS != shown or finished == total:
                shown = finished // SAY_EVERY_VERSIONS
                self.say(f"Indexed {finished} of {total} document versions.")
            if finished == total:
                return
            if not self._index_one():
                time.sleep(LOOK_EVERY_SECONDS)

    def _index_one(self) -> bool:
        """One that nobody was handed yet, from the end: the worker begins at the other.

        What was postponed is left to the dispatcher, which waits as long as it should. False when
        there is none.
        """
        for tenant in bank()["tenants"]:
            with tenant_scope(tenant_of_slug(tenant["slug"])):
                waiting = DocumentVersion.objects.filter(status__in=UNFINISHED, lease_until=None)
                version = waiting.order_by("-created_at").first()
                if version:
                    ingest_version(version_id=version.pk)
                    return True
        return False

    def _index_here(self) -> None:
        for tenant in bank()["tenants"]:
            with tenant_scope(tenant_of_slug(tenant["slug"])):
                unfinished = DocumentVersion.objects.filter(status__in=UNFINISHED)
                for version_id in list(unfinished.values_list("id", flat=True)):
                    ingest_version(version_id=version_id)
            finished, total = pending_versions()
            self.say(f"Indexed {finished} of {total} document versions.")
