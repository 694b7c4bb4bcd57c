"""What writes answers (generator, prompt, reranker): list, adopt what the settings say, roll back."""

from django.core.management.base import CommandError

from answers.configurations import is_available, propose, roll_back_configuration
from answers.models import AnswerConfiguration
from documents.serving import PromotionConflict
from evaluation.gates import adopt
from tenants.commands import PreceptCommand

ACTIONS = {
    "list": "every configuration and its state",
    "propose": "make what the settings and this release say a candidate",
    "adopt": "run the cases with it, and let it answer when the gate lets it",
    "rollback": "let the one answer again that answered before",
}


class Command(PreceptCommand):
    help = __doc__

    def add_command_arguments(self, parser):
        parser.add_argument(
            "action", choices=ACTIONS, help="; ".join(map(": ".join, ACTIONS.items()))
        )

    def run(self, *, action, **options):
        try:
            if action == "list":
                return [_summary(one) for one in AnswerConfiguration.objects.order_by("created_at")]
            if action == "propose":
                return _summary(propose())
            if action == "adopt":
                return _summary(adopt(progress=self._progress))
            return _summary(roll_back_configuration())
        except PromotionConflict as refused:
            raise CommandError(str(refused)) from refused

    def _progress(self, done: int, total: int) -> None:
        if done % 20 == 0 or done == total:
            self.say(f"{done} of {total} cases")


def _summary(configuration: AnswerConfiguration) -> dict[str, object]:
    return {
        "configuration": configuration.name,
        "status": configuration.status,
        "available": is_available(configuration),
    }
