"""One receipt: what was asked and answered, the guarantee, and whether the ledger's journal confirms it."""

from __future__ import annotations

import json
import re
import string
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st
from streamlit.typing import UploadedFile

from dashboard import session, words
from dashboard.background import compute
from dashboard.budget import tracker
from dashboard.budget.held import FOUND_RECEIPT
from dashboard.report.answer import answered
from dashboard.report.panel import report_button
from dashboard.report.value import Section
from dashboard.widgets.answer import asked, cost_words, when
from dashboard.widgets.drop_areas import named
from dashboard.widgets.inputs import text_box
from dashboard.widgets.receipt_file import receipt_file
from dashboard.widgets.tables import Code, show_table
from dashboard.words import report as report_words
from dpcore.errors import DpcoreError, LedgerUnsound
from dpcore.ledger import Receipt, UnknownLineage
from dpcore.ledger.asked import ACTORS
from dpcore.ledger.charging import MOST_BYTES
from dpcore.ledger.seal import LARGEST as LARGEST_FILE
from dpcore.ledger.seal import is_document
from dpcore.ledger.words import LONGEST_QUESTION, OLDER_COPIES, hides
from dpcore.training.model import KIND

LARGEST_PASTED = 500_000
"""Letters of a receipt that is pasted; one with a large model in it is longer."""
LARGEST_RECEIPT = MOST_BYTES + LARGEST_PASTED
"""Bytes of a receipt that is dropped, without blanks: the largest answer that is kept, and all beside it."""
_BLANKS = string.whitespace.encode()
_NOTE, _TEXT, _FILE = "receipt", "receipt-text", "receipt-file"
_LONGEST = 2000
CONFIRMED = "Confirmed: the journal holds exactly this receipt."
BEFORE_ANSWER = "It was written before its answer was stored."
NOT_CONFIRMED = (
    "Not confirmed: the journal of this ledger does not hold this receipt. It was changed, or is from another ledger."
)
TOO_LONG = "This is too long to be pasted. Drop the receipt as a file instead."
NO_SUCH = "No charge in this ledger has this hash."
NONE_TO_SEE = (
    "No charge that you may see has this hash. Whether an answer of others is genuine, its receipt (JSON) or its "
    "report tells: bring that."
)
NO_ANSWER = {
    "charged": "No answer: a crash came before anything was drawn. The charge stands and pays for this very question.",
    "begun": "No answer is stored: it is being drawn or waits to be stored, or a crash came. The charge stands.",
}


def show_receipt(receipt: Receipt, *, key: str = "receipt") -> None:
    """The receipt as a list, with download and check."""
    guarantee = cost_words(receipt.cost)
    if receipt.cost.zcdp < float("inf") and receipt.cost.epsilon < float("inf"):
        guarantee += f" (ρ = {words.amount(receipt.cost.zcdp)})"
    rows = {
        "About": about_words(receipt),
        "Question": words.sentence(words.visible(receipt.what, LONGEST_QUESTION)),
        "Private answer": answer_text(receipt),
        "When": when(receipt),
        "Cost": guarantee,
        "Protected": protected_words(receipt),
        "Mechanism": words.visible(receipt.mechanism, 200) or "not named",
        "Asked by": receipt.subject or ACTORS.get(receipt.actor, receipt.actor),  # type: ignore[call-overload]
        **({"Granted by": receipt.granted_by} if receipt.granted_by else {}),
        "Request": Code(words.visible(receipt.request_id)),
        "Hash in the journal": Code(receipt.journal_hash),
        "Made with": words.visible(", ".join(_made_with(receipt.versions)), 400),
    }
    show_table(rows, alt="The receipt that is picked")
    with st.container(horizontal=True):
        receipt_file("This receipt (JSON)", receipt, key=key)
        st.button(
            "Check it against the journal",
            icon=":material/verified:",
            key=f"{key}-check",
            on_click=_check,
            args=(receipt,),
        )
        if receipt.state == "answered":
            report_button(partial(_on_paper, receipt), key=key, label=report_words.ANSWER_REPORT)
    st.caption(
        "To show somebody that an answer is genuine, give them this receipt: under “Check a receipt”, here on the "
        "Budget page, anybody can hold it against the journal."
    )
    if key == "receipt":
        _said()


