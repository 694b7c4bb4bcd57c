"""Ask a question as a person, through the whole pipeline."""

import uuid

from answers import services
from answers.models import Channel, Outcome
from answers.present import answer_object
from answers.transport import answer_to_the_end
from tenants.camel_case import camel, rename_keys
from tenants.commands import PersonCommand
from tenants.selectors import user_by_email


class Command(PersonCommand):
    help = __doc__
    email_option = "user"

    def add_command_arguments(self, parser):
        parser.add_argument("question")
        parser.add_argument("--user", required=True, metavar="EMAIL")
        parser.add_argument("--language")

    def run(self, *, question, user, language, **options):
        person = user_by_email(user)
        started = services.start_answer(
            user=person,
            request_id=f"cli-{uuid.uuid4()}",
            question=question,
            language=language,
            channel=Channel.COMMAND,
            counted=False,
        )
        view = answer_to_the_end(user=person, started=started)
        return rename_keys(answer_object(view), camel)

    def describe(self, result):
        lines = [result["message"]] if result["message"] else []
        for claim in result["claims"]:
            marks = "".join(f"[{n}]" for n in claim["citations"])
            lines.append(f"{claim['text']} {marks}")
        for one in result["citations"]:
            lines.append(
                f"[{one['n']}] {one['title']}, version {one['version']}, page {one['page']}"
            )
        return "\n".join(lines)

    def failed(self, result):
        return result["outcome"] in (Outcome.UNAVAILABLE, Outcome.INTERRUPTED)
