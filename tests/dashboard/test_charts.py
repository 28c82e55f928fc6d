"""Pictures hold the numbers they are given, fit their size limits, and write names where nothing else is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io
import pytest

from dashboard import session
from dashboard.charts import places
from dashboard.charts.dots import odds_grid, outcomes, shares, two_bars
from dashboard.charts.draws import noisy_race
from dashboard.charts.earlier import faded
from dashboard.charts.heat_map import heat_map
from dashboard.charts.labels import LEGEND, Keep, Places, with_legend
from dashboard.charts.laws import chances, curves
from dashboard.charts.places import AREAS, Place, place, wrapped
from dashboard.charts.theme import DARK, LIGHT, Palette, colours, log_ticks, plain
from dashboard.charts.tradeoff import Scale, read_off, tradeoff
from dashboard.widgets.picture import marked
from dpcore.tradeoff import COLUMNS

SCALE = Scale(title="times right in 100", factor=100.0, unit=" times in 100", hundred=True)


def frame(methods: int = 4, points: int = 61) -> pd.DataFrame:
    epsilon = np.geomspace(0.01, 10, points)
    parts = []
    for index in range(methods):
        value = 1 / (1 + np.exp(-3 * (np.log(epsilon) + index)))
        parts.append(
            pd.DataFrame(
                {
                    "method": f"m{index}",
                    "epsilon": epsilon,
                    "n": 100.0,
                    "metric": "success",
                    "value": value,
                    "low": value - 0.02,
                    "high": np.minimum(value + 0.02, 1),
                    "kind": "bound" if index == methods - 1 else "exact",
                }
            )
        )
    return pd.concat(parts, ignore_index=True)[list(COLUMNS)]


def figure(dark: bool = False) -> dict:
    names = {f"m{i}": f"Method {i}" for i in range(4)}
    return tradeoff(
        frame(),
        x="epsilon",
        x_title="ε",
        scale=SCALE,
        names=names,
        colour=colours(list(names), dark),
        main="m0",
        chosen=0.5,
        target=0.95,
        dark=dark,
    )


def test_a_faded_picture_is_the_same_picture_that_cannot_be_read_as_an_answer() -> None:
    """Same curves and axes under a veil, a sign over it, nothing to hover; the picture itself is left alone."""
    before = figure()
    made, untouched = faded(before), figure()
    assert plotly.io.to_json(before, validate=False) == plotly.io.to_json(untouched, validate=False)
    assert made["data"] is before["data"]
    assert made["layout"]["xaxis"] == before["layout"]["xaxis"]
    assert made["layout"]["hovermode"] is False
    assert made["layout"]["shapes"][-1]["layer"] == "above"
    *names, sign = made["layout"]["annotations"]
    assert sign["text"] == "the earlier question"
    assert "opacity" not in sign
    assert all(name["opacity"] < 0.5 for name in names)


@pytest.mark.parametrize("dark", [False, True])
def test_every_figure_is_valid_plotly(dark: bool) -> None:
    """Built as plain dictionaries for speed; Plotly's own validation must accept each."""
    epsilon, n = np.geomspace(0.01, 10, 5), np.geomspace(10, 1000, 4)
    grid = pd.DataFrame(
        {"epsilon": np.tile(epsilon, 4), "n": np.repeat(n, 5), "value": np.linspace(0, 1, 20), "method": "m0"}
    )
    law = np.array([0.7, 0.3])
    figures = [
        figure(dark),
        faded(figure(dark), dark=dark),
        heat_map(grid, scale=SCALE, n_title="people", chosen=(0.5, 100.0), target=0.5, dark=dark),
        outcomes(["a", "b"], [30, 20], inks=["#1f4e9e", "#b3541e"], rings=[1, 2], dark=dark),
        two_bars(0.01, 0.23, ("privacy noise", "only these people"), dark=dark),
        odds_grid(62, dark=dark),
        noisy_race(["a", "b"], np.array([3.0, 2.0]), np.ones((3, 2)), unit="people", dark=dark),
        chances(["a", "b"], {"m": law}, {"m": "M"}, {"m": "#123456"}, dark=dark),
        curves(epsilon, {"m": epsilon}, {"m": "M"}, {"m": "#123456"}, x_title="x", y_title="y", dark=dark),
    ]
    for made in figures:
        go.Figure(made)


def test_the_chart_draws_the_frame_and_stays_small() -> None:
    """Main method last and thick, the bound dotted, every value kept; at most 50 kB as the browser gets it."""
    made = figure()
    lines = [trace for trace in made["data"] if trace.get("name")]
    assert lines[-1]["name"] == "Method 0"
    assert {trace["name"]: trace["line"]["dash"] for trace in lines}["Method 3"] == "dot"
    np.testing.assert_allclose(lines[-1]["y"], frame().query("method == 'm0'")["value"] * 100, rtol=1e-6)
    assert len(plotly.io.to_json(made, validate=False)) < 50_000


