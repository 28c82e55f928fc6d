"""A deck on paper: every scene a section that its page would give, own data only where the person holds them."""

from __future__ import annotations

import hashlib
import pickle
from dataclasses import fields, replace
from functools import cache
from typing import Any

import pytest

from dashboard.case import Source
from dashboard.question import Work
from dashboard.report import again, deck_button, of_deck, text
from dashboard.report.notebook import script
from dashboard.report.of_deck import (
    LeftOut,
    OwnFile,
    Piece,
    Simulated,
    Told,
    Waiting,
    section_of,
    section_with,
    shortened,
    simulated,
)
from dashboard.report.render import rendered
from dashboard.report.value import Drawing, Heading, Paragraph, Section, plain
from dashboard.scenes.address import Address
from dashboard.scenes.deck import Scene, bundled
from dashboard.words import report as said
from dpcore.datasets import Declaration, Schema, read_table
from dpcore.errors import InvalidArgument
from tests.report.made import of_scene, own_source, report, visits
from tests.report.test_report_again import run
from tests.report.test_report_forms import document_text, flat, pages, said_by


def scene(address: str, **facts: str) -> Scene:
    return Scene(title="A scene", sentence="What it shows.", address=Address.of(address), **facts)


def asked(found: Scene, own: OwnFile | None = None) -> Section:
    made = of_scene(own, Told(number=1, scene=found, delta=1e-6))
    assert isinstance(made, Section), made
    return made


@cache
def five_minutes() -> tuple[Section, ...]:
    scenes = bundled()["five_minutes"].scenes
    made = [of_scene(None, Told(number=place, scene=one, delta=1e-6)) for place, one in enumerate(scenes, 1)]
    assert all(isinstance(one, Section) for one in made)
    return shortened([one for one in made if isinstance(one, Section)])


def headings(section: Section) -> list[str]:
    return [part.text for part in section.parts if isinstance(part, Heading)]


@pytest.mark.thorough
def test_every_scene_is_a_section_with_its_sentence_and_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    deck, sections = bundled()["five_minutes"], five_minutes()
    assert [one.title for one in sections] == [one.title for one in deck.scenes]
    for one, section in zip(deck.scenes, sections, strict=True):
        assert one.sentence in said_by(section.parts)
        assert said.VERDICT in headings(section)
        epsilon = dict(one.address.settings).get("epsilon", "0.5")
        assert f"ε = {float(epsilon):g}" in "".join(said_by(section.parts))
    run(script(report(*sections)).decode())
    assert capsys.readouterr().out.count("are computed again.") == len(deck.scenes)


def test_what_an_earlier_scene_says_is_named_and_not_repeated() -> None:
    sections = five_minutes()
    groups = [one for section in sections for one in section.parts if isinstance(one, Drawing)]
    assert len({one.svg for one in groups}) == len(groups)
    later = sections[3]
    assert said.PICTURE not in headings(later)
    told = [plain(one.line) for one in later.parts if isinstance(one, Paragraph)][-1]
    assert told.startswith(f"As in 1, “{sections[0].title}”: ")
    assert said.LABEL.lower() in told
    # the scene that is about people shows the picture against people
    assert headings(sections[2])[0] == said.AGAINST_SIZE


def test_the_whole_deck_is_one_tagged_document() -> None:
    whole = "".join(pages(rendered(report(*five_minutes(), title="Five minutes"), "pdf")[1]))
    for section in five_minutes():
        assert flat(section.title) in flat(whole)
    assert flat(said.MARKS["sample"]) in flat(whole)


OWN = scene("selection?epsilon=0.2&data=own", wants="visits of one week")


def own_file() -> OwnFile:
    source, data = own_source(visits())
    values: dict[str, Any] = {"selection_column": "complaint", "no such control": 3}
    return OwnFile(source=replace(source, rows=again.closed), values=values, data=data, delta=1e-6)


def test_a_scene_of_an_own_file_shows_a_sample_to_whoever_does_not_hold_it() -> None:
    found = asked(OWN)
    assert (found.kind, found.own) == ("sample", False)
    assert said.instead_of("visits of one week") in said_by(found.parts)
    assert "rash" not in "".join(said_by(found.parts))
    assert report(found).private


def test_a_scene_of_an_own_file_is_marked_where_the_person_holds_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = asked(OWN, pickle.loads(pickle.dumps(own_file())))  # noqa: S301 - as a worker process gets it
    assert (found.kind, found.own) == ("what_if", True)
    assert "“complaint”: 3 options (declared by a person)" in "".join(said_by(found.parts))
    both = report(asked(scene("selection?epsilon=0.2")), found)
    assert both.file_name.startswith("not-private")
    assert document_text(rendered(both, "docx")[1]).count(said.MARKS["what_if"]) == 2
    (tmp_path / "visits.csv").write_bytes(visits())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["script"])
    run(script(both).decode())
    assert capsys.readouterr().out.count("are computed again.") == 2
    # a scene of the same deck that wants no file is about its sample, whoever asks
    assert asked(scene("selection?epsilon=0.2"), own_file()).kind == "sample"


def test_an_own_file_as_a_page_holds_it_can_be_sent_to_a_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    source, data = own_source(visits())
    asked_for = [field.name for field in fields(Source) if "Callable" in str(field.type)]
    assert {"rows", "join"} <= set(asked_for)
    held = replace(source, **{name: lambda: None for name in asked_for})  # as a session has them
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(held)
    monkeypatch.setattr(deck_button.data, "held", lambda: held)
    monkeypatch.setattr(deck_button.session, "unlinked", dict)
    monkeypatch.setattr(deck_button.panel, "data_code", lambda _: data)
    monkeypatch.setattr(deck_button.tracker, "usual_delta", lambda _: 1e-6)
    sent = pickle.loads(pickle.dumps(deck_button._own_file()))  # noqa: S301
    assert sent.source.title == source.title


