"""Commands about documents say what is wrong, in whichever tenant the document is."""

import pytest
from django.core.management import CommandError, call_command


@pytest.mark.parametrize("command", ["grant", "revoke"])
def test_a_group_that_is_not_there_is_what_the_error_names(bank, other_bank, command):
    for one in (bank, other_bank):  # whichever tenant is looked into first
        document = one.document(ingest=False)
        with pytest.raises(CommandError, match="no group 'nowhere'"):
            call_command(command, str(document.id), "--to", "group:nowhere")
