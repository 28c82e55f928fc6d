"""What was declared about a table, as a file of its own: for next month's table, which it recognises by its columns.

It holds declared facts alone. Bounds and options that were read from the rows are left out of it, and steps that name
a word of theirs, so that no value of one month's people comes along to the next.
"""

from __future__ import annotations

import json
import types
from dataclasses import MISSING, dataclass, fields, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from dpcore.datasets.declaration import shown
from dpcore.datasets.schema import Column, Schema
from dpcore.datasets.size import Fits
from dpcore.datasets.steps import KINDS, Step, rests_on_words, rows_made
from dpcore.datasets.text import skeleton
from dpcore.errors import InvalidArgument, NoRoom
from dpcore.weight import weight

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from dpcore.datasets.reading import Reading

_MARK, _VERSION = "epsilon-lab declaration", 1
_LARGEST = 1 << 20
"""Letters of a saved declaration."""
LARGEST_HELD = 2 << 20
"""Bytes that a declaration takes once it is read: many short words are ten times as many as in the file."""
LONGEST_NAME = 500
MOST_STEPS = 1000
"""Steps that one declaration does to a table, one after another: each of the most columns may need one, and more."""
_WRONG = "is no declaration that can be read: {}; declare the columns again and save it anew"
_RESTS = (
    "cannot be saved: one of its steps puts rows, or numbers, of “{}” together, another reads a word of it as missing, "
    "and no word of the rows is saved; take one of the two back. Where rows with that word are nobody's, list it among "
    "the words of that column that mean missing, and then put the rows together"
)


