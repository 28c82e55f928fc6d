"""What every page of a question says around its question."""

from __future__ import annotations

DECIDE_FIRST = "Decide on the Data page how your file may be used; then come back here."
OPTIONS = "Options"
QUESTION = "Question"
TAB = "What is open below the chart"
RELEASE_TAB = "Make one private release"
