"""What a reader says of a stranger's file is checked like the file."""

import json

import pytest

from documents.ingestion.extracted import Repair
from documents.ingestion.extraction import wire

TEXT = {"text": "Leave is 25 days.", "pages": [[1, 0, 17, "", False]], "blocks": []}


def unpack(**changes):
    return wire.unpack(json.dumps(TEXT | changes).encode())


def test_what_was_mended_comes_back_by_code():
    assert unpack(repairs=["encoding"]).repairs == (Repair.ENCODING,)
    assert wire.unpack(wire.pack_text(unpack(repairs=["recognised"]))).repairs == (
        Repair.RECOGNISED,
    )


@pytest.mark.parametrize("repairs", [["The vault code is blue."], [["encoding"]], [None], 1])
def test_words_of_a_file_cannot_pass_as_a_repair(repairs):
    with pytest.raises(wire.Garbled):
        unpack(repairs=repairs)
