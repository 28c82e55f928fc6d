"""Columns that a person has read by their codes: offered by the kind of a file, and part of how it is read."""

from __future__ import annotations

import io
from collections.abc import Callable

import pandas as pd
import pyreadstat
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.data import arrivals, read_again, template, upload
from dashboard.data.own_file import OwnFile
from dashboard.report.recipe import literal
from dashboard.words.data import NOT_IN_FORM
from dpcore.audit.sheets import workbook
from dpcore.datasets import Column, Declaration, Reading, Schema, loaded, read_table, saved
from dpcore.datasets.temporary import private_folder
from dpcore.releases.asked import form_stated
from tests.dashboard.conftest import text
from tests.dashboard.keys import key_of
from tests.dashboard.test_data_page import drop, held, press
from tests.dashboard.test_form_stated import bring

PLAIN = pd.DataFrame({"pain": [1.0, 4.0, 7.0] * 10, "nr": range(30)})
ENDS = {"pain": {1: "none", 7: "worst"}}


def by_pyreadstat(write: Callable[..., None], frame: pd.DataFrame = PLAIN, **how: object) -> bytes:
    with private_folder() as folder:
        write(frame, str(folder / "a"), **how)
        return (folder / "a").read_bytes()


def by_pandas(written: str) -> bytes:
    file = io.BytesIO()
    getattr(PLAIN, written)(file)
    return file.getvalue()


LABELLED: dict[str, Callable[[], bytes]] = {
    "sav": lambda: by_pyreadstat(pyreadstat.write_sav, variable_value_labels=ENDS),
    "sav without a label": lambda: by_pyreadstat(pyreadstat.write_sav),
    "zsav": lambda: by_pyreadstat(pyreadstat.write_sav, compress=True),
    "por": lambda: by_pyreadstat(pyreadstat.write_por),
    "dta": lambda: by_pyreadstat(pyreadstat.write_dta, variable_value_labels=ENDS),
    "dta of pandas": lambda: by_pandas("to_stata"),
    "xpt": lambda: by_pyreadstat(pyreadstat.write_xport),
}
OTHERS: dict[str, Callable[[], bytes]] = {
    "csv": lambda: PLAIN.to_csv(index=False).encode(),
    "json": lambda: PLAIN.to_json(orient="records").encode(),
    "sheet": lambda: workbook([("pain", "nr"), ("1", "2")]),
    "parquet": lambda: by_pandas("to_parquet"),
    "feather": lambda: by_pandas("to_feather"),
}


def opened(reading: Reading) -> OwnFile:
    return read_again.opened("a", b"", (), reading, None, None)


@pytest.mark.parametrize("kind", [*LABELLED, *OTHERS])
def test_it_is_offered_of_all_columns_by_the_kind_of_the_file_alone(kind: str) -> None:
    reading = read_table((LABELLED | OTHERS)[kind]())
    names = tuple(reading.frame.columns)
    assert upload._may_be_coded(opened(reading)) == (names if kind in LABELLED else ())


def differently(app: AppTest) -> AppTest:
    return tab(app, "Read it differently")


def tab(app: AppTest, name: str) -> AppTest:
    app.session_state["own-tab"] = name
    return app.run()


def said_of(own: OwnFile, column: str) -> str:
    schema = Schema(columns=tuple(Column(name=name, type="number") for name in ("pain", "nr")))
    declared = Declaration.of(schema, form=own.form.said_in_answers, coded=own.form.coded)
    return " ".join(form_stated(declared.reads(column)))


def test_stating_it_reads_the_file_anew_and_goes_where_its_form_goes(open_app: Callable[..., AppTest]) -> None:
    app = differently(drop(open_app("data"), LABELLED["sav"](), name="a.sav"))
    assert list(held(app).reading.frame["pain"][:3]) == ["none", "4", "worst"]  # type: ignore[union-attr]
    assert held(app).form.coded == ()
    box = app.multiselect(key=key_of(app, "own-again", "-coded"))
    assert (box.options, box.value) == (["pain", "nr"], [])
    box.select("pain")
    press(app, key_of(app, "own-again", "-go"))
    own = held(app)
    assert own.choices == (("coded", ("pain",)),)
    assert list(own.reading.frame["pain"][:3]) == ["1", "4", "7"]  # type: ignore[union-attr]
    assert own.schema.column("pain").is_numeric
    assert (own.form.coded, own.form.said_in_answers) == (("pain",), ())
    told = "That the codes of “pain”, read instead of labels, stand for the same whoever is in the file was stated by"
    assert (told in said_of(own, "pain"), said_of(own, "nr")) == (True, "")
    assert literal(dict(own.choices)) == "{'coded': ('pain',)}", "a script reads it so again"
    kept = loaded(saved(template.template(own)))
    assert kept.choices == own.choices

    assert differently(app).multiselect(key=key_of(app, "own-again", "-coded")).value == ["pain"]
    app.multiselect(key=key_of(app, "own-again", "-coded")).unselect("pain")
    press(app, key_of(app, "own-again", "-go"))
    assert (held(app).choices, held(app).reading.frame["pain"][0]) == ((), "none")  # type: ignore[union-attr]

    tab(app, "Columns")
    bring(drop(app, LABELLED["dta"](), name="b.dta"), kept)
    assert held(app).choices == kept.choices
    assert list(held(app).reading.frame["pain"][:3]) == ["1", "4", "7"]  # type: ignore[union-attr]
    labels = {"Pain": ENDS["pain"]}
    renamed = by_pyreadstat(pyreadstat.write_sav, PLAIN.rename(columns={"pain": "Pain"}), variable_value_labels=labels)
    bring(drop(app, renamed, name="c.sav"), kept)
    assert (held(app).form.coded, NOT_IN_FORM.partition(",")[0] in text(app)) == (("Pain",), False)
    assert held(app).schema.column("Pain").is_numeric
    bring(drop(app, by_pyreadstat(pyreadstat.write_sav, PLAIN[["nr"]]), name="d.sav"), kept)
    assert NOT_IN_FORM.partition(",")[0] in text(app)
    assert held(app).choices == ()

    differently(drop(app, OTHERS["csv"](), name="d.csv"))
    assert not app.multiselect
    assert "-go" in key_of(app, "own-again", "-go")


def test_of_another_table_of_an_archive_and_of_text_it_says_nothing() -> None:
    known = {"part": "a.sav", "coded": ("pain",)}
    assert arrivals.chosen(known, {"part": "b.sav", "coded": ("pain",)}) == {"part": "b.sav"}
    own = read_again.opened("a", b"", (("coded", ("pain",)),), read_table(OTHERS["csv"]()), None, None)
    assert (own.form.coded, own.form.said_in_answers) == ((), ())


def test_an_offer_that_hangs_on_labels_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_labels(own: OwnFile) -> tuple[str, ...]:
        columns = () if own.reading is None else own.reading.columns
        return tuple(column.name for column in columns if column.codebook)

    monkeypatch.setattr(upload, "_may_be_coded", by_labels)
    for kind in LABELLED:
        with pytest.raises(AssertionError):
            test_it_is_offered_of_all_columns_by_the_kind_of_the_file_alone(kind)
