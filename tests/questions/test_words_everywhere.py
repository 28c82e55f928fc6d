"""Every question in words: symbols and initials explained, sentences short enough, targets that can be met."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import textstat

from dashboard import catalogue
from dashboard import words as dashboard_words
from dashboard.blocks import Ask, Block, Note, Picture, Small, Text
from dashboard.controls import Setting
from dashboard.question import CannotAsk, NoOffer, Offer, Question
from dashboard.questions.training.hits import Hits
from dashboard.report.text import line as on_paper
from dashboard.report.value import plain
from dashboard.view import EPSILON_HIGH, View
from dashboard.words import glossary, needs, visible
from dashboard.words import release as release_words
from dpcore.datasets import sample, samples
from tests.questions.samples import KEYS, sample_case

QUICK = [
    (page.key, key, kind)
    for page in catalogue.pages()
    if page.key != "training"
    for key, kind in catalogue.questions(page.key).items()
]
"""Questions that need no simulation beside the page."""
HARDEST, HARD_IN_100 = 14.0, 1
"""US school grade (automated readability index, 1967) that no more than so many sentences in 100 may pass.

It counts letters and words alone. Broadsheet newspapers lie at about 12 as a whole; single sentences scatter widely.
"""
MEDIAN = 7.0
WORDS = Path(dashboard_words.__file__).parent


@cache
def asked(key: str, name: str, epsilon: float = 0.5) -> tuple[Question, Setting] | None:
    kind: Any = next(kind for kind in (*(kind for _, _, kind in QUICK), Hits) if kind.key == key)
    setting = Setting()
    try:
        return kind.ask(sample_case(name, epsilon), setting), setting
    except CannotAsk:
        return None


def shown(key: str, name: str) -> Iterator[str]:
    """Headlines, cards and release texts of one question about one sample."""
    found = asked(key, name)
    if found is None:
        return
    question, _ = found
    card = question.protected
    yield from (question.headline, question.caption, *question.notes, card.protected, card.judged, *card.lines())
    yield f"Not protected: {card.not_protected}."
    if question.need.found is not None:
        yield from (needs.told(question.need.found), question.need.hint)
        yield from (needs.next_step(question.need.found, level) for level in (0.01, 0.5, 10.0))
    if question.uncertain is not None:
        yield question.uncertain.sentence
    if isinstance(question.offer, Offer):
        yield from (f"{release_words.FORECAST}: {question.offer.forecast}", question.offer.conclude)
        yield from (release_words.SEEN, release_words.UNDO, release_words.UNDO_PRACTICE, release_words.DRAW_HELP)


def in_tabs(key: str, name: str) -> Iterator[str]:
    found = asked(key, name)
    if found is None:
        return
    question, setting = found
    yield from (tab.title for tab in question.tabs)
    for block in blocks(question):
        if isinstance(block, (Text, Small, Note)):
            yield block.markdown
        if isinstance(block, Ask):
            yield from (control.label for control in block.controls)
    yield from (text for _, control in setting.seen.values() for text in (control.label, control.help or ""))


def blocks(question: Question) -> Iterator[Block]:
    return (block for tab in question.tabs for block in tab.blocks())


def in_pictures(key: str, name: str) -> Iterator[str]:
    """What is written in and said of the pictures in a question's tabs, but for numbers beside the marks."""
    found = asked(key, name)
    for block in () if found is None else blocks(found[0]):
        if isinstance(block, Picture):
            yield block.alt
            yield from written_in(block.figure(False))


def written_in(part: Any) -> Iterator[str]:
    """Each ``text`` of a figure, and each name."""
    if isinstance(part, Mapping):
        yield from (text for name, text in part.items() if name in ("text", "name") and isinstance(text, str))
        yield from (text for inner in part.values() for text in written_in(inner))
    elif isinstance(part, list | tuple):
        yield from (text for inner in part for text in written_in(inner))


def sentences(text: str) -> list[str]:
    plain = re.sub(r"\[[^]]*\]|[*_`#“”]|:material/\w+:", "", text).replace("ε = ", "epsilon ")
    return [part.strip() for part in re.split(r"(?<=[.?!;:])\s+(?=[A-Z“])", plain) if len(part.split()) >= 5]


# -- signs -------------------------------------------------------------------------------------------------------------

UNSEEN_BESIDE = {"tracker"}
"""Modules of words that stand in the narrow sidebar alone, never in a report or a sentence to copy."""