def bring() -> None:
    """A receipt that somebody brings: does the journal hold exactly this?"""
    st.markdown(
        "**Is a receipt genuine?** A receipt names the hash of its charge in this ledger's journal, where every entry "
        "holds the hash of the one before. Changing a word, a number or the answer makes the check fail. "
        f"Drop one of more than {LARGEST_PASTED:,} letters as a file."
    )
    text_box(
        "Its text (JSON), or the hash that is printed with a private answer",
        key=_TEXT,
        height=160,
        most=LARGEST_PASTED,
        persist_state="session",
        placeholder="57a5093517ef",
        lines=True,
    )
    st.button("Check this receipt", icon=":material/verified:", key="receipt-text-check", on_click=_check_text)
    kinds = ["pdf", "docx", "html", "json"]
    st.file_uploader(report_words.DROP, key=_FILE, type=kinds, max_upload_size=LARGEST_FILE >> 20)
    named()
    st.button(report_words.CHECK_FILE, icon=":material/verified:", key="receipt-file-check", on_click=_check_file)
    renewed = compute.ledger().renewed_at
    if renewed is not None:
        st.caption(OLDER_COPIES.format(renewed[:10]))
    _said()
    if (found := _found()) is not None:
        show_receipt(found, key="found")


def _found() -> Receipt | None:
    """The receipt that was looked up, as long as whoever looked may see it."""
    start = FOUND_RECEIPT.get()
    if not start:
        return None
    try:
        return next(iter(compute.ledger().find(start)), None)
    except DpcoreError:
        return None  # the page says that the ledger is closed


def answer_text(receipt: Receipt) -> str:
    """The stored answer in plain text, whatever it is."""
    if receipt.state != "answered":
        return NO_ANSWER[receipt.state]
    shown = receipt.answer
    if isinstance(shown, dict) and len(shown) > 1:  # a place in a list says nothing to a person; the JSON has it
        shown = {name: value for name, value in shown.items() if name != "index"}
        if len(shown) == 1 and shown.keys() <= {"option", "candidate", "value"}:
            shown = next(iter(shown.values()))
    return words.told_apart(plain(in_words(shown)), _LONGEST)


def in_words(answer: Any) -> Any:
    """An answer without what only a program reads: places that are counted from 0, and the weights of a model."""
    if not isinstance(answer, dict):
        return answer
    if {"alarms", "names", "compared", "stopped"} <= answer.keys():
        looked = {"compared_with_the_line": answer["compared"], "alarms_used_up": answer["stopped"]}
        return {"alarm_at": answer["names"], **looked}
    if {"experts", "starts", "plays", "rounds"} <= answer.keys():
        named = [answer["experts"][play] for play in answer["plays"]]
        places = zip(answer["starts"], named, strict=True)
        return {"follow": [f"{name} from round {start + 1:,}" for start, name in places]}
    if answer.get("kind") == KIND:
        predicts = answer["predicts"]["column"]
        columns = words.plural(len(answer["columns"]), "column")
        return f"a linear model that predicts “{predicts}” from {columns}; the receipt's JSON holds all of it"
    return answer


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


def about_words(receipt: Receipt) -> str:
    """Whose data it is about; who may see the budget is told its name as well."""
    ledger = compute.ledger()
    try:
        told = ledger.about(receipt)
        with suppress(UnknownLineage):
            told += f" (budget “{ledger.budget(receipt.lineage).name}”)"
    except DpcoreError:
        return "not known"  # the page says that the ledger is closed
    return words.sentence(words.visible(told, 300))


def protected_words(receipt: Receipt) -> str:
    """Who is protected, in words."""
    if receipt.neighbours not in ("add_remove", "replace_one"):
        return "not stated"
    unit = words.visible(receipt.unit, 80)
    if receipt.counted_for not in ("", receipt.neighbours):
        return f"{hides(receipt.neighbours, unit)}; charged for {hides(receipt.counted_for, unit)}"
    return hides(receipt.neighbours, unit)


