"""The ledger's owner's tools: ``epsilon-lab ledger init|status|verify|backup|restore|export|confirm``, and who may do
what where there is a login: ``role|share|people``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from dpcore.addresses import ON_THE_LINE, holds_secret, shown_address
from dpcore.errors import DpcoreError, InvalidArgument
from dpcore.ledger.budget import Budget
from dpcore.ledger.commands import PROGRAM
from dpcore.ledger.core import Ledger
from dpcore.ledger.engine import kept_url, ledger_url
from dpcore.ledger.export import to_csv, to_json
from dpcore.ledger.files import write_new
from dpcore.ledger.held import is_held
from dpcore.ledger.records import canonical, cost_to_json
from dpcore.ledger.recovery import restore
from dpcore.ledger.roles import EVERYONE, LEVELS, ROLES
from dpcore.ledger.seal import is_document
from dpcore.ledger.verify import Replay
from dpcore.ledger.words import COUNTED, LONGEST_QUESTION, OLDER_COPIES, STRAYED
from dpcore.visible import visible
from dpcore.written import CHANCE, exact, rounded_down

MOST_BYTES = 64 << 20
"""Bytes of a receipt or a report that is read."""
NO_ROLE = "none"
"""What is said in the place of roles where a person is to have none, as a share says it (``LEVELS``)."""
CHANGED = "is not as it was made: it was changed, saved anew, or comes from another ledger's server"
TAKEN = "must be a new file: an export never replaces one, nor writes through a link"


def main(arguments: Sequence[str] | None = None, *, program: str = PROGRAM) -> int:
    """Run one command; 0 when all is well, 1 on trouble, 2 on a wrong call. ``program`` is how it was called."""
    asked = _parser(program).parse_args(arguments)
    try:
        if holds_secret(asked.ledger or ""):
            raise InvalidArgument("ledger", ON_THE_LINE)
        if asked.ledger is not None:
            kept_url(asked.ledger, "--ledger")
        _COMMANDS[asked.command](asked)
    except DpcoreError as error:
        print(f"Trouble: {_seen(str(error))}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Trouble: the file cannot be used ({error.strerror}).", file=sys.stderr)
        return 1
    except UnicodeError:
        print("Trouble: a name holds letters that cannot be written.", file=sys.stderr)
        return 1
    return 0


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description="Look after the privacy ledger.")
    parser.add_argument(
        "--ledger",
        help="database URL, without a password, or file; EPSILON_LAB_LEDGER or the usual place when left out",
    )
    parser.add_argument("--journal", help="the journal's file; beside the database when left out")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("init", help="make a new ledger where there has never been one")
    commands.add_parser("status", help="budgets, what is spent, and whether the ledger is sound")
    commands.add_parser("verify", help="check file, safeguards, chain, sums and journal")
    command = commands.add_parser("backup", help="write a complete backup to a new file")
    command.add_argument("target", type=Path)
    command = commands.add_parser("restore", help="make a closed ledger usable again")
    command.add_argument("source", type=Path, nargs="?", help="a backup; the journal alone when left out")
    command.add_argument(
        "--new-journal", action="store_true", help="write a new journal where it is damaged or missing"
    )
    command.add_argument(
        "--new-key", action="store_true", help="go on with another key where the key file is lost; on the record"
    )
    command.add_argument(
        "--unmarked", action="store_true", help="believe a backup that this server's key file has not marked"
    )
    command = commands.add_parser("export", help="every receipt as .csv or .json; to the screen without a file")
    command.add_argument("target", type=Path, nargs="?")
    command.add_argument("--format", choices=("csv", "json"))
    command = commands.add_parser(
        "confirm", help="check a receipt (JSON) or a report (PDF, DOCX, HTML) against the journal"
    )
    command.add_argument("receipt", type=Path)
    command = commands.add_parser("role", help="give a person who logs in exactly these roles, or none")
    command.add_argument("subject", help="as the sidebar of their page shows it")
    command.add_argument("roles", nargs="+", metavar="|".join((*ROLES, NO_ROLE)), help=f"{NO_ROLE} takes all away")
    command = commands.add_parser("share", help="share a budget with a person, or make them its owner")
    command.add_argument("lineage", help="the budget, as status shows it in brackets")
    command.add_argument("subject", help=f"a person, or {EVERYONE}")
    command.add_argument("level", choices=tuple(LEVELS))
    commands.add_parser("people", help="who has which role, what is shared with whom, limits, and what is closed")
    return parser


def _seen(text: str) -> str:
    """What others chose, on one line and with every sign in it: names are compared letter by letter."""
    return visible(text, 2 * LONGEST_QUESTION)


def _seen_by_line(text: str, end: str) -> str:
    """All of a text, each of its lines with every sign in it."""
    return end.join(visible(line, 3 * len(line) + 1) for line in text.split(end))


def _open(asked: argparse.Namespace) -> Ledger:
    # looking after a ledger never makes one: at the usual place too, a path may be wrong or a disk not mounted
    return Ledger.open(asked.ledger, journal=asked.journal, create=False)


def _init(asked: argparse.Namespace) -> None:
    with Ledger.open(asked.ledger, journal=asked.journal, create=True) as ledger:
        ledger.verify()
    print(f"There is a new ledger: {shown_address(ledger_url(asked.ledger))}")


def _status(asked: argparse.Namespace) -> None:
    print(f"Ledger: {shown_address(ledger_url(asked.ledger))}")
    with _open(asked) as ledger:
        print(f"Journal: {ledger.journal_path or 'none (a ledger in memory)'}")
        found = ledger.verify()
        print(f"Sound: {found.seq} records, {found.charges} charges.{_noticed(found)}")
        if ledger.renewed_at is not None:
            print(OLDER_COPIES.format(ledger.renewed_at[:10]))
        for budget in ledger.budgets():
            print(_line(budget))


def _noticed(found: Replay) -> str:
    clock = f" The clock ran backwards before {found.clock_back} of them." if found.clock_back else ""
    return clock + (f" {STRAYED.format(found.strayed)}" if found.strayed else "")


def _line(budget: Budget) -> str:
    cap, left = budget.cap, budget.remaining
    kind = (
        f"ε = {exact(cap.epsilon)}"
        if budget.kind == "pure"
        else f"ε = {exact(cap.epsilon)}, δ = {exact(cap.delta, small=CHANCE)}"
    )
    kind += f" counted by {COUNTED[budget.counting]}"
    rest = f"ε = {rounded_down(left.epsilon)} left" + (
        "" if budget.counting == "sum" else f" (ρ = {rounded_down(left.zcdp)})"
    )
    practice = ", practice" if budget.practice else ""
    return f"  {_named(budget, practice)}: {kind}; {rest}; {budget.share_spent:.1%} spent"


def _named(budget: Budget, practice: str = "") -> str:
    return f"{_seen(budget.name)} [{_seen(budget.lineage)}{practice}]"


def _verify(asked: argparse.Namespace) -> None:
    with _open(asked) as ledger:
        found = ledger.verify()
    print(
        f"Sound: {found.seq} records, {found.charges} charges, {len(found.lineages)} groups of people.{_noticed(found)}"
    )


def _backup(asked: argparse.Namespace) -> None:
    with _open(asked) as ledger:
        count = ledger.backup(asked.target)
    print(f"Backed up {count} records to {asked.target}.")


def _restore(asked: argparse.Namespace) -> None:
    journal = None if asked.journal is None else Path(asked.journal)
    told = restore(
        asked.ledger,
        source=asked.source,
        journal=journal,
        new_journal=asked.new_journal,
        new_key=asked.new_key,
        unmarked=asked.unmarked,
    )
    print(*told, sep="\n")
    _verify(asked)


def _export(asked: argparse.Namespace) -> None:
    form = asked.format or (asked.target.suffix.lstrip(".").lower() if asked.target else "csv")
    if form not in ("csv", "json"):
        raise InvalidArgument("target", "must end in .csv or .json")
    if asked.target is not None and os.path.lexists(asked.target):
        raise InvalidArgument("target", TAKEN)
    with _open(asked) as ledger:
        receipts = ledger.receipts()
    text = to_csv(receipts) if form == "csv" else to_json(receipts)
    if asked.target is None:
        if sys.stdout.isatty():  # a file is for programs, which take signs as they are
            text = _seen_by_line(text, "\r\n" if form == "csv" else "\n")
        sys.stdout.write(text + ("\n" if form == "json" else ""))
    else:
        # the mark tells spreadsheets that the text is UTF-8
        try:
            write_new(asked.target, text.encode("utf-8-sig" if form == "csv" else "utf-8"))
        except FileExistsError:
            raise InvalidArgument("target", TAKEN) from None
        print(f"Wrote {len(receipts)} receipts to {asked.target}.")


NOT_MET = "Nobody of that name had a role or a share: compare it, letter by letter, with what their sidebar shows."


def _role(asked: argparse.Namespace) -> None:
    roles = [] if set(asked.roles) == {NO_ROLE} else asked.roles
    if not {*roles} <= {*ROLES}:
        raise InvalidArgument("role", f"must be one or more of {', '.join(ROLES)}, or {NO_ROLE} alone")
    with _open(asked) as ledger:
        met = _met(ledger, asked.subject)
        ledger.give_roles(asked.subject, roles)
    print(f"{_seen(asked.subject)}: {', '.join(sorted(roles)) or 'no role but to view'}")
    if not met:
        print(NOT_MET)


def _share(asked: argparse.Namespace) -> None:
    with _open(asked) as ledger:
        met = _met(ledger, asked.subject)
        found = ledger.share(asked.lineage, asked.subject, asked.level)
    print(f"Owned by: {', '.join(map(_seen, found.owners)) or 'nobody who logs in'}")
    if not met:
        print(NOT_MET)


def _met(ledger: Ledger, subject: str) -> bool:
    """Whether somebody of this name, or everyone, has a role or a share already."""
    shared = (ledger.terms(budget.lineage).shares for budget in ledger.chargeable())
    return subject == EVERYONE or subject in ledger.roles() or any(subject in one for one in shared)


def _people(asked: argparse.Namespace) -> None:
    with _open(asked) as ledger:
        for subject, roles in ledger.roles().items():
            print(f"{_seen(subject)}: {', '.join(sorted(roles))}")
        for budget in ledger.chargeable():
            named, terms = f"  {_named(budget)}", ledger.terms(budget.lineage)
            for subject, level in terms.shares.items():
                print(f"{named}: {level}: {_seen(subject)}")
            print(f"{named}: one person alone: {'all of it' if terms.limit is None else f'ε = {exact(terms.limit)}'}")
            for subject, limit in terms.lower.items():
                print(f"{named}: one person alone: ε = {exact(limit)}: {_seen(subject)}, who raised it themselves")
            if terms.ended:
                print(f"{named}: closed on {terms.ended[:10]}")


def _confirm(asked: argparse.Namespace) -> None:
    data = _brought(asked.receipt)
    if is_document(data):
        _examine(asked, data)
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidArgument("receipt", "is not a text file, so it is no receipt") from None
    with _open(asked) as ledger:
        found = ledger.confirmed(text)
        whose = "" if found is None else ledger.about(found)
    if found is None:
        raise InvalidArgument("receipt", "does not match the journal")
    answer = f" Answer: {canonical(found.answer)}." if found.answer_hash else ""
    print(f"The receipt matches the journal. It is about {_seen(whose)}.")
    print(f"{found.time}: {_seen(found.what)}{answer} Cost: {canonical(cost_to_json(found.cost))}")


def _brought(path: Path) -> bytes:
    """What is in a file that somebody brings. Raises InvalidArgument for what has no end, or is too large."""
    if path.exists() and not path.is_file():
        raise InvalidArgument("receipt", "must be a file")
    if is_held(path):
        raise InvalidArgument("receipt", "must be no ledger that this program has open")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InvalidArgument("receipt", f"must be at most {MOST_BYTES >> 20} MB")
    return data


def _examine(asked: argparse.Namespace, data: bytes) -> None:
    """A report: which of its answers the journal knows, and whether a byte was changed since it was made."""
    with _open(asked) as ledger:
        found = ledger.examine(data)
        known = [(receipt, ledger.about(receipt)) for receipt in found.receipts]
    for receipt, whose in known:
        print(f"The journal knows {receipt.journal_hash[:12]}, about {_seen(whose)}: {_seen(receipt.what)}")
    for start in found.unknown:
        print(f"The journal does not know {start}.")
    if not found.unchanged:
        before = f", or was made before {found.since[:10]}, when this one's key was lost" if found.since else ""
        raise InvalidArgument("report", f"{CHANGED}{before}")
    if found.unknown:
        raise InvalidArgument("report", "names an answer that the journal does not know")
    print("Not a byte of the report was changed since it was made.")


_COMMANDS = {
    "init": _init,
    "status": _status,
    "verify": _verify,
    "backup": _backup,
    "restore": _restore,
    "export": _export,
    "confirm": _confirm,
    "role": _role,
    "share": _share,
    "people": _people,
}

if __name__ == "__main__":
    sys.exit(main())
