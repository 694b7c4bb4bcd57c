"""Office files for tests: made by the libraries people use, then edited where these cannot go."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence

import docx
import openpyxl
import pptx

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx_of(write: Callable[[docx.document.Document], None]) -> bytes:
    document = docx.Document()
    write(document)
    return _saved(document)


def docx_of_xml(body: str, **parts: str) -> bytes:
    """A DOCX whose body is this WordprocessingML; `footnotes=…` and the like add parts."""
    document = (
        f'<?xml version="1.0" encoding="UTF-8"?><w:document {W} '
        'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
        'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
        'xmlns:v="urn:schemas-microsoft-com:vml">'
        f"<w:body>{body}</w:body></w:document>"
    )
    named = {f"word/{name}.xml": f"<w:{name} {W}>{xml}</w:{name}>" for name, xml in parts.items()}
    return zipped({"[Content_Types].xml": "<Types/>", "word/document.xml": document, **named})


def paragraph(words: str) -> str:
    return f"<w:p><w:r><w:t>{words}</w:t></w:r></w:p>"


def xlsx_of(rows: Sequence[Sequence[object]], edit: Callable | None = None) -> bytes:
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(list(row))
    if edit:
        edit(workbook)
    return _saved(workbook)


def pptx_of(*slides: tuple[str, Sequence[str]], edit: Callable | None = None) -> bytes:
    """A slide for each title and its bullets."""
    presentation = pptx.Presentation()
    for title, bullets in slides:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(bullets)
    if edit:
        edit(presentation)
    return _saved(presentation)


def zipped(parts: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_parts(data: bytes, parts: dict[str, str | bytes]) -> bytes:
    """The same archive with parts added or replaced."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    return zipped(kept | parts)


def _saved(document) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()
