"""DOCX, read from its XML: what Word shows when all tracked changes are accepted.

Content controls, smart tags and text boxes are walked through, deleted and hidden text is not.
Pages are those Word wrote down when it last laid the document out, or the breaks somebody put in.
Notes stand after the paragraph or table that refers to them, so that an exception stays with its
rule.
"""

from __future__ import annotations

from lxml import etree

from documents.ingestion.extracted import BlockKind, ExtractedText, Repair
from documents.ingestion.extraction.build import Page, build
from documents.ingestion.extraction.docx_numbers import Numbers
from documents.ingestion.extraction.docx_styles import Styles, attribute, child, name_of
from documents.ingestion.extraction.ooxml import Package, damaged
from documents.ingestion.extraction.read import Options
from documents.ingestion.extraction.tables import MAX_COLUMNS, add_table

_THROUGH = frozenset(
    str.split(
        "sdt sdtContent customXml smartTag ins moveTo hyperlink fldSimple Choice dir bdo ruby rubyBase"
    )
)
_DELETED = frozenset(("del", "moveFrom"))
_NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}
_SIGNS = {"tab": " ", "ptab": " ", "cr": "\n", "noBreakHyphen": "\u2011", "softHyphen": ""}
_PAGE_BREAK = "\f"


def read(data: bytes, options: Options) -> ExtractedText:
    package = Package(data)
    main = next((name for name in sorted(package.names) if _is_main(name)), "")
    root = package.xml(main)
    body = child(root, "body") if root is not None else None
    if body is None:
        raise damaged()
    document = _Document(package, laid_out=next(_all(body, "lastRenderedPageBreak"), None))
    heads = [words for name in document.parts("header") for words in document.words_of(name)]
    feet = [words for name in document.parts("footer") for words in document.words_of(name)]
    for words in dict.fromkeys(heads):
        document.page.add(BlockKind.RUNNING, words)
    document.walk(body)
    for words in dict.fromkeys(feet):
        document.page.add(BlockKind.RUNNING, words)
    return build(document.pages, repairs=[*package.left_out(), *document.remarks])


def _is_main(name: str) -> bool:
    return name.startswith("word/document") and name.endswith(".xml") and name.count("/") == 1


