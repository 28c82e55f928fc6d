"""The composition rules in words: what each adds up, why they differ, and when each may be relied on."""

from __future__ import annotations

from types import MappingProxyType

from dashboard.charts.theme import colours
from dpcore.accounting import ACCOUNTANTS, VALID_WHEN

LABELS: MappingProxyType[str, str] = MappingProxyType(
    {
        "basic": "Simple sum",
        "advanced": "Textbook's theorem",
        "zcdp": "One number each",
        "bounded_range": "For choices alone",
        "rdp": "One curve each",
        "pld": "Everything counted",
    }
)
TERMS: MappingProxyType[str, str] = MappingProxyType(
    {
        "basic": "basic composition",
        "advanced": "advanced composition",
        "zcdp": "zCDP",
        "bounded_range": "bounded range",
        "rdp": "Rényi divergences, RDP",
        "pld": "privacy loss distributions, PLD",
    }
)
"""What the field calls each rule."""
WHY: MappingProxyType[str, str] = MappingProxyType(
    {
        "basic": "The worst case of every answer at once. For a few answers it is nearly the best there is.",
        "advanced": "The textbook's theorem: the worst cases of many answers hardly ever come together. Its constants "
        "are generous, so for a few answers it costs more than adding up.",
        "zcdp": "Keeps one number per answer, ρ, about the square of ε, and adds those up: many small answers then "
        "cost like the square root of their number.",
        "bounded_range": "Knows that the exponential mechanism's answers can only differ within a window of width ε, "
        "and composes that exactly. For such choices alone.",
        "rdp": "Keeps a whole curve per answer instead of one number and adds the curves up. Finer than one number.",
        "pld": "Composes the whole distribution of what each answer can give away. The smallest true number.",
    }
)
PLANNED = "if planned in advance"
ADAPTIVE = "also when each question is chosen after seeing earlier answers"

REACTING = "however questions are chosen"


def planned(rule: str) -> bool:
    """Whether the rule holds only for a list of questions fixed in advance."""
    return VALID_WHEN[rule] == "planned"


def label(rule: str) -> str:
    """The rule's name, marked where it holds only for plans."""
    return f"{LABELS[rule]} ({PLANNED})" if planned(rule) else LABELS[rule]


def short(rule: str) -> str:
    """``label`` for a picture."""
    return f"{LABELS[rule]} (if planned)" if planned(rule) else LABELS[rule]


def colour(dark: bool) -> dict[str, str]:
    """One colour per rule, the same in every picture."""
    return colours(ACCOUNTANTS, dark)


def explained(rules: list[str]) -> str:
    """Markdown: one line per rule, with when it holds."""
    return "\n".join(
        f"- **{LABELS[rule]}** ({TERMS[rule]}), {PLANNED if planned(rule) else f'valid {REACTING}'}. {WHY[rule]}"
        for rule in rules
    )
