"""Files made to harm their reader. Each is small to make; none is kept in the repository."""

from __future__ import annotations

import io
import random
import struct
import zipfile
import zlib

import pypdf

from tests.fakes.office_files import (
    docx_of,
    docx_of_xml,
    paragraph,
    pptx_of,
    with_parts,
    xlsx_of,
    zipped,
)
from tests.pdf import make_pdf

HIDDEN = "Zanzibar-4711"  # words that must never be found
RULE = "Annual leave allowance is 25 days."

_LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "haha">'
    + "".join(f'<!ENTITY {chr(b + 1)} "{f"&{chr(b)};" * 20}">' for b in range(ord("a"), ord("j")))
    + "]>"
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 504


def pdf_of(*objects: bytes, trailer: bytes = b"/Root 1 0 R") -> bytes:
    """A PDF of these objects, numbered from 1."""
    data = bytearray(b"%PDF-1.7\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer\n<< /Size %d %b >>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        trailer,
        start,
    )
    return bytes(data)


CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(content), entries, content)


def page(entries: bytes = b"", box: bytes = b"0 0 595 842") -> bytes:
    return b"<< /Type /Page /Parent 2 0 R /MediaBox [%b] %b >>" % (box, entries)


def pdf_page_tree_loop():
    return pdf_of(CATALOG, b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>")


def pdf_form_draws_itself():
    form = stream(
        b"/F Do", b"/Type /XObject /Subtype /Form /Resources << /XObject << /F 4 0 R >> >>"
    )
    drawn = page(b"/Resources << /XObject << /F 4 0 R >> >> /Contents 5 0 R")
    return pdf_of(CATALOG, PAGES, drawn, form, stream(b"/F Do"))


def pdf_xref_loop():
    data = pdf_of(CATALOG, PAGES, page(), trailer=b"/Root 1 0 R /Prev 0000000000")
    start = data[data.rindex(b"startxref") + 10 :].split(b"\n")[0]
    return data.replace(b"/Prev 0000000000", b"/Prev %010d" % int(start))


def pdf_10_000_pages():
    kids = b"3 0 R " * 10_000
    return pdf_of(CATALOG, b"<< /Type /Pages /Kids [%b] /Count 10000 >>" % kids, page())


def pdf_stream_bomb():
    squeezed = zlib.compress(zlib.compress(b" " * 100_000_000, 9), 9)
    filters = b"/Filter [/FlateDecode /FlateDecode]"
    return pdf_of(CATALOG, PAGES, page(b"/Contents 4 0 R"), stream(squeezed, filters))


def pdf_endless_words():
    words = b"BT /F 12 Tf " + b"(word word word word) Tj " * 200_000 + b"ET"
    squeezed = stream(zlib.compress(words), b"/Filter /FlateDecode")
    drawn = page(b"/Resources << /Font << /F 4 0 R >> >> /Contents 5 0 R")
    return pdf_of(CATALOG, PAGES, drawn, FONT, squeezed)


def pdf_deep_arrays():
    return pdf_of(CATALOG, PAGES, page(b"/Deep " + b"[" * 100_000 + b"]" * 100_000))


def pdf_huge_page():
    return pdf_of(CATALOG, PAGES, page(box=b"0 0 90000000 90000000"))


def pdf_huge_image():
    image = stream(
        zlib.compress(b"\x00" * 1_000_000),
        b"/Type /XObject /Subtype /Image /Width 60000 /Height 60000 /ColorSpace /DeviceRGB "
        b"/BitsPerComponent 8 /Filter /FlateDecode",
    )
    drawn = page(b"/Resources << /XObject << /I 4 0 R >> >> /Contents 5 0 R")
    return pdf_of(CATALOG, PAGES, drawn, image, stream(b"500 0 0 500 0 0 cm /I Do"))


def pdf_with_attachment():
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(make_pdf(RULE)))
    writer.add_attachment("secret.txt", HIDDEN.encode())
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def fuzzed_pdf(seed: int) -> bytes:
    chance = random.Random(seed)
    data = bytearray(make_pdf([RULE] * 3))
    for _ in range(4 + 4 * seed):
        data[chance.randrange(8, len(data))] = chance.randrange(256)
    return bytes(data)


def lying_archive():
    """The directory says that a part of 40 MB takes ten bytes."""
    data = bytearray(with_parts(docx_of_xml(paragraph(RULE)), {"word/a.xml": b"<a/>" * 10_000_000}))
    at = data.rindex(b"word/a.xml") - 46
    assert data[at : at + 4] == b"PK\x01\x02"
    struct.pack_into("<I", data, at + 24, 10)
    return bytes(data)


def many_parts():
    return with_parts(docx_of_xml(paragraph(RULE)), {f"p{at}": b"" for at in range(25_000)})


def far_cell():
    """A merged cell over the whole sheet: 17 thousand million places."""
    data = xlsx_of([[RULE, "b"]])
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sheet = archive.read("xl/worksheets/sheet1.xml").decode()
    merged = '</sheetData><mergeCells count="1"><mergeCell ref="A5:XFD1048570"/></mergeCells>'
    return with_parts(data, {"xl/worksheets/sheet1.xml": sheet.replace("</sheetData>", merged)})


