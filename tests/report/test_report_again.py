"""The script and the notebook compute a report's numbers again, from the sample, the very file or the declaration."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard import words
from dashboard.report import again, recipe
from dashboard.report.analysis import has_trade_off, levels, number_name
from dashboard.report.notebook import notebook, script
from dashboard.report.render import rendered
from dashboard.report.value import Grid, Section
from dashboard.words import report as said
from dpcore.datasets import Column, Declaration, Schema
from dpcore.selection import PermuteAndFlip
from tests.report.made import FAST, KINDS, of_sample, own_source, report, section, twin_source, visits
from tests.report.test_report_forms import document_text, pages


def run(code: str) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "script"}
    exec(compile(code, "script", "exec"), scope)  # noqa: S102
    return scope


@pytest.mark.parametrize(("page", "key"), KINDS)
def test_a_script_computes_every_number_again(page: str, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = of_sample(page, key)
    scope = run(script(report(found)).decode())
    assert f"All {len(found.numbers)} numbers of the report are computed again." in capsys.readouterr().out
    assert len(found.numbers) > 10
    reported = dict(found.numbers)
    assert {name: pytest.approx(scope["found"][name], rel=1e-9) for name in reported} == reported


def test_the_table_says_those_numbers_and_they_are_the_exact_law() -> None:
    found = of_sample("selection", "most_common")
    (grid,) = [part for part in found.parts if isinstance(part, Grid)]
    numbers = dict(found.numbers)
    counts = again.sample_source("clinic").table.counts("complaint")
    for level, row in zip(levels(0.5), grid.rows, strict=True):
        law = PermuteAndFlip(epsilon=level, monotonic=True).probabilities(counts)
        exact = float(law[counts == counts.max()].sum())
        assert numbers[number_name("permute_and_flip", level)] == pytest.approx(exact, rel=1e-9)
        shown = row[1]
        assert shown == ("> 99.9" if 0.9995 <= exact < 1 - 1e-12 else words.number(100 * exact))
    assert grid.marked == levels(0.5).index(0.5)


def test_a_changed_number_is_found_out(capsys: pytest.CaptureFixture[str]) -> None:
    found = of_sample("selection", "quantile")
    code = script(report(found)).decode()
    name, value = found.numbers[0]
    assert repr(value) in code
    with pytest.raises(SystemExit, match=f"1 of {len(found.numbers)} numbers differ: {name}"):
        run(code.replace(repr(value), repr(value * 1.001)))
    with pytest.raises(SystemExit, match="numbers differ"):
        run(code.replace("epsilon=0.5", "epsilon=0.4"))
    assert "DIFFERS" in capsys.readouterr().out


@pytest.mark.thorough
def test_a_script_begins_at_the_budget_s_own_delta(capsys: pytest.CaptureFixture[str]) -> None:
    """What δ begins at depends on the budget; a link, and so the settings, say nothing of it."""
    source, data = again.sample_source("forecasts"), recipe.of_sample("forecasts")
    found = section("experts", "follow", source, data, delta=1e-8)
    assert dict(found.numbers) != dict(section("experts", "follow", source, data).numbers)
    run(script(report(found)).decode())
    assert "are computed again." in capsys.readouterr().out


def test_the_notebook_is_the_script_in_cells(capsys: pytest.CaptureFixture[str]) -> None:
    found = report(of_sample("selection", "most_common"), of_sample("selection", "quantile"))
    whole = json.loads(notebook(found))
    assert (whole["nbformat"], whole["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in whole["cells"]}) == len(whole["cells"])
    run("\n\n".join("".join(cell["source"]) for cell in whole["cells"] if cell["cell_type"] == "code"))
    assert capsys.readouterr().out.count("are computed again.") == 2


def test_a_simulated_picture_against_something_else_is_no_trade_off() -> None:
    source = again.sample_source("clinic")
    simulated = again.asked("training", "predict", source, epsilon=0.5, delta=1e-6, settings=FAST["predict"])
    assert has_trade_off(simulated, "epsilon")
    assert not has_trade_off(simulated, "n")
    assert has_trade_off(again.asked("selection", "quantile", source, epsilon=0.5, delta=1e-6, settings={}), "n")


# -- own files ---------------------------------------------------------------------------------------------------------


def what_if() -> Section:
    source, data = own_source(visits())
    return section("selection", "most_common", source, data, selection_metric="expected_loss", epsilon=0.2)


def test_the_very_file_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["script"])
    code = script(report(what_if())).decode()
    assert "'visits.csv'" in code
    with pytest.raises(SystemExit, match="beside this script"):
        run(code)
    (tmp_path / "visits.csv").write_bytes(visits("cough,33\n"))
    with pytest.raises(SystemExit, match="numbers differ"):
        run(code)
    (tmp_path / "visits.csv").write_bytes(b"other,columns\n1,2\n")
    with pytest.raises(SystemExit) as refused:
        run(code)
    assert str(refused.value) == said.NOT_THIS_FILE
    assert "are computed again" not in capsys.readouterr().out
    (tmp_path / "visits.csv").write_bytes(visits())
    run(code)
    assert "are computed again" in capsys.readouterr().out
    # its place can be given, too
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "visits.csv").rename(tmp_path / "elsewhere" / "v.csv")
    monkeypatch.setattr("sys.argv", ["script", str(tmp_path / "elsewhere" / "v.csv")])
    run(code)


def test_a_script_holds_no_value_of_the_file_but_what_the_report_says() -> None:
    """Ages are in the file and not in the question: none of the file's rows may be in the script."""
    source, data = own_source(visits().replace(b"cough,20", b"cough,87"))
    found = section("selection", "most_common", source, data)
    assert "87" not in data
    assert "row" not in dict(found.numbers)


