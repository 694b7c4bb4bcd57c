"""The chain behind an answer, for an auditor: permits, processors, digest, then and now. No text."""

from uuid import UUID

from django.core.management.base import CommandError

from answers.explanation import explain, in_words
from answers.models import Answer
from documents.models import Document
from tenants.camel_case import camel, rename_keys
from tenants.commands import EachTenantCommand
from tenants.selectors import NotFound


class Command(EachTenantCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument("answer_id")

    def run(self, *, answer_id, **options):
        try:
            answer = Answer.objects.select_related("user").filter(pk=UUID(answer_id)).first()
        except ValueError:
            raise CommandError(f"'{answer_id}' is not an answer id.") from None
        if answer is None:
            raise NotFound(f"There is no answer {answer_id}.")
        explained = explain(answer=answer, titles_of=Document.objects.all())
        if not options["json"]:
            return explained
        return rename_keys(explained, camel) | {"signals": answer.signals}

    def describe(self, result):
        return in_words(result)
