"""What every page of a question says around its question."""

from __future__ import annotations

DECIDE_FIRST = "Decide on the Data page how your file may be used; then come back here."
OPTIONS = "Options"
QUESTION = "Question"
TAB = "What is open below the chart"
RELEASE_TAB = "Make one private release"


def opens_with(title: str) -> str:
    """Said where a page shows its own example."""
    return f"This page opens with a sample that suits its question: {title}. Choose other data in the list of data."