@pytest.mark.parametrize("sign", ["", "±"])
@pytest.mark.parametrize("share", [0.004, 0.44, 0.95, 1.0])
def test_the_number_beside_a_bar_is_not_cut(share: float, sign: str) -> None:
    """ "95 in 100" lost its end where the chart is narrow."""
    made = two_bars(share, 0.3, ("privacy noise", "only these people"), sign=sign)
    margin, (low, high) = made["layout"]["margin"], made["layout"]["xaxis"]["range"]
    for width in (300, 358):
        room = width - margin["l"] - margin["r"]
        for value, text in zip(made["data"][0]["x"], made["data"][0]["text"], strict=True):
            assert margin["l"] + room * (value - low) / (high - low) + 7 * len(text) <= width


def box(spot: Place, x: float, y: float) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of a written name in pixels; 13-px letters are at most 7.2 px wide on average."""
    width, half = 7.2 * max(map(len, spot.rows)), 9.0 * len(spot.rows)
    left = x + spot.shift_x - (width if spot.anchor == "right" else 0)
    return left, left + width, y + spot.shift_y - half, y + spot.shift_y + half


def test_names_touch_no_line_and_no_other_name() -> None:
    x = np.linspace(-2, 1, 61)
    lines = [100 / (1 + np.exp(-4 * (x + shift))) for shift in (0.0, 0.5, 1.2)]
    names = ["Permute and flip", "Exponential mechanism", "Noise on every count"]
    found = place(x, lines, names, (0.0, 104.0), [], sizes=[(640.0, 420.0)])
    boxes = []
    for spot, line, name in zip(found, lines, names, strict=True):
        assert spot is not None
        assert " ".join(spot.rows) == name
        boxes.append(box(spot, (x[spot.index] + 2) / 3 * 640, line[spot.index] / 104 * 420))
    for left, right, bottom, top in boxes:
        inside = ((x + 2) / 3 * 640 >= left) & ((x + 2) / 3 * 640 <= right)
        for line in lines:
            heights = line[inside] / 104 * 420
            assert not ((heights > bottom) & (heights < top)).any()
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            assert a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]


def test_one_place_does_in_every_size_of_a_picture() -> None:
    """Names of every length stay inside the picture and off each other in each size; what has no place is told."""
    rng = np.random.Generator(np.random.PCG64(11))
    names = [
        "Weighted majority as in the textbook",
        "Exponential mechanism on the columns",
        "Textbook noisy gradient descent",
        "DP-SGD (random mini-batches)",
        "Without privacy",
    ]
    x, placed = np.linspace(0, 1, 61), 0
    for _ in range(40):
        lines = [100 / (1 + np.exp(-rng.uniform(3, 15) * (x - rng.uniform(0, 1)))) for _ in names]
        found = place(x, lines, names, (0.0, 104.0), [])
        placed += sum(spot is not None for spot in found)
        assert all(" ".join(spot.rows) == name for spot, name in zip(found, names, strict=True) if spot is not None)
        for width, height in AREAS:
            boxes = [
                box(spot, x[spot.index] * width, line[spot.index] / 104 * height)
                for spot, line in zip(found, lines, strict=True)
                if spot is not None
            ]
            for left, right, bottom, top in boxes:
                assert left >= -1e-9
                assert right <= width + 1e-9
                assert bottom >= 0
                assert top <= height
            for i, a in enumerate(boxes):
                for b in boxes[i + 1 :]:
                    assert a[1] <= b[0] or b[1] <= a[0] or a[3] <= b[2] or b[3] <= a[2]
    assert placed >= 0.97 * 40 * len(names)


@pytest.mark.parametrize("retries", [2, 0])
def test_the_longest_name_does_not_push_a_short_one_onto_a_line(retries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """ "Without privacy" lay on another method's line, which it hid, while there was room below its own."""
    monkeypatch.setattr(places, "_RETRIES", retries)
    rng = np.random.Generator(np.random.PCG64(12))
    names = [
        *("Textbook noisy gradient descent", "Noisy descent on steps", "Objective perturbation"),
        *("Noisy gradient descent", "Without privacy"),
    ]
    x, flat, on_a_line = np.linspace(0, 1, 61), np.full(61, 97.0), 0
    for _ in range(60):
        curves = [
            50 + rng.uniform(30, 48) / (1 + np.exp(-rng.uniform(3, 15) * (x - rng.uniform(0, 1)))) for _ in range(4)
        ]
        lines = [*curves, flat]
        for spot, own in zip(place(x, lines, names, (40.0, 104.0), []), lines, strict=True):
            assert spot is not None
            for width, height in AREAS:
                left, right, bottom, top = box(spot, x[spot.index] * width, (own[spot.index] - 40) / 64 * height)
                along = (x * width >= left) & (x * width <= right)
                heights = (np.array(lines)[:, along] - 40) / 64 * height
                on_a_line += int(((heights > bottom) & (heights < top)).any())
    assert (on_a_line <= 8) == (retries > 0), on_a_line


