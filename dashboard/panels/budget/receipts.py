"""One receipt: what was asked and answered, the guarantee, and whether the ledger's journal confirms it."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from dashboard import compute, session, tracker, words
from dashboard.panels.answer import asked, cost_words, when
from dpcore.errors import DpcoreError, LedgerUnsound
from dpcore.ledger import Receipt

LARGEST_FILE = 1_000_000  # bytes; a receipt with a model in it is far smaller
_NOTE = "receipt"
_LONGEST = 2000
NO_ANSWER = "No answer was stored. The charge stands, and nothing was shown."


def show(receipt: Receipt) -> None:
    """The receipt as a list, with download and check."""
    guarantee = cost_words(receipt.cost)
    if receipt.cost.zcdp < float("inf") and receipt.cost.epsilon < float("inf"):
        guarantee += f" (ρ = {words.number(receipt.cost.zcdp)})"
    rows = {
        "Question": asked(receipt.what),
        "Private answer": words.safe(answer_text(receipt), _LONGEST),
        "When": when(receipt),
        "Cost": guarantee,
        "Protected": protected_words(receipt),
        "Mechanism": words.safe(receipt.mechanism, 200) or "not named",
        "Request": f"`{_code(receipt.request_id)}`",
        "Hash in the journal": f"`{receipt.journal_hash}`",
        "Made with": words.safe(", ".join(_made_with(receipt.versions)), 400),
    }
    st.table(rows, border="horizontal", alt="The receipt that is picked")
    with st.container(horizontal=True):
        st.download_button(
            "This receipt (JSON)",
            receipt.to_json(),
            f"receipt-{receipt.request_id[:8]}.json",
            "application/json",
            icon=":material/receipt_long:",
            on_click="ignore",
            key="receipt-json",
        )
        st.button(
            "Check it against the journal",
            icon=":material/verified:",
            key="receipt-check",
            on_click=_check,
            args=(receipt,),
        )
    _said()


def upload() -> None:
    """A receipt that somebody brings: does the journal hold exactly this?"""
    st.markdown(
        "**Is a receipt genuine?** A receipt names the hash of its charge in this ledger's journal, where every entry "
        "holds the hash of the one before. Changing a word, a number or the answer makes the check fail."
    )
    brought = st.file_uploader(
        "A receipt (JSON)", type="json", key="receipt-file", max_upload_size=1, help="It stays in this session."
    )
    if brought is None:
        return
    st.button("Check this receipt", type="primary", key="receipt-file-check", on_click=_check_file)
    _said()


def answer_text(receipt: Receipt) -> str:
    """The stored answer in plain text, whatever it is."""
    if receipt.answer_hash is None:
        return NO_ANSWER
    text = plain(receipt.answer)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def plain(answer: Any) -> str:
    """JSON as a person reads it: names with their values."""
    if isinstance(answer, dict):
        return "; ".join(f"{name.replace('_', ' ')}: {plain(value)}" for name, value in answer.items())
    if isinstance(answer, list):
        return ", ".join(plain(value) for value in answer) if answer else "none"
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    if answer is None:
        return "none"
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def protected_words(receipt: Receipt) -> str:
    """Who is protected, in words."""
    if receipt.neighbours in ("add_remove", "replace_one"):
        return words.one_person(receipt.neighbours)
    return "not stated"


def _code(text: str) -> str:
    return "".join(character for character in words.visible(text, 80) if character != "`")


def _made_with(versions: dict[str, str]) -> list[str]:
    return [f"{name} {version}" for name, version in versions.items() if version[:1].isdigit()]


def _check(receipt: Receipt | str) -> None:
    """Callback."""
    try:
        genuine = compute.ledger().confirms(receipt)
    except RecursionError:
        genuine = False
    except DpcoreError as error:
        if isinstance(error, LedgerUnsound):
            tracker.reopen()
        session.say(_NOTE, words.sentence(error))
        return
    session.say(
        _NOTE,
        "Confirmed: the journal holds exactly this receipt."
        if genuine
        else "Not confirmed: the journal of this ledger does not hold this receipt. It was changed, or is from another "
        "ledger.",
    )


def _check_file() -> None:
    brought: Any = session.get("receipt-file", None)
    if brought is None:
        return
    if brought.size > LARGEST_FILE:
        session.say(_NOTE, "This file is too large to be a receipt.")
        return
    try:
        text = brought.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError:
        session.say(_NOTE, "This file is not a receipt: it is not text.")
        return
    _check(text)


def _said() -> None:
    said = session.note(_NOTE)
    if said is None:
        return
    if said.startswith("Confirmed"):
        st.success(said, icon=":material/verified:")
    else:
        st.warning(said, icon=":material/error:")