Choice = str | int | bool | tuple[str, ...]
"""What a person states of the form of a file, as an argument of ``read_table``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A schema and the steps before it. ``choices`` are what the person stated of the form of such files, as arguments
    of ``read_table``.

    How the ``suggested`` columns are read and, with ``row_suggested``, what one row is, a file had suggested, or
    somebody stated who had seen it: answers about the next table say so too. Of the ``confirmed`` ones a person stated
    it or called it right, or nothing is to be said, as of text; the others they must call right once they are asked.

    Raises InvalidArgument where one person is said to have fewer rows than the steps can make of one (``rows_made``):
    their answers would be charged for less than they move.
    """

    schema: Schema
    steps: tuple[Step, ...] = ()
    choices: tuple[tuple[str, Choice], ...] = ()
    suggested: tuple[str, ...] = ()
    confirmed: tuple[str, ...] = ()
    row_suggested: bool = False

    def __post_init__(self) -> None:
        least = rows_made(self.steps, self.schema.each_row)
        if self.schema.rows_per_person < least:
            raise InvalidArgument("rows_per_person", f"must be at least {least:,}: so many rows the steps make of one")
        if not set(self.suggested) <= set(self.schema.names):
            raise InvalidArgument("suggested", "must name columns of the declaration")
        if not set(self.confirmed) <= set(self.suggested):
            raise InvalidArgument("confirmed", "must be among the suggested columns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How a declaration fits a table: declared columns that it lacks, and columns that are not declared.

    ``schema`` has the declared columns under the table's own spelling of their names, then the suggestions for others.
    Those of them that no row names are in the table once it was read with them (``Reading.after``).
    """

    schema: Schema
    lacking: tuple[str, ...]
    undeclared: tuple[str, ...]

    @property
    def recognised(self) -> bool:
        """Whether every declared column is there: then this is a table of the same kind."""
        return not self.lacking


def without_rows(declaration: Template) -> Template:
    """What of a declaration holds of the next table: no bounds or options that were read from the rows, no step that
    ``holds_values``, which is offered for the next table where its rows suggest it too, and nothing that headings tell.

    Raises InvalidArgument where other steps would put other rows together without it (``rests_on_words``).
    """
    column = rests_on_words(declaration.steps)
    if column:
        raise InvalidArgument("declaration", _RESTS.format(shown(column)))
    return replace(
        declaration,
        schema=replace(
            declaration.schema,
            columns=tuple(map(_declared_only, declaration.schema.columns)),
            rows_protected=None,  # is told of each table by its own headings, and stated by nobody
        ),
        steps=tuple(step for step in declaration.steps if not step.holds_values),
    )


def saved(declaration: Template) -> str:
    """The declaration ``without_rows`` as JSON text, columns in order, only what differs from the usual.

    Raises InvalidArgument as that does.
    """
    declaration = without_rows(declaration)
    schema = declaration.schema
    document = {
        _MARK: _VERSION,
        **{
            field.name: getattr(schema, field.name)
            for field in fields(Schema)
            if field.name != "columns" and getattr(schema, field.name) != field.default
        },
        "columns": [_written(column) for column in schema.columns],
        "steps": [{"step": type(step).__name__, **_written(step)} for step in declaration.steps],
        "choices": dict(declaration.choices),
        **({"suggested": declaration.suggested} if declaration.suggested else {}),
        **({"confirmed": declaration.confirmed} if declaration.confirmed else {}),
        **({"row_suggested": True} if declaration.row_suggested else {}),
    }
    return json.dumps(document, ensure_ascii=False, indent=2, default=_encoded) + "\n"


def loaded_file(data: bytes) -> Template:
    """As ``loaded``, of the bytes of the file, which are looked at only where they can be few enough letters."""
    if len(data) > 4 * _LARGEST:
        raise InvalidArgument("declaration", _WRONG.format("it is too large"))
    return loaded(data.decode("utf-8", "replace"))


def loaded(text: str) -> Template:
    """The declaration of a saved file. Raises InvalidArgument for anything else."""
    from dpcore.datasets.reading.bounds import MOST_COLUMNS  # loads DuckDB, as this does
    from dpcore.datasets.reading.choices import Choices

    if len(text) > _LARGEST:
        raise InvalidArgument("declaration", _WRONG.format("it is too large"))
    try:
        document = json.loads(text)
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a sign, which JSON can name and no page can show
        raise InvalidArgument("declaration", _WRONG.format("it has a text that cannot be written")) from None
    except (ValueError, RecursionError):
        raise InvalidArgument("declaration", _WRONG.format("it is not JSON")) from None
    if not isinstance(document, dict) or document.pop(_MARK, None) != _VERSION:
        raise InvalidArgument("declaration", _WRONG.format("it does not say that it is one"))
    columns = document.pop("columns", [])
    steps, choices = document.pop("steps", []), document.pop("choices", {})
    suggested, confirmed = (
        _taken(document.pop(name, []), tuple[str, ...], name) for name in ("suggested", "confirmed")
    )
    row = _taken(document.pop("row_suggested", False), bool, "row_suggested")
    if not isinstance(columns, list) or not isinstance(steps, list) or not isinstance(choices, dict):
        raise InvalidArgument("declaration", _WRONG.format("its parts are not lists"))
    if not all(isinstance(value, str | int | list) for value in choices.values()):
        raise InvalidArgument("declaration", _WRONG.format("its choices are not plain"))
    form = _read(Choices, choices)
    if len(columns) > MOST_COLUMNS:
        raise InvalidArgument("declaration", _WRONG.format(f"it has more than {MOST_COLUMNS} columns"))
    if len(steps) > MOST_STEPS:
        raise InvalidArgument("declaration", _WRONG.format(f"it has more than {MOST_STEPS} steps"))
    schema = _read(Schema, document | {"columns": [_read(Column, each) for each in columns]})
    taken = tuple(map(_step, steps))
    if "rows_per_person" not in document:  # what was never said is what the steps make
        schema = replace(schema, rows_per_person=rows_made(taken, schema.each_row))
    if any(len(column.name) > LONGEST_NAME for column in schema.columns):
        raise InvalidArgument("declaration", _WRONG.format(f"a name has more than {LONGEST_NAME} characters"))
    answers = tuple(sorted((name, getattr(form, name)) for name in choices))
    found = without_rows(
        Template(
            schema=schema,
            steps=taken,
            choices=answers,
            suggested=suggested,
            confirmed=confirmed,
            row_suggested=row,
        )
    )
    if weight(found) > LARGEST_HELD:
        raise InvalidArgument("declaration", _WRONG.format("it names too many options"))
    return found


def fitted(declaration: Template, reading: Reading) -> Fit:
    """How it fits a table to which its steps were already done.

    A column is the one of the very name; or, where a header names them, the only one whose name looks like it (case,
    spaces). Where each row names its own cells one row could bring a name that looks like one, and take its place; and
    none is lacking, for one row could bring that too. A column that is there for looking only is none of the declared.
    """
    names = declaration.schema.names
    if reading.named_by_rows:
        here = {name: name for name in names if reading.could_hold(name, declaration.steps)}
    else:
        here = _spelled(names, {column.name for column in reading.columns} - reading.from_rows)
    columns = [replace(column, name=here[column.name]) for column in declaration.schema.columns if column.name in here]
    taken = set(here.values())
    rest = [column.suggestion for column in reading.columns if column.name not in taken]
    if not columns and not rest:
        raise InvalidArgument("declaration", "must share a column with the table")
    whose = declaration.schema.id_column
    return Fit(
        schema=replace(
            declaration.schema,
            columns=(*columns, *rest),
            id_column=None if whose is None else here.get(whose),
        ),
        lacking=tuple(column.name for column in declaration.schema.columns if column.name not in here),
        undeclared=tuple(column.name for column in rest),
    )


def form_for(declaration: Template, header: Collection[str]) -> dict[str, Choice]:
    """What it states of the form of a file that has these columns, as arguments of ``read_table``: they are found by
    the names of their ``header`` as ``fitted`` does."""
    form = dict(declaration.choices)
    coded = form.get("coded")
    if isinstance(coded, tuple):
        here = _spelled((*declaration.schema.names, *coded), header)
        form["coded"] = tuple(sorted(here.get(name, name) for name in coded))
    return form


def _spelled(names: Iterable[str], header: Collection[str]) -> dict[str, str]:
    """Under which name of a header each of the columns with these names stands, of those that are there."""
    declared = tuple(dict.fromkeys(names))
    looks: dict[str, list[str]] = {}
    for name in set(header) - set(declared):
        looks.setdefault(skeleton(name), []).append(name)
    found = ((name, [name] if name in header else looks.pop(skeleton(name), [])) for name in declared)
    return {name: own[0] for name, own in found if len(own) == 1}


def recognised(reading: Reading, known: Iterable[Template], fits: Fits | None = None) -> tuple[Template, ...]:
    """Those of the declarations whose steps can be done to the table and whose columns it then all has.

    All of them, for a person to choose from: the most columns first, then the latest. To take one for them would let a
    row decide, for one more may bring a column, or an option. Of those that say the same of columns and steps the
    latest alone. Empty when there is none. Raises NoRoom, as ``fits`` did, where no other is recognised than those
    whose steps the table can take and ``fits`` refuses.
    """
    found: list[Template] = []
    refused: NoRoom | None = None
    latest = {(one.schema.names, one.steps): one for one in known}
    for declaration in reversed(list(latest.values())):
        try:
            fit = fitted(declaration, reading.after(declaration.steps, fits))
        except InvalidArgument:
            continue
        except NoRoom as error:
            refused = refused or error
            continue
        if fit.recognised:
            found.append(declaration)
    if not found and refused is not None:
        raise refused
    return tuple(sorted(found, key=lambda one: -len(one.schema.columns)))


def _declared_only(column: Column) -> Column:
    """Without what was read from the rows."""
    if not column.from_file:
        return column
    bare = replace(column, low=None, high=None, earliest=None, latest=None, categories=(), fill=None)
    return replace(bare, from_file=False, words_from_file=False)


def _written(value: Any) -> dict[str, Any]:
    return {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if field.default is MISSING or getattr(value, field.name) != field.default
    }


def _encoded(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError("a declaration holds only texts, numbers and dates")


def _step(entry: object) -> Step:
    kind = KINDS.get(str(entry.get("step"))) if isinstance(entry, dict) else None
    if kind is None or not isinstance(entry, dict):
        raise InvalidArgument("declaration", _WRONG.format("it has a step that is not known"))
    step: Step = _read(kind, {name: value for name, value in entry.items() if name != "step"})
    if step.holds_values:  # ``saved`` leaves it out
        raise InvalidArgument("declaration", _WRONG.format("it has a step that is made from cells"))
    return step


def _read(kind: type[Any], entry: object) -> Any:
    """A value of a dataclass from plain JSON, each field checked against its annotation. Raises InvalidArgument."""
    hints = get_type_hints(kind)
    known = {field.name for field in fields(kind)}
    needed = {field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING}
    if not isinstance(entry, dict) or not needed <= set(entry) <= known:
        raise InvalidArgument("declaration", _WRONG.format("it has fields that are not known"))
    return kind(**{name: _taken(value, hints[name], name) for name, value in entry.items()})


def _taken(value: Any, hint: Any, name: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        for part in get_args(hint):
            try:
                return _taken(value, part, name)
            except InvalidArgument:
                continue
    elif origin is Literal:
        if any(value == each and type(value) is type(each) for each in get_args(hint)):
            return value
    elif origin is tuple and isinstance(value, list):
        return tuple(_taken(each, get_args(hint)[0], name) for each in value)
    elif hint is date and isinstance(value, str):
        try:
            return date.fromisoformat(value)
        except ValueError:
            pass
    elif hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            pass
    elif (hint is bool or not isinstance(value, bool)) and isinstance(hint, type) and isinstance(value, hint):
        return value
    raise InvalidArgument("declaration", _WRONG.format(f"“{name}” is of another kind"))
