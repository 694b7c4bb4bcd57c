"""The chain behind an answer, for an auditor: permits, processors, versions, digest. No text."""

from uuid import UUID

from django.core.management.base import CommandError

from answers.models import Answer
from tenants.commands import EachTenantCommand
from tenants.selectors import NotFound


class Command(EachTenantCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("answer_id")

    def run(self, *, answer_id, **options):
        try:
            answer = Answer.objects.filter(pk=UUID(answer_id)).first()
        except ValueError:
            raise CommandError(f"'{answer_id}' is not an answer id.") from None
        if answer is None:
            raise NotFound(f"There is no answer {answer_id}.")
        release = getattr(answer, "release_permit", None)
        return {
            "answerId": str(answer.id),
            "askedBy": str(answer.user_id),
            "askedAt": answer.created_at,
            "outcome": answer.outcome,
            "reason": answer.reason or None,
            "attempts": answer.attempt,
            "generation": answer.generation_id_used,
            "generator": answer.generator,
            "model": answer.model or None,
            "promptVersion": answer.prompt_version or None,
            "signals": answer.signals,
            "permits": [
                {
                    "step": permit.step,
                    "attempt": permit.attempt,
                    "processor": permit.processor,
                    "documentVersions": permit.document_versions,
                    "accessRevisions": permit.access_revisions,
                    "rejected": permit.rejected,
                    "admittedAt": permit.admitted_at,
                }
                for permit in answer.permits.all()
            ],
            "release": release
            and {
                "digest": release.digest,
                "documentVersions": release.document_versions,
                "accessRevisions": release.access_revisions,
                "admittedAt": release.admitted_at,
                "consumedAt": release.consumed_at,
            },
        }
