"""What a DOCX's paragraphs are, by their styles."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from documents.ingestion.extracted import BlockKind

_HEADING = re.compile(r"(?:heading|kop|titre|überschrift|berschrift)\s*(\d)", re.IGNORECASE)
_DEEPEST_BASE = 20


@dataclass(frozen=True, slots=True)
class Style:
    """Of one paragraph. `numbering` is (list, depth), or None if it has no number."""

    kind: BlockKind
    level: int
    style_id: str
    numbering: tuple[str, int | None] | None
    breaks_page: bool


def name_of(element: etree._Element) -> str:
    """The name without its namespace: strict and transitional files differ in that alone."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(element: etree._Element, name: str) -> etree._Element | None:
    return next((inner for inner in element if name_of(inner) == name), None)


def attribute(element: etree._Element, name: str) -> str:
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return value
    return ""


class Styles:
    def __init__(self, root: etree._Element | None) -> None:
        self._styles = {
            attribute(style, "styleId"): style
            for style in ([] if root is None else root)
            if name_of(style) == "style" and attribute(style, "type") == "paragraph"
        }

    def of(self, paragraph: etree._Element) -> Style:
        own = child(paragraph, "pPr")
        given = child(own, "pStyle") if own is not None else None
        style_id = attribute(given, "val") if given is not None else ""
        chain = self._chain(style_id)
        sources = [own, *(child(style, "pPr") for style in chain)]
        names = [attribute(n, "val") for style in chain if (n := child(style, "name")) is not None]
        numbering = _numbering(sources)
        level = _level(names or [style_id], sources)
        kind = BlockKind.PARAGRAPH
        if level:
            kind = BlockKind.HEADING
        elif any(
            name.lower() in ("caption", "bijschrift", "légende", "beschriftung") for name in names
        ):
            kind = BlockKind.CAPTION
        elif numbering is not None or any(name.lower().startswith("list") for name in names[:1]):
            kind = BlockKind.LIST_ITEM
        breaks = own is not None and child(own, "pageBreakBefore") is not None
        return Style(kind, level, style_id, numbering, breaks)

    def _chain(self, style_id: str) -> list[etree._Element]:
        """The style and those it is based on."""
        chain: list[etree._Element] = []
        while style_id in self._styles and len(chain) < _DEEPEST_BASE:
            style = self._styles[style_id]
            chain.append(style)
            base = child(style, "basedOn")
            style_id = attribute(base, "val") if base is not None else ""
        return chain


def _level(names: list[str], sources: list[etree._Element | None]) -> int:
    for name in names:
        if found := _HEADING.match(name):
            return int(found[1])
        if name.lower() in ("title", "titel"):
            return 1
    for source in sources:
        outline = child(source, "outlineLvl") if source is not None else None
        if outline is not None:
            depth = attribute(outline, "val")
            return int(depth) + 1 if depth in "012345678" and depth else 0
    return 0


def _numbering(sources: list[etree._Element | None]) -> tuple[str, int | None] | None:
    for source in sources:
        properties = child(source, "numPr") if source is not None else None
        if properties is None:
            continue
        number, depth = child(properties, "numId"), child(properties, "ilvl")
        if number is None:
            continue
        if attribute(number, "val") == "0":  # takes a style's numbering away
            return None
        given = attribute(depth, "val") if depth is not None else ""
        return attribute(number, "val"), int(given) if given in "012345678" and given else None
    return None