def written_out(source: str) -> list[str]:
    """Texts in a module that a report, or sentences to copy, would write otherwise than the page: with signs that
    nobody sees."""
    texts = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    flat = [text.replace("\n", " ").replace("\t", " ") for text in texts if isinstance(text, str)]
    return [text for text in flat if visible(text, len(text) + 1) != text]


def test_no_words_have_signs_that_a_report_writes_out() -> None:
    found = {module.stem: written_out(module.read_text()) for module in sorted(WORDS.glob("*.py"))}
    assert {name for name, texts in found.items() if texts} <= UNSEEN_BESIDE
    assert found["tracker"], "such a sign is found"


@pytest.mark.parametrize("key", [*(key for _, key, _ in QUICK), Hits.key])
def test_no_answer_has_signs_that_a_report_writes_out(key: str) -> None:
    """What is said of an answer that is drawn, as it goes on paper and into the sentences to copy."""
    name = next(name for name in ("clinic", "outbreak", "forecasts") if asked(key, name) is not None)
    found = asked(key, name)
    assert found is not None
    offer = found[0].offer
    if isinstance(offer, NoOffer):
        assert key in ("one_ball", "follow"), "all others have a release about a sample"
        return
    told = offer.describe(offer.request.answer(offer.data()))
    assert "⟨U+" not in plain(on_paper(told))
    assert "⟨U+" in plain(on_paper(f"{told} ±\u00a01"))


# -- numbers -----------------------------------------------------------------------------------------------------------

LONG = re.compile(r"\d[\d,]*\.\d{4,}")
SHORT = re.compile(r"0?\.0*\d{1,3}")


def too_long(text: str) -> list[str]:
    """Numbers with more digits than anybody reads: whole ones are written whole, small ones with three that count."""
    return [found for found in LONG.findall(text) if not SHORT.fullmatch(found)]


@pytest.mark.parametrize("key", [key for _, key, _ in QUICK])
def test_no_number_has_more_digits_than_anybody_reads(key: str) -> None:
    name = next(name for name in ("clinic", "outbreak", "forecasts") if asked(key, name) is not None)
    texts = [*shown(key, name), *in_tabs(key, name), *in_pictures(key, name)]
    assert {text: found for text in texts if (found := too_long(text))} == {}


def test_long_numbers_are_found() -> None:
    assert too_long("at 60.272298948388, 1,234.56789 and 0.12345") == ["60.272298948388", "1,234.56789", "0.12345"]
    assert too_long("at 60.3, 1,234,567, 0.000123, .00123 and 5.25") == []
    assert any(in_pictures("alarm", "outbreak"))


# -- the glossary ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [key for _, key, _ in QUICK])
def test_every_symbol_and_initial_is_explained(key: str) -> None:
    name = next(name for name in ("clinic", "outbreak", "forecasts") if asked(key, name) is not None)
    for text in (*shown(key, name), *in_tabs(key, name)):
        assert glossary.unexplained(text) == set(), text


def test_a_term_without_a_line_is_found() -> None:
    assert glossary.unexplained("At ω the XYZ holds, at ε the CSV.") == {"ω", "XYZ"}


@pytest.mark.parametrize("key", [key for _, key, _ in QUICK])
def test_every_method_on_a_page_is_explained(key: str) -> None:
    found = next(found for name in ("clinic", "outbreak", "forecasts") if (found := asked(key, name)) is not None)
    view, told = found[0].view, glossary.listed()
    assert isinstance(view, View)
    for method in view.methods:
        name = view.names[method]
        bound = view.problem.evaluate(method, view.metric, np.array([0.5]), np.array([view.size])).kind == "bound"
        assert bound or name[:1].islower() or f"**{name}**" in told, name


class Sought(str):
    """A text that may not be looked at as a whole."""

    __slots__ = ()

    def strip(self, *_: object) -> str:
        raise AssertionError("all of it was read")

    lower = strip


def test_a_word_is_found_and_the_glossary_lowered_once() -> None:
    """It was lowered anew for each of a hundred lines, whatever its length: a message was seconds of work."""
    assert glossary.found(" LASTING address ") == "- **DOI**: the lasting address of a paper or a table."
    assert glossary.found("") == glossary.found(" ") == glossary.listed()
    assert glossary.found("no such word") == ""
    for _ in range(3):
        glossary.found(Sought("x" * 10_000_000))
    assert glossary._lowered.cache_info().misses == 1
    with pytest.raises(AssertionError):
        [line for line in glossary.listed().splitlines() if Sought("ε").strip().lower() in line.lower()]


def test_every_term_can_be_typed_whole() -> None:
    assert max(map(len, [*glossary.TERMS, *glossary.methods()])) <= glossary.LONGEST_SOUGHT


