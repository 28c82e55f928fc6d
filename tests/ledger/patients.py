"""Patients whose budget is Olga's, for tests of files that are brought beside it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpcore.datasets import Reading, read_csv, sketch
from dpcore.ledger import Ledger
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person

ISSUER = " at https://login.example"
GUESSES = ["none", "flu", "hiv", "cancer", "asthma"]


def person(whole: Ledger, name: str) -> MembersLedger:
    return MembersLedger(whole, Person(subject=name + ISSUER), token=name * 8)


def patients(rows: int = 64, seed: int = 1) -> pd.DataFrame:
    """So few that all rows have a mark: whatever the key, a file of all of them is recognised."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "height": np.round(rng.normal(1.7, 0.1, rows), 2),
            "diagnosis": rng.choice(GUESSES, rows),
            "job": rng.choice(["nurse", "clerk", "cook"], rows),
        }
    )


def reading(frame: pd.DataFrame) -> Reading:
    return read_csv(frame.to_csv(index=False).encode())


def guessed(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """All rows as they are, but for the last one's diagnosis."""
    return pd.concat([frame.iloc[:-1], frame.iloc[-1:].assign(diagnosis=value)])


def furnished(ledger: Ledger, table: pd.DataFrame) -> Ledger:
    """Olga's budget of the patients; Otto has another one, and Anna may ask from both."""
    for name, role in (("olga", "owner"), ("otto", "owner"), ("anna", "analyst")):
        ledger.give_roles(name + ISSUER, [role])
    olga, otto = person(ledger, "olga"), person(ledger, "otto")
    olga.open_budget("people", epsilon=2.0, name="Patients")
    file = reading(table)
    olga.link(file.fingerprint, "people", sketch(file, ledger.sketch_key))
    otto.open_budget("others", epsilon=1.0, name="Others")
    for owner, lineage in ((olga, "people"), (otto, "others")):
        owner.share(lineage, "anna" + ISSUER, "ask")
    return ledger
