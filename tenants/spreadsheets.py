"""Text in CSV that no spreadsheet takes for a formula."""

# Also after blanks, and as full-width signs.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
MARK = "'"


def harmless(value: object) -> object:
    """The value as a cell: risky text behind an apostrophe; numbers stay numbers."""
    if not isinstance(value, str):
        return value
    risky = value.startswith(_FORMULA) or value.lstrip().startswith(_FORMULA)
    return f"{MARK}{value}" if risky else value
