"""Text recognition of a PDF's pages by tesseract, if it is installed."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Callable

from documents.ingestion.extracted import ExtractionFailed, FailureCode
from documents.ingestion.extraction.read import Options

MAX_PAGES = 200
_PAGE_SECONDS = 60
_DOTS_AN_INCH = 300
_MAX_PIXELS_A_SIDE = 5_000
_PAPER = 200  # a page with nothing darker is empty
_NAMES = {"en": "eng", "nl": "nld", "fr": "fra", "de": "deu", "es": "spa", "it": "ita", "pt": "por"}

# Takes a page's number, from 1, and gives its words or "".
Recogniser = Callable[[int], str]


def recogniser(data: bytes, options: Options) -> Recogniser | None:
    """None where recognition is off, tesseract is missing, or none of its languages fits."""
    program = shutil.which("tesseract") if options.ocr else None
    if program is None:
        return None
    languages = _languages(program, options.languages)
    if not languages:
        return None
    done = 0

    def recognise(page: int) -> str:
        nonlocal done
        picture = _draw(data, page)
        if picture is None:
            return ""
        done += 1
        if done > MAX_PAGES:
            raise ExtractionFailed(
                FailureCode.TOO_LARGE,
                f"More than {MAX_PAGES} pages of the PDF are pictures whose text would have to be "
                "recognised. Split it into parts, or upload a copy that has a text layer.",
            )
        return _read_picture(program, languages, picture)

    return recognise


def installed_languages(program: str) -> set[str]:
    listed = subprocess.run(  # noqa: S603 (a program of the system, no input of anybody)
        [program, "--list-langs"], capture_output=True, timeout=20, text=True, check=False
    )
    return set(listed.stdout.split("\n")[1:]) - {"", "osd"}


def _languages(program: str, wanted: tuple[str, ...]) -> str:
    installed = installed_languages(program)
    names = [_NAMES[code] for code in wanted or ("en",) if _NAMES.get(code) in installed]
    return "+".join(names)


def _draw(data: bytes, page: int) -> bytes | None:
    """The page as a picture; None where there is nothing on it or it cannot be drawn."""
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError:
        return None
    try:
        drawn = document[page - 1]
        scale = min(_DOTS_AN_INCH / 72, _MAX_PIXELS_A_SIDE / max(drawn.get_size()))
        picture = drawn.render(scale=scale, grayscale=True).to_pil()
    except (pdfium.PdfiumError, IndexError):
        return None
    finally:
        document.close()
    darkest, _ = picture.getextrema()
    if darkest > _PAPER:
        return None
    buffer = io.BytesIO()
    picture.save(buffer, format="PPM")
    return buffer.getvalue()


def _read_picture(program: str, languages: str, picture: bytes) -> str:
    try:
        done = subprocess.run(  # noqa: S603 (the picture goes in as data)
            [program, "-", "-", "-l", languages, "--dpi", str(_DOTS_AN_INCH)],
            input=picture,
            capture_output=True,
            timeout=_PAGE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
