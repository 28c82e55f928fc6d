"""The only path from private data to a published answer.

Charge, durably → note that the draw begins → draw the noise → wait for the tick → store the answer → return the
receipt. No value is looked at before the charge: the header alone is, which is public. A crash after the charge may
burn budget and never refunds it; nothing is returned that is not stored. Noise comes from
``dpcore.releases.draws`` alone; nothing here reaches ``random`` or ``numpy.random`` (a test walks the imports).
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from datetime import date
from functools import partial
from inspect import signature
from typing import Any, Protocol

from dpcore.alone import Alone
from dpcore.costs import Cost
from dpcore.datasets.declaration import shown
from dpcore.errors import InvalidArgument, LedgerError, ReleaseRefused
from dpcore.ledger import Known, Ledger, Petition, Receipt
from dpcore.ledger.charging import MOST_BYTES
from dpcore.ledger.kept import KEPT
from dpcore.ledger.records import readable
from dpcore.ledger.words import chosen_after_looking, fuller, refusal, with_all
from dpcore.tick import TICK, Tick

PERSON = "person"

REFUSED = "These data lack a column of this question; nothing was charged now and nothing was shown."
COUNTS_ALONE = "This question cannot be asked of a source that is only counted where it is; nothing was charged."
TOO_LARGE = "The answer to this question could be larger than what is kept of one; nothing was charged. Ask of less."
_LATER = {
    "features": {"pairs"},
    "reads": {"suggested", "suggested_row", "form", "coded", "named_by_rows", "table", "together", "done"},
}
"""Parameters that requests did not always have, by the part that holds them."""
_OF_THE_TABLE = {"records"}
"""What a request says of the table it is asked about, and what changes no answer."""
_OF_COLUMNS = {"columns", "experts", "pairs", "suggested"}
"""Parameters of which nobody chose the order: it is that in which a page lists columns, which hangs on what was
declared before. No answer hangs on it, and each names the columns it is about."""
_CHOSEN = (("epsilon",), ("threshold",), ("threshold", "epsilon"))
"""What requests named that was taken from a picture of the data, as long as only what a button took was marked."""
UNDER_WAY = "This very question is being answered elsewhere at this moment; nothing more was charged. Look again soon."
AWAITED = 20
"""Ticks for which an answer that is drawn elsewhere is waited for."""
_DRAWING = Alone()
"""Requests that are answered in this process, each once at a time."""
FAILED = "The private answer could not be made, and nothing was shown; its charge stands, and pays for the next try."


class Request(Protocol):
    """What ``dpcore.releases`` defines: a frozen dataclass of public parameters.

    ``answer`` draws and returns what JSON can hold, whatever the rows hold. Where there are ``reads``, the rows'
    header must have those columns. ``notes``, where there are any, go on the receipt after the question.
    """

    @property
    def what(self) -> str:
        """The question in one plain sentence."""

    @property
    def mechanism(self) -> str:
        """What answers it, by its right name."""

    @property
    def neighbours(self) -> str:
        """Who is protected: ``add_remove`` or ``replace_one``."""

    @property
    def cost(self) -> Cost:
        """What one answer costs."""

    def answer(self, rows: Any) -> Any: ...


def release(
    ledger: Ledger,
    request_id: str,
    lineage: str,
    request: Request,
    rows: Any,
    *,
    progress: Callable[[float], None] | None = None,
    known: Known | None = None,
    drawn: Callable[[], None] = lambda: None,
    waits: Callable[[], None] | None = None,
) -> Receipt:
    """One private answer about ``rows`` (``PrivateRows``), paid from the budget of ``lineage``; the receipt holds it.

    The same ``request_id`` again gives the same stored answer and no second charge, whatever ``rows`` are then; with a
    different request it is refused, but for one in whose place ``request`` stands (``Asked.instead_of``): what was
    charged or granted for that is drawn by its mechanism. Where this question was answered, or is being so, beyond what
    is ``known`` of it, that answer comes back under its own id, and nothing is charged (``Ledger.charge``).
    ``progress`` is told the share done by a request that can be long (one whose ``answer`` takes it), ``drawn`` that
    the answer which is kept was drawn here, from these ``rows``, and not before or elsewhere. One charge pays for one
    draw: whoever comes with the same ``request_id`` meanwhile waits for its answer, and where another process was
    faster nothing is told of the draw that is thrown away. Stores and returns on a fixed tick; an answer that the
    ledger cannot take at that moment is stored later, and ``drawn`` told then, from another thread
    (``Ledger.store_answer``): whoever cannot come again with the same ``request_id`` says what ``waits`` for that,
    which is told so, and gets the receipt once it is stored, or LedgerError after a minute. Raises BudgetExceeded,
    UnknownLineage and LedgerError from the ledger, InvalidArgument for public parameters, UnreadableFile where rows
    that are kept elsewhere cannot be reached, and ReleaseRefused where a column of the question is not in the header,
    or a source is asked for more than counts, or the answer could be too large, or it is being drawn for longer, or,
    after the charge and always with the same sentence, where the machine failed.
    """
    make_ready(request, rows)
    known = None if known is None else replace(known, digests=question_digests(request))
    tick = Tick()
    try:
        return _release(ledger, request_id, lineage, request, rows, progress, tick, known, drawn, waits)
    finally:
        tick.wait()


def make_ready(request: Request, rows: Any) -> None:
    """What hangs on how many rows one person has is done before anything of which the time is recorded, or waited for:
    whoever clicks has the file."""
    reads, ready = getattr(request, "reads", None), getattr(rows, "ready", None)
    if reads is not None and ready is not None:
        _attempt(lambda: ready(reads))  # where that fails, the answer does, with the one sentence for all


def ask(ledger: Ledger, request_id: str, lineage: str, request: Request) -> Petition:
    """Ask the owners of a budget to approve this answer, for somebody who may not take it alone; nothing is charged.

    Once it is granted, ``release`` with the ``request_id`` of what is returned and an equal request draws it: where
    this answer was asked for before, and not drawn yet, that is the earlier one's. A request in whose place this
    stands (``Asked.instead_of``) has a price of its own: it comes back only where it was charged, and pays for an
    answer. Raises as ``Ledger.ask``, and ReleaseRefused where the answer could be too large.
    """
    request = _asked_as(ledger, request_id, lineage, request, paid=True)
    _check_size(request)
    before = _own_digests(request)[1:]
    return ledger.ask(request_id, lineage, request.cost, sentence(request), before=before, **_asked(request))


def asked_before(ledger: Ledger, lineage: str, request: Request) -> tuple[Petition, ...]:
    """The requests for this very answer that were not drawn yet, by whoever the ledger is for: those for which one can
    be drawn, each as it was asked for and at its own price, this ``request``'s first; where there is none, the newest,
    which says why not (``Petition.unfit``) where it is open. Raises as ``Ledger.latest_petition``."""
    found = _petitions(ledger, lineage, request)
    return tuple(one for one in found if one.pending) or tuple(sorted(found, key=lambda one: one.time)[-1:])


def _petitions(ledger: Ledger, lineage: str, request: Request) -> list[Petition]:
    """For this request and each in whose place it stands the one of which the ledger tells first."""
    found = (
        _latest(ledger, lineage, request),
        *(_still_fitting(ledger, _latest(ledger, lineage, one)) for one in _instead_of(request)),
    )
    return [one for one in found if one is not None]


def _latest(ledger: Ledger, lineage: str, request: Request) -> Petition | None:
    before = _own_digests(request)[1:]
    return ledger.latest_petition(lineage, request.cost, sentence(request), before=before, **_asked(request))


def _still_fitting(ledger: Ledger, petition: Petition | None) -> Petition | None:
    """The same, unfit where the budget has not enough left for what it costs: what it is asked for by now may cost
    less, and nobody could ask for that."""
    if petition is None or petition.charged or not petition.pending:
        return petition
    budget = ledger.budget(petition.lineage)
    if budget.fits(petition.cost, petition.neighbours):
        return petition
    return replace(petition, unfit=refusal(budget, petition.cost, petition.neighbours, petition.unit))


def _asked_as(ledger: Ledger, request_id: str, lineage: str, request: Request, *, paid: bool = False) -> Request:
    """This request, or the one in whose place it stands that was charged, or asked for, under this id; or, with
    ``paid``, under another one that was charged and not drawn."""
    if not _instead_of(request):
        return request
    receipt = ledger.receipt(request_id)
    if receipt is not None:
        return _of_these(request, receipt.question)
    found = _petitions(ledger, lineage, request)
    theirs = (one.question for one in found if one.request_id == request_id or (paid and one.charged))
    return _of_these(request, next(theirs, question_digest(request)))


def _of_these(request: Request, digest: str) -> Request:
    """Of this request and those in whose place it stands the one with this digest; itself where none has it."""
    return next((one for one in _instead_of(request) if digest in _own_digests(one)), request)


def _instead_of(request: Request) -> tuple[Request, ...]:
    return getattr(request, "instead_of", ())


def _asked(request: Request) -> dict[str, str]:
    unit = str(getattr(request, "unit", PERSON))
    return {
        "mechanism": str(request.mechanism),
        "neighbours": str(request.neighbours),
        "question": question_digest(request),
        "unit": "" if unit == PERSON else unit,
    }


def _release(
    ledger: Ledger,
    request_id: str,
    lineage: str,
    request: Request,
    rows: Any,
    progress: Callable[[float], None] | None,
    tick: Tick | None = None,
    known: Known | None = None,
    drawn: Callable[[], None] = lambda: None,
    waits: Callable[[], None] | None = None,
) -> Receipt:
    """The answer that there is, or a new one, by who is alone with this request."""
    with _DRAWING.at(request_id, AWAITED * TICK) as alone:
        if not alone:
            raise ReleaseRefused(UNDER_WAY)
        request = _asked_as(ledger, request_id, lineage, request)
        earlier = ledger.receipt(request_id)
        reads = getattr(request, "reads", None)
        ready = None
        if (earlier is None or earlier.answer_hash is None) and reads is not None:
            if getattr(rows, "in_place", False):
                if not (getattr(request, "in_batches", False) or getattr(request, "counts_alone", False)):
                    raise ReleaseRefused(COUNTS_ALONE)
                # a large question takes its time to be written: only for whom the ledger gives an answer
                ready = partial(_check_source, request, reads, rows)
            elif not rows.has(reads.names):
                raise ReleaseRefused(REFUSED)
            else:
                _check_rows(lambda: rows.check(reads))
        if earlier is None:
            _check_size(request)
        what, asked, before = sentence(request), _asked(request), _own_digests(request)[1:]
        receipt = ledger.charge(
            request_id, lineage, request.cost, what, **asked, known=known, before=before, ready=ready
        )
        if receipt.answer_hash is not None:
            return receipt
        if receipt.request_id != request_id:
            return _awaited(ledger, receipt.request_id)
        ledger.begin_draw(request_id)
        request = _as_charged(request, receipt)
        told = {"progress": progress} if "progress" in signature(request.answer).parameters else {}
        done, answer = _attempt(lambda: _checked(request.answer(rows, **told)))
        if not done:
            with suppress(LedgerError):  # then it is as after a crash
                ledger.draw_failed(request_id)
            raise ReleaseRefused(FAILED)
        if tick is not None:
            tick.wait()  # the record of the answer holds its time
        try:
            return ledger.store_answer(request_id, answer, drawn)
        except LedgerError as error:
            if waits is None or str(error) != KEPT:
                raise
        waits()
        return ledger.stored(request_id)


def _as_charged(request: Any, receipt: Receipt) -> Any:
    """The question with what its receipt says of it, where it is drawn by somebody who says less: an answer that goes
    on without its receipt, as a model does, says it itself."""
    if getattr(request, "chosen_after_looking", True) or not chosen_after_looking(receipt.what):
        return request
    return replace(request, chosen_after_looking=True)


def _awaited(ledger: Ledger, request_id: str) -> Receipt:
    """The answer that somebody else draws; looked for on ticks, as they store it on theirs."""
    for _ in range(AWAITED):
        time.sleep(TICK)
        found = ledger.receipt(request_id)
        if found is not None and found.answer_hash is not None:
            return found
    raise ReleaseRefused(UNDER_WAY)


def _check_size(request: Request) -> None:
    """Whether the ledger can keep the answer, whatever it turns out to be: before anything is charged or asked."""
    if getattr(request, "most_bytes", 0) > MOST_BYTES:
        raise ReleaseRefused(TOO_LARGE)


def _check_source(request: Request, reads: Any, rows: Any) -> None:
    """Whether a source that is counted where it is can answer: before anything is charged."""
    probe = getattr(request, "probe", None)
    _check_rows(lambda: rows.check(reads) if probe is None else probe(rows), "This source")


def _check_rows(check: Callable[[], None], what: str = "This table") -> None:
    try:
        check()
    except InvalidArgument as error:
        raise ReleaseRefused(f"{what} cannot be asked: {error}; nothing was charged.") from None


def sentence(request: Request) -> str:
    """What a receipt says was asked: the question, what was promised, and what ε does not cover."""
    return " ".join([question(request), *getattr(request, "notes", ())])


def question(request: Request) -> str:
    """What is asked, and of which table where a source has several."""
    what = request.what if request.what.endswith(("?", ".")) else f"{request.what}."
    table = getattr(getattr(request, "reads", None), "table", "")
    return f"{what} Asked of the table “{shown(table)}”." if table else what


def notes_of(request: Request, *, granted: Sequence[str] = (), charged: Sequence[str] = ()) -> tuple[str, ...]:
    """The notes of a question, with all that its receipt says beyond them where it is drawn for a request that was
    ``granted`` in these words, or waits for it, or for a charge that was made in these: an earlier session may have
    said more."""
    own, notes = sentence(request), tuple(getattr(request, "notes", ()))
    question = own.removesuffix(" ".join(notes))
    found = list(notes)
    for told in (*(fuller(one, own) or own for one in granted), *charged):
        if with_all(own, told) == with_all(told, own):  # nothing but what stands behind it
            more = with_all(own, told).removeprefix(own)
        else:
            more = told.removeprefix(question)
        if more.strip() and more.strip() not in found:
            found.append(more.strip())
    return tuple(found)


def _attempt(work: Any) -> tuple[bool, Any]:
    """Whether ``work`` ran, and its result. Whatever it raises may hold private values, so it goes no further."""
    try:
        return True, work()
    except Exception:  # noqa: BLE001 - the caller raises a sentence of its own, with nothing attached
        return False, None


def _checked(answer: Any) -> Any:
    """The answer, if a record can hold it as it is."""
    readable({"answer": answer})
    return json.loads(json.dumps(answer, allow_nan=False))


def question_digests(request: Request) -> tuple[str, ...]:
    """Its digest, and those it had while a digest hung on the order of columns, or on which numbers were marked as
    chosen after looking, where they are others, and those of the requests in whose place it stands
    (``Asked.instead_of``): what was answered, charged or asked for by these is of this very question too."""
    return tuple(digest for one in (request, *_instead_of(request)) for digest in _own_digests(one))


def _own_digests(request: Request) -> tuple[str, ...]:
    """Those by which it is drawn by the same mechanism at the same cost, the one that it has now first."""
    marked = getattr(request, "chosen_after_looking", False)
    before = ((), *(one for one in _CHOSEN if marked and all(hasattr(request, name) for name in one)))
    ways = ((order, chosen) for order in (_ordered, _fields) for chosen in before)
    return tuple(dict.fromkeys(_digest(request, order, chosen) for order, chosen in ways))


def question_digest(request: Request) -> str:
    """A digest of the kind of request and all its public parameters; equal for equal questions, in whatever order a
    page lists columns, and whether or not it was chosen after looking at the data."""
    return _digest(request, _ordered)


def _digest(request: Request, fields_of: Callable[[Any], dict[str, Any]], chosen: tuple[str, ...] = ()) -> str:
    parameters: Any = request
    if not is_dataclass(parameters) or isinstance(parameters, type):
        raise InvalidArgument("request", "must be a dataclass of public parameters")
    kind = f"{type(request).__module__}.{type(request).__qualname__}"
    try:
        text = json.dumps(
            [kind, _parameters(parameters, fields_of, chosen)], sort_keys=True, separators=(",", ":"), default=_plain
        )
    except (TypeError, ValueError):
        raise InvalidArgument("request", "must hold plain values only: numbers, text and tuples of them") from None
    return hashlib.sha256(text.encode()).hexdigest()


def _parameters(
    request: Any, fields_of: Callable[[Any], dict[str, Any]], chosen: tuple[str, ...] = ()
) -> dict[str, Any]:
    """All public parameters. What was said or done after a file was seen is left out where that was nothing, and a
    model's pairs where it has none, so that a question has the digest that it had before requests said so, and its
    answers are found. ``chosen`` stands where requests named numbers that were ``_CHOSEN``."""
    found = fields_of(request)
    if "chosen_after_looking" in found:
        found["chosen_after_looking"] = chosen
    for part, names in _LATER.items():
        if is_dataclass(found.get(part)):
            found[part] = {
                name: value
                for name, value in fields_of(found[part]).items()
                if name not in _OF_THE_TABLE and (value or name not in names)
            }
    return found


def _fields(part: Any) -> dict[str, Any]:
    return {one.name: getattr(part, one.name) for one in fields(part)}


def _ordered(part: Any) -> dict[str, Any]:
    """The same with columns and pairs of them by their names."""
    return {name: _by_name(value) if name in _OF_COLUMNS else value for name, value in _fields(part).items()}


def _by_name(columns: Iterable[Any]) -> list[Any]:
    return sorted(map(_first_by_name, columns), key=lambda one: one if isinstance(one, str) else _names(one))


def _names(column: Any) -> Any:
    """The name of a column, or those of a pair."""
    return getattr(column, "names", None) or (column.name,)


def _first_by_name(one: Any) -> Any:
    """A pair with its columns by their names; a column as it is."""
    if not hasattr(one, "first") or one.first.name <= one.second.name:
        return one
    return replace(one, first=one.second, second=one.first)


def _plain(value: Any) -> Any:
    """What JSON has no form for: a part of the parameters as its fields, a date as text."""
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if type(value) is not date:
        raise TypeError
    return value.isoformat()