def test_long_names_are_wrapped_into_even_rows_and_lose_no_word() -> None:
    assert wrapped("Permute and flip") == ["Permute and flip"]
    assert wrapped("Exponential mechanism over intervals") == ["Exponential mechanism", "over intervals"]
    for name in ("a" * 60, "What theory promises the linear learner", "one two three four five six seven eight nine"):
        assert " ".join(wrapped(name)) == name


@pytest.mark.parametrize(("height", "seen"), [(50.0, False), (0.9, True)])
def test_nothing_names_a_bound_that_is_not_in_the_picture(height: float, seen: bool) -> None:
    """A theorem's line that runs above the picture is in no legend either: the caption says what it guarantees."""
    table = frame(3)
    table.loc[table["method"] == "m2", ["value", "low", "high"]] = height
    names = {f"m{i}": f"Method {i}" for i in range(3)}
    made = tradeoff(
        table,
        x="epsilon",
        x_title="ε",
        scale=Scale(title="points"),
        names=names,
        colour=colours(list(names), False),
        main="m0",
        chosen=0.5,
    )
    assert ("Method 2" in {trace.get("name") for trace in made["data"]}) == seen
    assert not made["layout"]["showlegend"]
    written = {note["text"] for note in made["layout"]["annotations"]}
    assert written == {"Method 1", "Method 0", *(["Method 2"] if seen else [])}
    assert not any(trace["showlegend"] for trace in figure()["data"])


@pytest.mark.parametrize("left_out", [[], ["Method 1"]])
def test_a_legend_takes_nothing_from_the_picture(left_out: list[str]) -> None:
    """Places are sought for one height: names slid over one another where a legend made the picture lower."""
    made = with_legend(figure()["data"], left_out, 400)
    assert made["height"] == 400 + (LEGEND if left_out else 0)
    assert made["showlegend"] == bool(left_out)


@pytest.mark.parametrize("steep", [3.0, 30.0, 61.0, 300.0])
def test_a_name_hangs_on_the_part_of_its_line_that_can_be_seen(steep: float) -> None:
    """Plotly leaves out a name whose place on the line is outside the picture; the legend has it then."""
    x = np.linspace(0.0, 1.0, 61)
    lines = [steep * x, 0.5 * x]
    spots = place(x, lines, ["Advanced composition (if planned)", "Low"], (0, 1), [], sizes=[(600, 350)])
    assert (spots[0] is None) == (steep > 60)
    assert all(spot is None or line[spot.index] <= 1.0 for spot, line in zip(spots, lines, strict=True))


def one_line(places: list[float], values: list[float]) -> pd.DataFrame:
    line = {"method": "m0", "epsilon": places, "n": 10, "metric": "risk", "value": values, "low": values}
    return pd.DataFrame({**line, "high": values, "kind": "simulated"})[list(COLUMNS)]


def test_a_value_is_read_off_between_points_and_not_beyond_them() -> None:
    line = one_line([1.0, 0.01], [2.0, 4.0])  # in any order
    assert read_off(line, "epsilon", 0.1) == pytest.approx(3.0)
    assert read_off(line, "epsilon", 0.01) == pytest.approx(4.0)
    assert read_off(line, "epsilon", 1.0) == pytest.approx(2.0)
    assert read_off(line, "epsilon", 0.0099) is None
    assert read_off(line, "epsilon", 1.01) is None
    assert read_off(line.iloc[:0], "epsilon", 0.1) is None


def test_names_stand_where_they_do_whatever_is_chosen() -> None:
    """So their places are looked for once: a quarter of what an ε costs that is asked for the first time."""
    table, names, sought = frame(4), {f"m{i}": f"Method {i}" for i in range(4)}, list[object]()

    def drawn(chosen: float, keep: Keep) -> list[dict]:
        own = table[table["method"] == "m0"].iloc[[3]].assign(epsilon=chosen, value=0.9)
        made = tradeoff(
            pd.concat([table, own], ignore_index=True),
            x="epsilon",
            x_title="ε",
            scale=Scale(title="y"),
            names=names,
            colour=dict.fromkeys(names, "#123456"),
            main="m0",
            chosen=chosen,
            keep=keep,
        )
        return made["layout"]["annotations"]

    def keep(find: Callable[[], Places]) -> Places:
        if not sought:
            sought.append(find())
        return sought[0]  # type: ignore[return-value]

    anew = [drawn(chosen, lambda find: find()) for chosen in (0.0123, 0.456)]
    assert anew[0] == anew[1] == drawn(0.789, keep) == drawn(0.0456, keep)
    assert len(anew[0]) == 4