class _Document:
    def __init__(self, package: Package, *, laid_out: etree._Element | None) -> None:
        self._package = package
        self._styles = Styles(package.xml("word/styles.xml"))
        self._numbers = Numbers(package.xml("word/numbering.xml"))
        self._notes = {kind: self._read_notes(kind) for kind in _NOTES.values()}
        self._breaks_are_known = laid_out is not None
        self.pages = [Page()]
        self.remarks: list[Repair] = []
        # What stands apart from the words at hand: notes they refer to, text boxes anchored there.
        self._pending_notes: list[str] = []
        self._pending_boxes: list[etree._Element] = []

    @property
    def page(self) -> Page:
        return self.pages[-1]

    def parts(self, kind: str) -> list[str]:
        return sorted(n for n in self._package.names if n.startswith(f"word/{kind}"))

    def words_of(self, name: str) -> list[str]:
        """The paragraphs of a header or footer."""
        root = self._package.xml(name)
        if root is None:
            return []
        words = [self._words(paragraph).replace(_PAGE_BREAK, " ") for paragraph in _all(root, "p")]
        self._pending_boxes.clear()  # the paragraphs inside are among those already
        return [line for line in words if line.strip()]

    def walk(self, container: etree._Element) -> None:
        for element in container:
            name = name_of(element)
            if name == "p":
                self._paragraph(element)
            elif name == "tbl":
                self._table(element)
            elif name == "AlternateContent":
                self._alternative(element)
            elif name in _DELETED:
                self._remark(Repair.CHANGES)
            elif name == "altChunk":
                self._remark(Repair.ATTACHMENTS)
            elif name in _THROUGH:
                self.walk(element)

    def _alternative(self, element: etree._Element) -> None:
        """The same content twice, for newer and for older programs: read once."""
        for version in ("Choice", "Fallback"):
            if (chosen := child(element, version)) is not None:
                self.walk(chosen)
                return

    def _paragraph(self, element: etree._Element) -> None:
        style = self._styles.of(element)
        if style.breaks_page and not self._breaks_are_known and self.page.parts:
            self.pages.append(Page())
        words = self._words(element)
        number = self._numbers.next(style.numbering, style.style_id) if words.strip() else ""
        kind, level = style.kind, style.level
        for index, part in enumerate(words.split(_PAGE_BREAK)):
            if index:
                self.pages.append(Page())
            if part.strip():
                self.page.add(kind, f"{number} {part}" if number else part, level)
                number = ""
        self._settle()

    def _settle(self) -> None:
        """Notes and text boxes, where the words that they belong to have ended."""
        notes, self._pending_notes = self._pending_notes, []
        boxes, self._pending_boxes = self._pending_boxes, []
        for words in notes:
            self.page.add(BlockKind.NOTE, words)
        for box in boxes:
            self.walk(box)

    def _table(self, element: etree._Element) -> None:
        rows: list[list[str]] = []
        heads = 0
        for row in _rows(element):
            properties = child(row, "trPr")
            if properties is not None and child(properties, "del") is not None:
                self._remark(Repair.CHANGES)
                continue
            cells = self._cells(row, above=rows[-1] if rows else [])
            repeated = properties is not None and child(properties, "tblHeader") is not None
            if repeated and heads == len(rows):
                heads += 1
            rows.append(cells)
        add_table(self.page, rows, headers=heads or None)
        self._settle()

    def _cells(self, row: etree._Element, *, above: list[str]) -> list[str]:
        """The cells' words, a merged one's in each place it covers."""
        cells: list[str] = []
        for cell in _through(row, "tc"):
            properties = child(cell, "tcPr")
            words = " ".join(
                self._words(paragraph).replace(_PAGE_BREAK, " ") for paragraph in _all(cell, "p")
            )
            span, merged = 1, None
            if properties is not None:
                if (wide := child(properties, "gridSpan")) is not None:
                    span = _count(attribute(wide, "val"))
                merged = child(properties, "vMerge")
            for _ in range(span):
                place = len(cells)
                goes_on = merged is not None and attribute(merged, "val") != "restart"
                cells.append(above[place] if goes_on and place < len(above) else words)
        self._pending_boxes.clear()  # their paragraphs are the cell's already
        return cells

    def _words(self, element: etree._Element) -> str:
        """The words of a paragraph, with a form feed for each page that begins in it."""
        said: list[str] = []
        self._say(element, said)
        return "".join(said)

    def _say(self, element: etree._Element, said: list[str]) -> None:
        for inner in element:
            name = name_of(inner)
            if name == "r":
                self._run(inner, said)
            elif name in _DELETED:
                self._remark(Repair.CHANGES)
            elif name in _THROUGH:
                if name in ("ins", "moveTo"):
                    self._remark(Repair.CHANGES)
                self._say(inner, said)
            elif name in ("oMath", "oMathPara"):
                said.extend(words.text or "" for words in _all(inner, "t"))

    def _run(self, run: etree._Element, said: list[str]) -> None:
        properties = child(run, "rPr")
        if properties is not None and _is_on(child(properties, "vanish")):
            if any(words.text for words in _all(run, "t")):
                self._remark(Repair.HIDDEN)
            return
        for inner in run:
            name = name_of(inner)
            if name == "t":
                said.append(inner.text or "")
            elif name in _SIGNS:
                said.append(_SIGNS[name])
            elif name == "br":
                said.append(self._break(attribute(inner, "type")))
            elif name == "lastRenderedPageBreak":
                said.append(_PAGE_BREAK)
            elif name == "sym":
                said.append(_symbol(attribute(inner, "char")))
            elif name in _NOTES:
                said.append(self._refer(_NOTES[name], attribute(inner, "id")))
            elif name == "AlternateContent":
                chosen = child(inner, "Choice")
                chosen = chosen if chosen is not None else child(inner, "Fallback")
                self._pending_boxes += _boxes(chosen)
            elif name in ("drawing", "pict", "object"):
                self._pending_boxes += _boxes(inner)

    def _break(self, kind: str) -> str:
        if kind == "page":
            return "" if self._breaks_are_known else _PAGE_BREAK
        return "\n"

    def _refer(self, kind: str, number: str) -> str:
        words = self._notes[kind].get(number, "")
        if not words:
            return ""
        self._pending_notes.append(f"[{number}] {words}")
        return f"[{number}]"

    def _read_notes(self, kind: str) -> dict[str, str]:
        root = self._package.xml(f"word/{kind}.xml")
        notes = {}
        for note in [] if root is None else root:
            if not attribute(note, "type"):  # separators have one
                words = "".join(text.text or "" for text in _all(note, "t"))
                notes[attribute(note, "id")] = words.strip()
        return notes

    def _remark(self, what: Repair) -> None:
        if what not in self.remarks:
            self.remarks.append(what)


def _all(element: etree._Element, name: str):
    """Elements of that name below, but not those in deleted text or in a second version of it."""
    for inner in element:
        found = name_of(inner)
        if found == name:
            yield inner
        if found not in _DELETED and found != "Fallback":
            yield from _all(inner, name)


def _rows(table: etree._Element):
    return _through(table, "tr")


def _through(element: etree._Element, name: str):
    for inner in element:
        if name_of(inner) == name:
            yield inner
        elif name_of(inner) in _THROUGH:
            yield from _through(inner, name)


def _boxes(element: etree._Element | None) -> list[etree._Element]:
    return [] if element is None else list(_all(element, "txbxContent"))


def _is_on(element: etree._Element | None) -> bool:
    return element is not None and attribute(element, "val") not in ("0", "false", "off")


def _count(given: str) -> int:
    return max(1, min(int(given), MAX_COLUMNS)) if given.isascii() and given.isdigit() else 1


def _symbol(code: str) -> str:
    try:
        return chr(int(code, 16))
    except (ValueError, OverflowError):
        return ""
