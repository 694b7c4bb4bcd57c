"""Office files are ZIP archives of XML: what all three kinds have in common."""

from __future__ import annotations

import io
import re
import zipfile

from lxml import etree

from documents.ingestion.extracted import ExtractionFailed, FailureCode, Repair

MAX_UNPACKED = 300 * 1024 * 1024
MAX_PART = 120 * 1024 * 1024
_MAX_RATIO = 250
_MAX_PARTS = 20_000
_DECLARATION = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)

# Nesting beyond libxml2's own limit of 256 is refused by it; entities are not followed.
PARSER = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False)


class Package:
    """An archive that is safe to unpack: small enough, not encrypted, and without declarations."""

    def __init__(self, data: bytes) -> None:
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except Exception as error:
            raise damaged() from error
        entries = self._archive.infolist()
        unpacked = sum(entry.file_size for entry in entries)
        packed = max(sum(entry.compress_size for entry in entries), 1)
        largest = max((entry.file_size for entry in entries), default=0)
        if (
            len(entries) > _MAX_PARTS
            or unpacked > MAX_UNPACKED
            or largest > MAX_PART
            or (unpacked > 20_000_000 and unpacked > packed * _MAX_RATIO)
        ):
            raise ExtractionFailed(
                FailureCode.TOO_LARGE,
                f"The file unpacks to {unpacked / 2**20:,.0f} MB, which no document does. Save it "
                "again without what it does not need, then upload it.",
            )
        if any(entry.flag_bits & 1 for entry in entries):
            raise ExtractionFailed(
                FailureCode.ENCRYPTED,
                "The file needs a password to open. Save a copy without the password and upload "
                "that.",
            )
        self.names = {entry.filename for entry in entries}

    def bytes(self, name: str) -> bytes:
        try:
            return self._archive.read(name)
        except Exception as error:
            raise damaged() from error

    def xml(self, name: str) -> etree._Element | None:
        """The root of a part; None if there is none of that name."""
        if name not in self.names:
            return None
        data = self.bytes(name)
        check_declarations(data)
        try:
            return etree.fromstring(data, PARSER)
        except etree.XMLSyntaxError as error:
            raise damaged() from error

    def check_all(self) -> None:
        """No part declares entities; for libraries that open the archive by themselves."""
        for name in self.names:
            if name.endswith((".xml", ".rels", ".vml")):
                check_declarations(self.bytes(name))

    def left_out(self) -> list[Repair]:
        """What the file carries besides its text, and what is never run or read."""
        found = []
        if any(name.lower().endswith("vbaproject.bin") for name in self.names):
            found.append(Repair.MACROS)
        if any("/embeddings/" in name for name in self.names):
            found.append(Repair.ATTACHMENTS)
        return found


def check_declarations(data: bytes) -> None:
    if _DECLARATION.search(data) or _DECLARATION.search(data.replace(b"\x00", b"")):
        raise ExtractionFailed(
            FailureCode.DAMAGED,
            "The file declares entities, which no office program writes. Save it again with one, "
            "and upload the new file.",
        )


def damaged() -> ExtractionFailed:
    return ExtractionFailed(
        FailureCode.DAMAGED,
        "The file is damaged and cannot be read. Open it in the program it was made with, save it "
        "again, and upload the new file.",
    )
