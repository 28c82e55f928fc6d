"""Selection: One private choice, three questions."""

from __future__ import annotations

from dashboard.catalogue import Page

PAGE = Page(
    key="selection",
    title="Selection",
    icon=":material/how_to_vote:",
    rank=10,
    asks="Which option is best?",
    about="The most common complaint, the median income, the best simple rule: one private choice.",
)
