"""Private training: The best private model for the budget."""

from __future__ import annotations

from dashboard.catalogue import Page

PAGE = Page(
    key="training",
    title="Private training",
    icon=":material/model_training:",
    rank=40,
    asks="Can we train on these data?",
    about="The best private model for the budget, and what it costs in accuracy.",
    example="breast_cancer",
)
