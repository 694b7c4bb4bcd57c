"""Log lines tell where an error happened, and nothing of what somebody wrote."""

import logging

from config.settings.observability import place_of_exception


def test_an_error_in_the_log_has_its_kind_and_place_but_not_its_message():
    try:
        raise ValueError("the vault question of somebody")
    except ValueError as error:
        event = place_of_exception(logging.getLogger(), "error", {"event": "x", "exc_info": error})
    assert event["error"] == "ValueError"
    assert "test_settings.py" in event["trace"]
    assert "vault" not in str(event)
