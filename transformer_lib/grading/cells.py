"""Cells of a table that a spreadsheet opens: no text in them is taken for a formula."""

import re

NUMBER = r"[+-]?\d+(?:[.,]\d+)?%?"
_FORMULA = re.compile(rf"'*(?!(?:{NUMBER}|-)\Z)[=+\-@\t\r\n＝＋－＠]")


def neutral(text: str) -> str:
    """The text, behind an apostrophe where it would be a formula: `=1+1` is `'=1+1`."""
    return f"'{text}" if _FORMULA.match(text) else text


def restored(text: str) -> str:
    """What `neutral` was given, whatever that was."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text