def test_a_line_of_the_glossary_is_one_line() -> None:
    for term, line in glossary.TERMS.items():
        assert len(line) <= 120, term
        assert line.endswith("."), term


# -- reading level -----------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_headlines_cards_and_release_texts_read_like_a_good_newspaper() -> None:
    every = {part for _, key, _ in QUICK for name in KEYS for text in shown(key, name) for part in sentences(text)}
    assert len(every) > 200
    grades = sorted(((textstat.automated_readability_index(part), part) for part in every), reverse=True)
    hard = [pair for pair in grades if pair[0] > HARDEST]
    worst = "\n".join(f"{grade:.1f}  {part}" for grade, part in grades[:15])
    assert 100 * len(hard) <= HARD_IN_100 * len(grades), f"{len(hard)} of {len(grades)} too hard:\n{worst}"
    assert grades[len(grades) // 2][0] <= MEDIAN, worst


def test_a_hard_sentence_is_found() -> None:
    hard = (
        "The first settlement of obligations concerning confidentiality subsequently determines, irrespective of "
        "intermediate reconsiderations, which relational differences this particular budget obscures until reset."
    )
    assert textstat.automated_readability_index(hard) > HARDEST


# -- targets -----------------------------------------------------------------------------------------------------------


def offered() -> list[tuple[str, str]]:
    """(question, sample) as the Data page offers them: a page's first question about a sample that suits it."""
    first = {page: key for page, key, _ in reversed(QUICK)}
    return [
        (first[page], known.key) for known in samples() for page, _ in known.why if page in first and known.key in KEYS
    ]


@pytest.mark.parametrize(("key", "name"), offered())
def test_the_target_can_be_met_or_the_card_says_why_and_the_method_in_use_is_best(key: str, name: str) -> None:
    found = asked(key, name)
    assert found is not None, sample(name).title
    question, _ = found
    need = question.need.found
    assert need is not None
    view = question.view
    assert isinstance(view, View)
    if need.epsilon is None or need.epsilon > EPSILON_HIGH:
        assert "Not at any" in needs.told(need)
    else:
        at = [view.at_epsilon(view.main, level) for level in (need.epsilon * 0.9, need.epsilon * 1.02)]
        goal = view.target
        if goal is not None:
            assert (at[1] >= goal) if view.higher else (at[1] <= goal)
    here = np.array([question.protected.epsilon]), np.array([view.size])
    private = {
        method: view.at(method)
        for method in view.methods
        if method != "non_private" and view.problem.evaluate(method, view.metric, *here).kind != "bound"
    }
    best = (max if view.higher else min)(private.values())
    assert abs(private[view.main] - best) <= 1e-3 * max(abs(best), 1.0), private
    levels = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    values = [view.at_epsilon(view.main, level) for level in levels]
    signed = values if view.higher else [-value for value in values]
    if "at random" in question.headline:
        return  # nothing can be learnt from these data, and the page says so
    slack = 0.01 * max(abs(value) for value in values)
    assert all(after >= before - slack for before, after in pairwise(signed)), values


def test_every_page_opens_with_a_target_that_can_be_met_within_its_practice_budget() -> None:
    for page in catalogue.pages():
        if page.key == "training":
            continue
        found = asked(next(iter(catalogue.questions(page.key))), page.example or "clinic")
        assert found is not None
        need = found[0].need.found
        assert need is not None
        assert need.epsilon is not None
        assert 0.05 <= need.epsilon <= 0.5, "within the slider, and the headline says that it is enough"
        assert "enough for the" in found[0].headline or "within the" in found[0].headline


# -- what an answer would look like ------------------------------------------------------------------------------------


def possible(request: Any) -> tuple[str, ...]:
    """All that an answer may name, by what is declared."""
    if hasattr(request, "rules_to_choose"):
        return tuple(map(str, request.rules_to_choose.rules))
    return next(getattr(request, name) for name in ("options", "candidates", "columns") if hasattr(request, name))


@pytest.mark.parametrize(
    ("key", "name"),
    [("most_common", "clinic"), ("most_common", "meeting_dates"), ("best_rule", "clinic"), ("fixed_choice", "clinic")],
)
def test_the_example_beside_the_button_is_an_answer_that_there_may_be(key: str, name: str) -> None:
    found = asked(key, name)
    assert found is not None
    offer = found[0].offer
    assert isinstance(offer, Offer)
    _, _, example = release_words.none_drawn(offer.gives, practice=True).partition("written like “")
    assert example.partition("”")[0] in possible(offer.request)
