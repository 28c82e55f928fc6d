"""What is saved of a file, in whatever form it came, names the columns that were declared, and fits the same file."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pytest
from streamlit.testing.v1 import AppTest

from dashboard import words
from dashboard.data import read_again, template
from dashboard.data.own_file import OwnFile
from dashboard.words import data as said
from dpcore.datasets import fitted, loaded, read_table, saved
from tests.dashboard.conftest import text
from tests.dashboard.test_data_page import declare, drop

FRAME = pd.DataFrame(
    {
        "ward": ["north" if at % 3 else "south" for at in range(40)],
        "age": [20 + at % 37 for at in range(40)],
        "stay": [at / 4 + 0.5 for at in range(40)],
    }
)
NEEDS: dict[str, dict[str, Any]] = {
    "ward": {"type": "category", "categories": ("north", "south")},
    "age": {"type": "integer", "low": 0.0, "high": 120.0},
    "stay": {"type": "number", "low": 0.0, "high": 60.0},
}
RECORDS = FRAME.to_dict(orient="records")


def text_of(sep: str = ",", header: bool = True, ends: str = "\n") -> bytes:
    return FRAME.to_csv(index=False, sep=sep, header=header, lineterminator=ends).encode()


def written(write: Callable[[io.BytesIO], Any]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def archive(data: bytes) -> bytes:
    def write(stream: io.BytesIO) -> None:
        with zipfile.ZipFile(stream, "w") as made:
            made.writestr("a.csv", data)

    return written(write)


FORMS: dict[str, bytes] = {
    "csv": text_of(),
    "csv with semicolons": text_of(";"),
    "tabs": text_of("\t"),
    "carriage returns": text_of(ends="\r\n"),
    "csv in UTF-16": text_of().decode().encode("utf-16"),
    "no header row": text_of(header=False),
    "gzip": gzip.compress(text_of()),
    "gzip of json lines": gzip.compress("\n".join(map(json.dumps, RECORDS)).encode()),
    "zip": archive(text_of()),
    "excel": written(lambda stream: FRAME.to_excel(stream, index=False)),
    "excel without a header row": written(lambda stream: FRAME.to_excel(stream, index=False, header=False)),
    "parquet": written(FRAME.to_parquet),
    "arrow": written(lambda stream: feather.write_feather(pa.Table.from_pandas(FRAME), stream)),
    "json": json.dumps(RECORDS).encode(),
    "json under a name": json.dumps({"people": RECORDS}).encode(),
    "json in columns": json.dumps({name: FRAME[name].tolist() for name in FRAME}).encode(),
    "json lines": "\n".join(map(json.dumps, RECORDS)).encode(),
    "json of lists": json.dumps([list(FRAME), *FRAME.to_numpy().tolist()]).encode(),
    "json of lists without names": json.dumps(FRAME.to_numpy().tolist()).encode(),
}
SPOKEN = ("suggested", "declared", "called right")


def own_of(form: str, how_far: str) -> OwnFile:
    """A file in this form, of which somebody said so much."""
    data = FORMS[form]
    own = read_again.opened("a", data, (), read_table(data), None, None)
    named = dict(zip(own.schema.names, NEEDS, strict=True))
    if how_far == "suggested":
        return own
    columns = [replace(own.schema.column(here), **NEEDS[name]) for here, name in named.items() if name != "stay"]
    own = own.decide(replace(own.decisions.says(*columns), said_row=True))
    return own if how_far == "declared" else own.decide(own.confirm(own.columns.open))


def taken_again(own: OwnFile) -> tuple[Any, Any]:
    """What is saved of it, and how that fits the same file, read as it says."""
    kept = loaded(saved(template.template(own)))
    return kept, fitted(kept, read_table(own.data, **dict(kept.choices)))


@pytest.mark.parametrize("how_far", SPOKEN)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_saved_names_what_was_declared_and_fits_the_same_file(form: str, how_far: str) -> None:
    own = own_of(form, how_far)
    assert own.reading is not None
    assert template.says_nothing(own) is (own.named_by_rows and how_far == "suggested")
    if template.says_nothing(own):
        return
    kept, fit = taken_again(own)
    here = dict(zip(NEEDS, own.reading.frame.columns, strict=True))
    declared = [] if how_far == "suggested" else [here["ward"], here["age"]]
    every = declared if own.named_by_rows else list(here.values())
    assert list(kept.schema.names) == every, "as the person saw them"
    assert fit.recognised
    assert set(fit.undeclared) == set(here.values()) - set(every)
    for name in declared:
        assert replace(fit.schema.column(name), about="") == replace(own.schema.column(name), about="")
    assert not set(declared) - set(kept.suggested), "that a file was seen is said"
    spoken = {name for name in declared if how_far == "called right"}
    assert set(kept.confirmed) & set(declared) == spoken


def test_a_form_of_which_nothing_was_kept_before_it_was_called_right_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What shows that the test above can fail: a declaration of “column 1” alone, which is no column of the file."""
    monkeypatch.setattr(template, "_said", lambda own: own.columns.spoken_of)
    own = own_of("json", "declared")
    kept, fit = taken_again(own)
    assert kept.schema.names == (template._NO_NAME,)
    assert "age" in fit.undeclared
    assert template.says_nothing(own)


def offers_to_save(app: AppTest) -> bool:
    (button,) = [one for one in app.get("download_button") if one.proto.label == said.SAVE]
    assert (words.safe(said.NOTHING_TO_SAVE, 600) in text(app)) is button.proto.disabled
    return not button.proto.disabled


def test_the_page_saves_no_declaration_that_names_nothing(open_app: Callable[..., AppTest]) -> None:
    app = drop(open_app("data"), FORMS["json"], "people.json")
    assert not offers_to_save(app)
    assert offers_to_save(declare(app, "age", low=0.0, high=120.0))