FEW = "training?training_seeds=8&training_drawn-accuracy-False=[]"


@pytest.fixture
def run_of(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which slots' parts are run, in order."""
    found: list[str] = []
    inside = again.begun

    def begun(*args: Any, **named: Any) -> again.Begun:
        asked = inside(*args, **named)

        def noted(work: Work) -> Work:
            def run(shared: Any, part: Any) -> Any:
                found.append(work.slot)
                return work.run(shared, part)

            return replace(work, run=run)

        return replace(asked, question=replace(asked.question, works=tuple(map(noted, asked.question.works))))

    monkeypatch.setattr(again, "begun", begun)
    return found


def slices(told: Told, run_of: list[str]) -> list[list[str]]:
    """Which parts are run in each slice of a scene's way onto paper."""
    found, each = list[list[str]](), list[Any]()

    def ended() -> None:
        found.append(list(run_of))
        run_of.clear()

    first = section_of(None, told)
    ended()
    if isinstance(first, Waiting):
        for piece in first.pieces:
            each.append(simulated(None, piece))
            ended()
        assert isinstance(section_with(Simulated(own=None, pieces=first.pieces, found=tuple(each)), told), Section)
        ended()
    return found


@pytest.mark.parametrize("address", ["selection", "thresholding?question=follow", "experts", FEW])
def test_no_slice_simulates_more_than_one_part(address: str, run_of: list[str]) -> None:
    """Once a scene was one slice, which took minutes, and nobody could stop it."""
    told = Told(number=1, scene=scene(address), delta=1e-6)
    found = slices(told, run_of)
    assert max(map(len, found)) <= 1
    assert found[0] == found[-1] == [], "what asks and what draws simulates nothing"
    assert (sum(map(len, found)) > 1) == (address == FEW), "the others are answered by exact laws"


def test_a_slice_that_simulates_all_of_a_scene_would_be_found(
    run_of: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: as it was."""
    inside = of_deck._asked

    def whole(own: OwnFile | None, told: Told) -> Any:
        here = inside(own, told)
        for work in here.begun.question.works:
            for part in work.parts():
                work.run(work.common(), part)
        return here

    monkeypatch.setattr(of_deck, "_asked", whole)
    assert max(map(len, slices(Told(number=1, scene=scene(FEW), delta=1e-6), run_of))) > 1


def test_what_was_found_is_told_apart_by_slot() -> None:
    told = Told(number=1, scene=scene("experts"), delta=1e-6)
    pieces = tuple(Piece(told=told, slot=slot, place=place) for slot in ("a", "b") for place in (0, 1))
    found = Simulated(own=None, pieces=pieces, found=(1, 2, 3, 4))
    assert found.results == {"a": (1, 2), "b": (3, 4)}


def test_part_by_part_the_same_comes_out_as_in_one_process() -> None:
    settings = {"training_seeds": "8", "training_drawn-accuracy-False": "[]"}
    source = again.sample_source(of_deck.sample_of(scene("training")) or "")
    whole = again.asked("training", "predict", source, epsilon=0.5, delta=1e-6, settings=settings)
    told = asked(scene(f"{FEW}&epsilon=0.5"))
    assert plain(text.line(whole.headline)) in said_by(told.parts)


def test_a_scene_about_a_file_of_steps_is_drawn_without_opening_its_rows(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its page counts the steps of its rows; in a report they are closed, and one scene kept all others from it."""
    data = ("day,visits\n" + "".join(f"{day},{day % 7}\n" for day in range(60))).encode()
    reading = read_table(data)
    columns = tuple(replace(one.suggestion, low=0.0, high=90.0) for one in reading.columns)
    schema = Schema(columns=columns, each_row="step")
    declared = Declaration.of(schema)
    digest = hashlib.sha256(repr(schema).encode()).hexdigest()
    (tmp_path / "a.csv").write_bytes(data)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["script"])
    named: dict[str, Any] = {"fingerprint": f"{reading.key}:{digest}", "key": "own-a", "choices": {}, "steps": ()}
    source = again.file_source("a.csv", schema=schema, declared=declared, **named)
    assert source.lines == 60
    held = OwnFile(source=source, values={}, data="", delta=1e-6)
    assert asked(scene("thresholding?data=own", wants="visits"), held).kind == "what_if"
    monkeypatch.setattr(deck_button.data, "held", lambda: replace(source, rows=lambda: reading.private, lines=None))
    monkeypatch.setattr(deck_button.session, "unlinked", dict)
    monkeypatch.setattr(deck_button.panel, "data_code", lambda _: "")
    monkeypatch.setattr(deck_button.tracker, "usual_delta", lambda _: 1e-6)
    own = deck_button._own_file()
    assert own is not None
    assert own.source.lines == 60
    with pytest.raises(InvalidArgument, match="not opened"):
        asked(scene("thresholding?data=own", wants="visits"), replace(held, source=replace(source, lines=None)))


def test_a_scene_that_asks_nothing_is_left_out_and_said() -> None:
    found = section_of(None, Told(number=3, scene=scene("budget"), delta=1e-6))
    assert found == LeftOut("Scene 3, “A scene”, is not in the report, because its page asks no question.")


def test_a_setting_that_is_not_offered_any_more_is_the_usual_one() -> None:
    assert (
        asked(scene("selection?selection_metric=none&epsilon=0.2")).numbers
        == asked(scene("selection?epsilon=0.2")).numbers
    )


def test_a_simulated_picture_is_asked_for_against_epsilon() -> None:
    found = asked(scene(f"{FEW}&training_axis=n"))
    assert said.PICTURE in headings(found)
    assert "training_axis" not in found.code
