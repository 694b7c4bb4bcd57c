"""Bytes become text whatever wrote them, and text that went through the wrong encoding is mended."""

from __future__ import annotations

import codecs
import re

_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
# What French, Dutch, German and English write beyond ASCII, and the punctuation of word processors.
_EXPECTED = frozenset(
    "àâäáãåæçèéêëìíîïñòóôöœùúûüýÿßÀÂÄÁÇÈÉÊËÎÏÔÖŒÙÛÜ€£§°²³µ«»“”„‘’‚–—…•·©®½¼×\u00a0"
)


def is_text(data: bytes) -> bool:
    """Whether the bytes are words in some encoding rather than a program's data."""
    if not data or data.isspace():
        return True
    if data.startswith(tuple(mark for mark, _ in _MARKS)):
        return True
    sample = data[:65_536]
    if _wide(sample):
        return True
    return len(_CONTROLS.findall(sample)) * 500 <= len(sample)


def decode(data: bytes, *, declared: str = "") -> tuple[str, bool]:
    """The text, and whether a line of it was not in the encoding that the rest is in.

    UTF-8 where it is valid, else the encoding in which the bytes read as Western European words.
    A file glued together from several is decoded line by line.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.decode(name, "replace"), False
    if name := _wide(data[:65_536]):
        return data.decode(name, "replace"), False
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        pass
    lines = data.split(b"\n")
    valid = [_is_utf8(line) for line in lines]
    others = [line for line, is_valid in zip(lines, valid, strict=True) if not is_valid]
    fallback = _named(declared) or _likeliest(others)
    text = "\n".join(
        line.decode("utf-8" if is_valid else fallback, "replace")
        for line, is_valid in zip(lines, valid, strict=True)
    )
    mixed = any(v and not line.isascii() for line, v in zip(lines, valid, strict=True))
    return text, mixed


def repair(text: str) -> tuple[str, bool]:
    """Undo "rÃ©munÃ©ration" and leave curly quotes, ligatures and all else as they are."""
    from ftfy import TextFixerConfig, fix_text

    if text.isascii():
        return text, False
    settings = TextFixerConfig(
        unescape_html=False,
        remove_terminal_escapes=False,
        fix_encoding=True,
        restore_byte_a0=True,
        replace_lossy_sequences=True,
        decode_inconsistent_utf8=True,
        fix_c1_controls=True,
        fix_latin_ligatures=False,
        fix_character_width=False,
        uncurl_quotes=False,
        fix_line_breaks=False,
        fix_surrogates=False,
        remove_control_chars=False,
        normalization=None,
        max_decode_length=1_000_000,
    )
    mended = "".join(fix_text(line, settings) for line in text.splitlines(keepends=True))
    return mended, mended != text


def _named(declared: str) -> str:
    """A declared single-byte encoding; browsers read "iso-8859-1" as Windows-1252, and so do we."""
    try:
        name = codecs.lookup(declared.strip()).name if declared.strip() else ""
    except LookupError:
        return ""
    if name in ("iso8859-1", "ascii", "cp1252"):
        return "cp1252"
    return name if name in ("iso8859-15", "cp850", "cp437", "mac-roman") else ""


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _likeliest(lines: list[bytes]) -> str:
    """Windows' encoding, or that of DOS, from which old bank systems still print their lists."""
    sample = b"\n".join(lines)[:1_000_000]

    def makes_sense(name: str) -> int:
        text = sample.decode(name, "replace")
        signs = [sign for sign in text if not sign.isascii()]
        # Letters weigh more: what is an "é" in one encoding is a quotation mark in another.
        expected = sum((3 if sign.isalpha() else 1) for sign in signs if sign in _EXPECTED)
        return expected - 3 * sum(sign not in _EXPECTED for sign in signs)

    return max(("cp1252", "cp850"), key=makes_sense)


def _wide(sample: bytes) -> str:
    """UTF-16 without a mark: every second byte of Western text is zero."""
    if len(sample) < 4:
        return ""
    even, odd = sample[0::2], sample[1::2]
    if odd.count(0) * 10 > 9 * len(odd) and even.count(0) * 10 < len(even):
        return "utf-16-le"
    if even.count(0) * 10 > 9 * len(even) and odd.count(0) * 10 < len(odd):
        return "utf-16-be"
    return ""