def deep_groups():
    shape = (
        '<p:grpSp><p:nvGrpSpPr><p:cNvPr id="9" name="g"/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
        "<p:grpSpPr/>"
    )
    data = pptx_of((RULE, ["x"]))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        slide = archive.read("ppt/slides/slide1.xml").decode()
    deep = shape * 200 + "</p:grpSp>" * 200 + "</p:spTree>"
    return with_parts(data, {"ppt/slides/slide1.xml": slide.replace("</p:spTree>", deep)})


def xlsx_laughs():
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row>'
        '<c t="inlineStr"><is><t>&j;</t></is></c></row></sheetData></worksheet>'
    )
    return with_parts(xlsx_of([["x"]]), {"xl/worksheets/sheet1.xml": _LAUGHS + sheet})


def docx_reads_a_file():
    declared = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    body = docx_of_xml(paragraph("&f;"))
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        document = archive.read("word/document.xml").decode()
    return with_parts(body, {"word/document.xml": document.replace("?>", "?>" + declared, 1)})


def docx_laughs():
    return with_parts(
        docx_of_xml(paragraph("x")),
        {
            "word/document.xml": f"{_LAUGHS}<document><body><p><r><t>&j;</t></r></p></body></document>"
        },
    )


ZEROS = 130 * 2**20
READ, REFUSED = "searchable", "refused"

# Name: (the file, how it ends, what is said of it or left out).
FILES = {
    "docx-bomb": (lambda: with_parts(docx_of_xml(""), {"word/b.xml": bytes(ZEROS)}), "too_large"),
    "xlsx-bomb": (lambda: with_parts(xlsx_of([["x"]]), {"xl/b.xml": bytes(ZEROS)}), "too_large"),
    "docx-lying-archive": (lying_archive, READ),
    "docx-many-parts": (many_parts, "too_large"),
    "docx-laughs": (docx_laughs, "damaged"),
    "docx-reads-a-file": (docx_reads_a_file, "damaged"),
    "xlsx-laughs": (xlsx_laughs, "damaged"),
    "docx-deep": (lambda: docx_of_xml("<w:sdt>" * 50_000 + "</w:sdt>" * 50_000), "damaged"),
    "docx-torn": (lambda: docx_of(lambda d: d.add_paragraph(RULE))[:9000], REFUSED),
    "docx-without-body": (lambda: zipped({"word/document.xml": "<document/>"}), "damaged"),
    "docx-with-macros": (
        lambda: with_parts(docx_of_xml(paragraph(RULE)), {"word/vbaProject.bin": HIDDEN}),
        READ,
    ),
    "xlsx-with-macros": (
        lambda: with_parts(xlsx_of([[RULE]]), {"xl/vbaProject.bin": HIDDEN}),
        READ,
    ),
    "docx-with-an-embedded-sheet": (
        lambda: with_parts(
            docx_of_xml(paragraph(RULE)), {"word/embeddings/s.xlsx": xlsx_of([[HIDDEN]])}
        ),
        READ,
    ),
    "xlsx-far-cell": (far_cell, "too_large"),
    "pptx-deep-groups": (deep_groups, READ),
    "html-deep": (lambda: b"<html><body>" + b"<div>" * 5_000 + b"x", "too_large"),
    "html-many": (lambda: b"<html><body>" + b"<b>x</b>" * 600_000, "too_large"),
    "markdown-deep": (
        lambda: b"# x\n\n" + b"> " * 20_000 + RULE.encode() + b"\n\n" + b"[" * 300,
        None,
    ),
    "text-of-hyphens": (lambda: RULE.encode() + b"\n\n" + b"a-\n" * 300, None),
    "text-of-zeros": (lambda: bytes(1_000_000), REFUSED),
    "empty": (lambda: b"", "no_text"),
    "pdf-page-tree-loop": (pdf_page_tree_loop, "damaged"),
    "pdf-form-draws-itself": (pdf_form_draws_itself, None),
    "pdf-xref-loop": (pdf_xref_loop, None),
    "pdf-10000-pages": (pdf_10_000_pages, "too_large"),
    "pdf-stream-bomb": (pdf_stream_bomb, None),
    "pdf-endless-words": (pdf_endless_words, None),
    "pdf-deep-arrays": (pdf_deep_arrays, None),
    "pdf-huge-page": (pdf_huge_page, "no_text"),
    "pdf-huge-image": (pdf_huge_image, "no_text"),
    "pdf-with-attachment": (pdf_with_attachment, READ),
    "pdf-and-archive": (lambda: make_pdf(RULE) + zipped({"word/document.xml": HIDDEN}), READ),
    "archive-and-pdf": (lambda: zipped({"%PDF-1.7": HIDDEN}), REFUSED),
    "page-called-pdf": (lambda: b"<html><body><p>" + RULE.encode() + b"</p></body></html>", READ),
    "program-called-pdf": (lambda: b"MZ\x90\x00" + bytes(5000), REFUSED),
    "picture-called-pdf": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(5000), REFUSED),
    "locked-office-file": (lambda: _OLE + "EncryptedPackage".encode("utf-16-le"), REFUSED),
    "doc-of-nothing": (lambda: _OLE + "WordDocument".encode("utf-16-le"), None),
    **{f"pdf-fuzzed-{seed}": (lambda seed=seed: fuzzed_pdf(seed), None) for seed in range(8)},
    **{
        f"pdf-torn-{share}": (lambda share=share: make_pdf(RULE)[: share * 20], None)
        for share in (1, 5, 20, 40)
    },
}
