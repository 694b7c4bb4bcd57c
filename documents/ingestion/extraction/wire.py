"""What the process that reads files and the one that asks it say to each other.

Frames of the lengths of a JSON header and of a body, then the two. What comes back was made from a
stranger's file, so it is checked like one.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import BinaryIO

from documents.ingestion.extracted import (
    Block,
    BlockKind,
    ExtractedText,
    ExtractionFailed,
    FailureCode,
    PageSpan,
    Repair,
)

_FRAME = struct.Struct(">II")
_LONGEST_SENTENCE = 480


class Garbled(ValueError):
    """The result is none that a reader would give."""


def send(stream: BinaryIO, header: dict, body: bytes) -> None:
    head = json.dumps(header).encode()
    stream.write(_FRAME.pack(len(head), len(body)))
    stream.write(head)
    stream.write(body)
    stream.flush()


def receive(stream: BinaryIO) -> tuple[dict, bytes] | None:
    """None when the other side is gone."""
    lengths = stream.read(_FRAME.size)
    if len(lengths) < _FRAME.size:
        return None
    head, body = _FRAME.unpack(lengths)
    header, data = stream.read(head), stream.read(body)
    if len(header) < head or len(data) < body:
        return None
    return json.loads(header), data


def pack_failure(failure: ExtractionFailed) -> bytes:
    return json.dumps({"failed": [failure.code, failure.message]}).encode()


def pack_surprise(error: Exception) -> bytes:
    """What only a mistake of ours can raise: its kind and place, and no word of the file."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return json.dumps({"surprise": f"{type(error).__name__} at {place}"}).encode()


def pack_text(extracted: ExtractedText) -> bytes:
    pages = [[p.page, p.start, p.end, p.label, p.recognised] for p in extracted.pages]
    packed = {"text": extracted.text, "pages": pages, **structure(extracted)}
    packed["repairs"] = list(extracted.repairs)
    return json.dumps(packed).encode()


def unpack(data: bytes) -> ExtractedText:
    """Raises ExtractionFailed as the reader did, or Garbled."""
    try:
        packed = json.loads(data)
        if surprise := packed.get("surprise"):
            raise Garbled(str(surprise)[:200])
        if failed := packed.get("failed"):
            code, message = failed
            raise ExtractionFailed(FailureCode(code), str(message)[:_LONGEST_SENTENCE])
        text = packed["text"]
        extracted = ExtractedText(
            text=text,
            pages=tuple(
                PageSpan(int(page), int(start), int(end), str(label)[:40], bool(recognised))
                for page, start, end, label, recognised in packed["pages"]
            ),
            sha256=hashlib.sha256(text.encode()).hexdigest(),
            page_count=len(packed["pages"]),
            blocks=blocks_of(packed),
            repairs=tuple(Repair(repair) for repair in packed["repairs"])[:20],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Garbled(str(error)) from error
    _check(extracted)
    return extracted


def structure(extracted: ExtractedText) -> dict[str, object]:
    """Blocks as JSON has them; `blocks_of` reads them back."""
    return {"blocks": [[b.kind, b.start, b.end, b.level] for b in extracted.blocks]}


def blocks_of(packed: dict) -> tuple[Block, ...]:
    return tuple(
        Block(BlockKind(kind), int(start), int(end), int(level))
        for kind, start, end, level in packed["blocks"]
    )


def _check(extracted: ExtractedText) -> None:
    """Pages and blocks are in order, within the text, and no block crosses a page."""
    if "\x00" in extracted.text or not extracted.text.strip():
        raise Garbled("The text is empty or holds a NUL.")
    position = 0
    for number, page in enumerate(extracted.pages, start=1):
        if page.page != number or not position <= page.start <= page.end <= len(extracted.text):
            raise Garbled(f"Page {number} is not in its place.")
        position = page.end
    pages = iter(extracted.pages)
    page = next(pages)
    position = 0
    for block in extracted.blocks:
        while page is not None and page.end < block.end:
            page = next(pages, None)
        inside = page is not None and page.start <= block.start
        if not inside or not position <= block.start < block.end:
            raise Garbled(f"A block at {block.start} is not in its place.")
        position = block.end
