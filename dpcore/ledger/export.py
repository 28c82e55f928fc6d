"""Receipts as files: CSV for a spreadsheet, JSON for a program."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from dpcore.formulas import disarmed
from dpcore.ledger.receipt import Receipt
from dpcore.ledger.records import Record, writable

COLUMNS = (
    "time",
    "lineage",
    "what",
    "mechanism",
    "neighbours",
    "unit",
    "counted_for",
    "actor",
    "subject",
    "granted_by",
    "epsilon",
    "rho",
    "delta",
    "answer",
    "generation",
    "request_id",
    "journal_hash",
    "answer_hash",
    "versions",
)


def to_json(receipts: Iterable[Receipt]) -> str:
    """A list of receipts, oldest first."""
    found = [receipt.to_dict() for receipt in receipts]
    return writable(json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False))


def to_csv(receipts: Iterable[Receipt]) -> str:
    """One line per receipt. A cell that a spreadsheet would run as a formula gets an apostrophe before it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for receipt in receipts:
        found = receipt.to_dict()
        writer.writerow([_cell(found.get(name)) for name in COLUMNS])
    return writable(text.getvalue())


def records_to_lines(records: Iterable[Record]) -> str:
    """Every record as a line of JSON, each with the hash of the one before. Its number comes first, by which no program
    takes the file for a journal, and writes on in it."""
    return "".join(f"{json.dumps(asdict(record), separators=(',', ':'))}\n" for record in records)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (dict, list)):
        value = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return disarmed(str(value))
