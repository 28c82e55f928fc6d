"""What is looked up by name is named by text: anything else is one clear refusal, and no fault of the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpcore.errors import InvalidArgument, LedgerError
from dpcore.ledger import Ledger, core
from dpcore.ledger.member import MembersLedger
from dpcore.ledger.roles import Person

NO_TEXT: tuple[Any, ...] = (["a"], {"a": 1}, ("a",), {"a"}, 5, None, b"a", 1.5)
ASKED: dict[str, Callable[[Ledger, Any], Any]] = {
    "protects": lambda ledger, name: ledger.protects(name),
    "similar, file": lambda ledger, name: ledger.similar(name, among=["a"]),
    "similar, one among": lambda ledger, name: ledger.similar("file", among=["a", name]),
    "similar, among": lambda ledger, name: ledger.similar("file", among=name),
}


def not_refused(ledger: Ledger, asked: str) -> list[Any]:
    """What is taken for a name, or ends in another error than InvalidArgument."""
    found = []
    for name in ("a", *NO_TEXT) if asked == "similar, among" else NO_TEXT:
        if asked == "similar, among" and not isinstance(name, str) and name in ({"a"}, ["a"], ("a",), {"a": 1}):
            continue  # several names
        try:
            ASKED[asked](ledger, name)
        except InvalidArgument:
            continue
        except (TypeError, AttributeError, LedgerError):
            pass
        found.append(name)
    return found


@pytest.mark.parametrize("asked", ASKED)
def test_a_name_that_is_no_text_is_refused(asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(f"sqlite:///{tmp_path}/ledger.db") as whole:
        whole.open_budget("a", epsilon=1.0, name="People")
        whole.give_roles("olga", ["owner"])
        assert (whole.protects("a"), whole.similar("file", among=["a"])) == (None, [])
        assert not_refused(whole, asked) == []
        if asked != "protects":  # of whom a person may not know is told to them as of nobody
            assert not_refused(MembersLedger(whole, Person(subject="olga"), token="o" * 20), asked) == []
        monkeypatch.setattr(core, "text", lambda **named: named)
        monkeypatch.setattr(core, "texts", lambda *, among: set(among))
        assert ["a"] in not_refused(whole, asked) or None in not_refused(whole, asked), "this test can fail"
