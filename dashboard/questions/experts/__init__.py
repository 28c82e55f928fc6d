"""Online experts: Whom to follow, day after day, without revealing any single day."""

from __future__ import annotations

from dashboard.catalogue import Page

PAGE = Page(
    key="experts",
    title="Online experts",
    icon=":material/groups:",
    rank=30,
    asks="Whom should we follow?",
    about="Day after day, without revealing any single day's outcomes.",
    example="forecasts",
)
