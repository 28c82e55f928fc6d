"""The owner's command line, exports, and the recognition of people under another file."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.accounting import Cost
from dpcore.errors import InvalidArgument
from dpcore.ledger import Ledger
from dpcore.ledger.__main__ import main
from dpcore.ledger.export import to_csv, to_json
from dpcore.ledger.people import SKETCH_SIZE, resemblance, sketch
from tests.ledger.conftest import Place


@pytest.fixture
def owned(place: Place) -> list[str]:
    """A ledger with two charges, and the arguments that lead the command line to it."""
    ledger = place.open()
    ledger.open_budget("people", epsilon=1.0, name="Ward 3")
    ledger.open_budget("sample", epsilon=2.0, delta=1e-6, practice=True)
    ledger.charge("a", "people", Cost.pure(0.25), "=cmd|' /C calc'!A0")
    ledger.store_answer("a", {"winner": "-2+3"})
    ledger.charge("b", "sample", Cost.gaussian(10, 1e-7), "The mean?")
    ledger.close()
    return ["--ledger", place.url, "--journal", str(place.journal)]


def test_status_and_verify(owned: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*owned, "status"]) == 0
    shown = capsys.readouterr().out
    assert "Sound: 5 records, 2 charges." in shown
    assert "Ward 3 [people]: ε = 1; ε = 0.75 left; 25.0% spent" in shown
    assert "practice" in shown
    assert main([*owned, "verify"]) == 0
    assert "2 groups of people" in capsys.readouterr().out


def test_backup_restore_round_trip(owned: list[str], place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    target = place.journal.with_name("backup")
    assert main([*owned, "backup", str(target)]) == 0
    assert main([*owned, "backup", str(target)]) == 1
    assert "never replaces" in capsys.readouterr().err
    assert main([*owned, "restore", str(target)]) == 0
    assert "Sound: 5 records" in capsys.readouterr().out
    assert main([*owned, "restore", str(target.with_name("nothing"))]) == 1
    assert "no backup at that place" in capsys.readouterr().err


def test_a_backup_is_a_ledger_of_its_own(owned: list[str], place: Place, tmp_path: Path) -> None:
    """From the backup alone, on another machine: restore into an empty place, saying so explicitly."""
    target = place.journal.with_name("backup")
    assert main([*owned, "backup", str(target)]) == 0
    elsewhere = ["--ledger", str(tmp_path / "new" / "ledger.sqlite3")]
    assert main([*elsewhere, "restore", str(target)]) == 1  # there is no journal: it has to be asked for
    assert main([*elsewhere, "restore", str(target), "--new-journal"]) == 0
    ledger = Ledger.open(tmp_path / "new" / "ledger.sqlite3")
    assert ledger.remaining("people").epsilon == 0.75
    ledger.close()


def test_trouble_is_one_sentence_and_exit_code_1(
    owned: list[str], place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    place.journal.unlink()
    for command in ("status", "verify", "export"):
        assert main([*owned, command]) == 1
        shown = capsys.readouterr().err
        assert shown.startswith("Trouble: The ledger's journal is missing")
        assert "Traceback" not in shown
    assert main([*owned, "restore", "--new-journal"]) == 0
    with pytest.raises(SystemExit) as wrong:
        main(["nonsense"])
    assert wrong.value.code == 2


def test_it_runs_as_a_module(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dpcore.ledger", "--ledger", str(tmp_path / "x.db"), "verify"],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert (done.returncode, done.stdout) == (0, "Sound: 0 records, 0 charges, 0 groups of people.\n")


def test_exports_are_complete_and_safe(owned: list[str], place: Place, tmp_path: Path) -> None:
    assert main([*owned, "export", str(tmp_path / "all.csv")]) == 0
    assert main([*owned, "export", str(tmp_path / "all.json")]) == 0
    assert main([*owned, "export", str(tmp_path / "all.txt")]) == 1
    rows = list(csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text(encoding="utf-8-sig"))))
    assert [row["what"] for row in rows] == ["'=cmd|' /C calc'!A0", "The mean?"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row.values())
    listed = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert [entry["what"] for entry in listed] == ["=cmd|' /C calc'!A0", "The mean?"]
    ledger = place.open()
    assert to_json(ledger.receipts()) == (tmp_path / "all.json").read_text(encoding="utf-8")
    assert all(ledger.confirms(json.dumps(entry)) for entry in listed)
    ledger.close()
    assert to_csv([]).count("\n") == 1


def test_confirm(owned: list[str], place: Place, tmp_path: Path) -> None:
    ledger = place.open()
    text = ledger.receipt("a").to_json()
    ledger.close()
    (tmp_path / "receipt.json").write_text(text, encoding="utf-8")
    assert main([*owned, "confirm", str(tmp_path / "receipt.json")]) == 0
    (tmp_path / "receipt.json").write_text(text.replace("0.25", "0.01"), encoding="utf-8")
    assert main([*owned, "confirm", str(tmp_path / "receipt.json")]) == 1
    assert main([*owned, "confirm", str(tmp_path / "none.json")]) == 1


class TestPeople:
    def frame(self, rows: int = 500) -> pd.DataFrame:
        rng = np.random.default_rng(3)
        return pd.DataFrame({"age": rng.integers(0, 90, rows).astype(str), "id": np.arange(rows).astype(str)})

    def test_a_file_stays_with_its_people(self, ledger: Ledger) -> None:
        ledger.open_budget("people", epsilon=1.0)
        ledger.open_budget("others", epsilon=1.0)
        ledger.link("file-1", "people")
        ledger.link("file-1", "people")
        ledger.link("file-2", "people")
        assert ledger.lineage_of("file-2") == "people"
        assert ledger.lineage_of("file-3") is None
        with pytest.raises(InvalidArgument, match="belongs to other people"):
            ledger.link("file-1", "others")
        ledger.verify()

    def test_a_slightly_changed_file_is_recognised(self, ledger: Ledger) -> None:
        ledger.open_budget("people", epsilon=1.0, name="Ward 3")
        frame = self.frame()
        ledger.link("file-1", "people", sketch(frame))
        changed = frame.drop(index=[3, 7, 9]).sample(frac=1, random_state=1)[["id", "age"]]
        changed.columns = ["ID ", "Age"]
        changed["age2"] = changed.pop("Age").map("  {} ".format)
        changed = changed.rename(columns={"age2": "Age"})
        found = ledger.similar(sketch(changed))
        assert [(one.lineage, one.name) for one in found] == [("people", "Ward 3")]
        assert found[0].share == pytest.approx(497 / 500, abs=0.02)
        assert ledger.similar(sketch(self.frame().assign(id=lambda f: f["id"] + "x"))) == []
        ledger.verify()

    def test_resemblance_estimates_the_shared_part(self) -> None:
        """Rows 0..1999 and 1000..2999 share a third of their union; the estimate's standard error is 0.03."""
        frame = self.frame(3000)
        share = resemblance(sketch(frame[:2000]), sketch(frame[1000:]))
        assert share == pytest.approx(1 / 3, abs=0.12)
        assert len(sketch(frame)) == SKETCH_SIZE
        assert resemblance(sketch(frame), ()) == 0.0
        small = frame[:40]
        assert resemblance(sketch(small), sketch(small)) == 1.0

    def test_a_sketch_must_be_one(self, ledger: Ledger) -> None:
        ledger.open_budget("people", epsilon=1.0)
        for wrong in (("x",), tuple(range(SKETCH_SIZE + 1))):
            with pytest.raises(InvalidArgument, match="rows"):
                ledger.link("f", "people", wrong)