def names(of: bytes) -> set[str]:
    """Whatever in these bytes could be a digest."""
    return set(
        re.findall(r"(?<![0-9A-Za-z.])(?=[0-9]*[a-f])[0-9a-f]{12,}(?![0-9A-Za-z])", of.decode("utf-8", "replace"))
    )


@pytest.mark.parametrize("named", [False, True])
def test_no_form_of_a_report_holds_a_digest_of_the_file(named: bool) -> None:
    """Whoever knows all rows but one would test guesses of that one on it."""
    source, data = own_source(visits())
    before = data.replace("key=", f"fingerprint={source.table.fingerprint!r}, key=")
    found = report(section("selection", "most_common", source, before if named else data))
    texts = [rendered(found, form)[1] for form in ("html", "ipynb", "py")]
    texts += ["".join(pages(rendered(found, "pdf")[1])).encode(), document_text(rendered(found, "docx")[1]).encode()]
    assert any(map(names, texts)) is named


def test_a_script_from_before_stops_by_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["script"])
    source, data = own_source(visits())
    before = data.replace("key=", f"fingerprint={source.table.fingerprint!r}, key=")
    code = script(report(section("selection", "most_common", source, before))).decode()
    (tmp_path / "visits.csv").write_bytes(visits())
    run(code)
    (tmp_path / "visits.csv").write_bytes(visits("cough,33\n"))
    with pytest.raises(SystemExit) as refused:
        run(code)
    assert str(refused.value) == said.NOT_THIS_FILE


def test_a_twin_is_simulated_again(capsys: pytest.CaptureFixture[str]) -> None:
    source, data = twin_source()
    found = section("selection", "most_common", source, data)
    code = script(report(found)).decode()
    run(code)
    assert "are computed again" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="differ"):
        run(code.replace("rows=200", "rows=210"))


def test_names_of_files_and_columns_are_quoted_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, column = "x'); raise SystemExit(9) #.csv", "a''' \"\\u202e"
    schema = Schema(columns=(Column(name=column, type="category", categories=("k", "m'")),))
    text = '"' + column.replace('"', '""') + '"\n' + "\n".join(("k", "m'")[n % 3 == 0] for n in range(40)) + "\n"
    source, data = own_source(text.encode(), name, schema)
    code = script(report(section("selection", "most_common", source, data))).decode()
    (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["script"])
    run(code)


def test_a_literal_makes_the_value_again() -> None:
    from datetime import date

    from dpcore.datasets import LeaveOutTotals

    declared = Declaration(
        columns=(
            Column(name="d\u202e'\n", type="date", earliest=date(2024, 1, 2), latest=date(2024, 5, 6)),
            Column(name="c", type="category", categories=("a", "b")),
        ),
        id_column=None,
    )
    scope = {"Declaration": Declaration, "Column": Column, "date": date, "LeaveOutTotals": LeaveOutTotals}
    assert eval(recipe.literal(declared), scope) == declared  # noqa: S307
    assert eval(recipe.literal({"a": (1, 2.5, None), "b": [True]})) == {"a": (1, 2.5, None), "b": [True]}  # noqa: S307
    with pytest.raises(TypeError, match="cannot hold a ndarray"):
        recipe.literal(np.zeros(2))
