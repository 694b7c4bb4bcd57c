"""Markdown, with tables, by markdown-it."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token

from documents.ingestion.extracted import BlockKind, ExtractedText
from documents.ingestion.extraction.build import Page, build
from documents.ingestion.extraction.plain import decoded
from documents.ingestion.extraction.read import Options
from documents.ingestion.extraction.tables import add_table


def read(data: bytes, options: Options) -> ExtractedText:
    text, repairs = decoded(data)
    # Raw HTML in it stays out: its tags are no words, and its content may be hidden.
    tokens = MarkdownIt("commonmark", {"html": False, "maxNesting": 50}).enable("table").parse(text)
    page = Page()
    _Walk(page).over(tokens)
    return build([page], repairs=repairs)


class _Walk:
    def __init__(self, page: Page) -> None:
        self._page = page
        self._marks: list[int | None] = []  # of open lists: the number of the next item, or bullets
        self._item: str | None = None
        self._rows: list[list[str]] = []
        self._headers = 0
        self._heading = 0
        self._in_cell = False

    def over(self, tokens: list[Token]) -> None:
        for token in tokens:
            handler = getattr(self, f"_{token.type}", None)
            if handler:
                handler(token)

    def _heading_open(self, token: Token) -> None:
        self._heading = int(token.tag[1])

    def _heading_close(self, _token: Token) -> None:
        self._heading = 0

    def _bullet_list_open(self, _token: Token) -> None:
        self._marks.append(None)

    def _ordered_list_open(self, token: Token) -> None:
        self._marks.append(int(token.attrs.get("start", 1)))

    def _bullet_list_close(self, _token: Token) -> None:
        self._marks.pop()

    _ordered_list_close = _bullet_list_close

    def _list_item_open(self, _token: Token) -> None:
        number = self._marks[-1]
        self._item = "• " if number is None else f"{number}. "
        if number is not None:
            self._marks[-1] = number + 1

    def _table_open(self, _token: Token) -> None:
        self._rows, self._headers = [], 0

    def _thead_close(self, _token: Token) -> None:
        self._headers = len(self._rows)

    def _tr_open(self, _token: Token) -> None:
        self._rows.append([])

    def _th_open(self, _token: Token) -> None:
        self._in_cell = True

    def _th_close(self, _token: Token) -> None:
        self._in_cell = False

    _td_open, _td_close = _th_open, _th_close

    def _table_close(self, _token: Token) -> None:
        add_table(self._page, self._rows, headers=self._headers)

    def _inline(self, token: Token) -> None:
        words = _words(token)
        if self._in_cell:
            self._rows[-1].append(words)
        elif self._heading:
            self._page.add(BlockKind.HEADING, words, self._heading)
        elif self._marks:
            # A further paragraph of an item has no mark of its own.
            self._page.add(BlockKind.LIST_ITEM, (self._item or "") + words)
            self._item = None
        else:
            self._page.add(BlockKind.PARAGRAPH, words)

    def _fence(self, token: Token) -> None:
        self._page.add(BlockKind.PARAGRAPH, token.content)

    _code_block = _fence


def _words(token: Token) -> str:
    said = []
    for child in token.children or []:
        if child.type in ("text", "code_inline", "text_special"):
            said.append(child.content)
        elif child.type == "softbreak":
            said.append(" ")
        elif child.type == "hardbreak":
            said.append("\n")
        elif child.type == "image":
            said.append(child.content)
    return "".join(said)