def _made_with(versions: dict[str, str]) -> list[str]:
    return [f"{name} {version}" for name, version in versions.items() if version[:1].isdigit()]


def _check(receipt: Receipt | str) -> None:
    """Callback."""
    try:
        found = compute.ledger().confirmed(receipt)
    except DpcoreError as error:
        if isinstance(error, LedgerUnsound):
            tracker.reopen()
        session.say(_NOTE, words.reason(error))
        return
    if found is None:
        session.say(_NOTE, NOT_CONFIRMED)
    else:  # what somebody brought may read otherwise than what it is taken for
        session.say(_NOTE, _of_whom(found) if isinstance(receipt, Receipt) else _confirmed(found))


def _confirmed(found: Receipt) -> str:
    """What was confirmed, by the journal's own words."""
    told = f"Private answer: {words.named(answer_text(found), _LONGEST)}" if found.answer_hash else BEFORE_ANSWER
    return (
        f"{_of_whom(found)} {asked(found.what)} {words.sentence(told)} Cost: {cost_words(found.cost)}. {when(found)}."
    )


def _of_whom(found: Receipt) -> str:
    return f"{CONFIRMED} About: {words.safe(about_words(found), 300)}"


def _check_text() -> None:
    """Callback: what was pasted is a whole receipt, or the first characters of a hash."""
    FOUND_RECEIPT.put("")
    text = str(session.entered(_TEXT, "") or "").strip("\ufeff" + string.whitespace)
    if not text or len(text) > LARGEST_PASTED:
        session.say(_NOTE, TOO_LONG if text else "Paste a receipt first.")
    elif re.fullmatch(r"[0-9a-fA-F]{8,64}", joined := "".join(text.split())):
        _find(joined.lower())
    else:
        _check(text)


def _check_file() -> None:
    """Callback: a report or a receipt that was dropped."""
    FOUND_RECEIPT.put("")
    dropped: Any = session.entered(_FILE, None)
    if not isinstance(dropped, UploadedFile):  # a message may also name a file that was never brought
        session.say(_NOTE, report_words.NO_FILE_YET)
        return
    session.say(_NOTE, checked(dropped.getvalue()))


def checked(data: bytes) -> str:
    """What this ledger says of a file that somebody brings, in a sentence or two."""
    if len(data) > LARGEST_FILE:  # before anything is looked for in it
        return report_words.TOO_LARGE
    ledger = compute.ledger()
    try:
        if not is_document(data):
            if len(data.translate(None, _BLANKS)) > LARGEST_RECEIPT:
                return report_words.TOO_LARGE
            receipt = ledger.confirmed(data.decode("utf-8", "replace"))
            return NOT_CONFIRMED if receipt is None else _confirmed(receipt)
        found = ledger.examine(data)
    except DpcoreError as error:
        if isinstance(error, LedgerUnsound):
            tracker.reopen()
        return words.reason(error)
    known = [receipt.journal_hash[:12] for receipt in found.receipts]
    sees_all = compute.sees_all()
    return report_words.examined(found.unchanged, known, found.unknown, sees_all=sees_all, since=found.since)


def _on_paper(receipt: Receipt) -> Section:
    """A receipt of the ledger as a section of a report. Raises LedgerError."""
    budget = compute.ledger().budget(receipt.lineage)
    return answered(
        receipt, told=words.named(answer_text(receipt), _LONGEST), counting=budget.counting, practice=budget.practice
    )


def _find(start: str) -> None:
    try:
        matching = compute.ledger().find(start)
    except DpcoreError as error:
        session.say(_NOTE, words.reason(error))
        return
    if len(matching) != 1:
        none = NO_SUCH if compute.sees_all() else NONE_TO_SEE
        session.say(_NOTE, none if not matching else "Give more of the hash.")
        return
    FOUND_RECEIPT.put(matching[0].journal_hash)
    _check(matching[0])


def _said() -> None:
    said = session.note(_NOTE)
    if said is None:
        return
    if said.startswith("Confirmed"):
        st.success(said, icon=":material/verified:")
    else:
        st.warning(said, icon=":material/error:")