@pytest.mark.parametrize("log_y", [False, True])
def test_marker_and_goal_lie_where_the_axis_has_them(log_y: bool) -> None:
    def drawn(chosen: float) -> dict:
        return tradeoff(
            one_line([0.01, 0.1, 1.0], [10.0, 0.1, 0.001]),
            x="epsilon",
            x_title="ε",
            scale=Scale(title="risk"),
            names={"m0": "Method 0"},
            colour=colours(["m0"], False),
            main="m0",
            chosen=chosen,
            target=0.01,
            log_y=log_y,
        )

    made = drawn(0.1)
    marker = next(trace for trace in made["data"] if trace["mode"] == "markers")
    assert marker["x"] == [0.1]
    assert marker["y"] == [pytest.approx(0.1)]
    goal = next(note for note in made["layout"]["annotations"] if note["text"].startswith("goal set"))
    # Plotly takes a shape's place in data units and an annotation's as the exponent on a logarithmic axis.
    assert goal["y"] == pytest.approx(-2.0 if log_y else 0.01)
    assert any(shape.get("y0") == 0.01 for shape in made["layout"]["shapes"])
    assert not any(trace["mode"] == "markers" for trace in drawn(5.0)["data"])


def test_the_first_method_s_bar_is_on_top_as_in_the_legend() -> None:
    law = np.array([0.7, 0.3])
    made = chances(["a", "b"], {"m": law, "k": law}, {"m": "M", "k": "K"}, {"m": "#123456", "k": "#654321"})
    assert [trace["name"] for trace in made["data"]] == ["K", "M"]  # the last is drawn on top
    assert made["layout"]["legend"]["traceorder"] == "reversed"


def test_the_mark_of_a_chart_that_is_not_private_has_a_row_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Legends and scales above the picture move up by more than the mark is high; the chart itself is not changed."""
    monkeypatch.setattr(session, "dark", lambda: False)
    law = np.array([0.7, 0.3])
    bars = chances(["a", "b"], {"m": law}, {"m": "M"}, {"m": "#123456"})
    epsilon, n = np.geomspace(0.01, 10, 5), np.geomspace(10, 1000, 4)
    grid = pd.DataFrame(
        {"epsilon": np.tile(epsilon, 4), "n": np.repeat(n, 5), "value": np.linspace(0, 1, 20), "method": "m0"}
    )
    colours_above = heat_map(grid, scale=SCALE, n_title="people", chosen=(0.5, 100.0))
    for plain_one, above in (
        (bars, lambda f: f["layout"]["legend"]),
        (colours_above, lambda f: f["data"][0]["colorbar"]),
    ):
        before, height = above(plain_one)["y"], plain_one["layout"]["height"]
        made = marked(plain_one, "Not private.")
        assert [note["text"] for note in made["layout"]["annotations"]][-1] == "<b>Not private.</b>"
        assert (above(made)["y"] - before) * 0.6 * height >= 16
        assert above(plain_one)["y"] == before
        taken = made["layout"]["margin"]["t"] - plain_one["layout"]["margin"]["t"]
        assert made["layout"]["height"] - height == taken, (
            "the picture is as high as before: its names have their places"
        )
        go.Figure(made)


def test_dots_add_up_and_follow_the_chances() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    for _ in range(200):
        law = rng.dirichlet(np.ones(rng.integers(1, 30)))
        counts = shares(list(law), 50)
        assert sum(counts) == 50
        assert max(abs(count - 50 * p) for count, p in zip(counts, law, strict=True)) < 1.0


def test_ticks_are_plain_numbers() -> None:
    ticks = log_ticks(0.01, 10.0)
    assert ticks["ticktext"][0] == "0.01"
    assert "1" in ticks["ticktext"]
    assert not any("m" in text or "e" in text for text in ticks["ticktext"])
    assert plain(0.00001) == "0.00001"
    assert plain(1500) == "1,500"


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("look", [LIGHT, DARK])
def test_lines_and_text_keep_their_contrast(look: Palette) -> None:
    for colour in look.series:
        assert contrast(colour, look.paper) >= 4.5  # names are written in the line's colour
    assert contrast(look.ink, look.paper) >= 7
    assert contrast(look.soft, look.paper) >= 4.5
