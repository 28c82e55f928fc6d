"""``epsilon-lab import-csv``: CSV files of any size into a folder of Parquet, for the list of a server's sources."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from dpcore.datasets.importing.cells import UNCLOSED
from dpcore.datasets.importing.folder import STATED, Imported, import_csv
from dpcore.datasets.importing.text_lines import Lines
from dpcore.datasets.text import visible
from dpcore.errors import DpcoreError

_WIDEST = 40
_AS_LINES = {
    True: "Cells may run over several lines: one row with a quotation mark too many can take those after it along.",
    False: "Each line is a row of its own; one on which a quotation mark stays open is none.",
}


def main(arguments: Sequence[str] | None = None, *, program: str = "epsilon-lab import-csv") -> int:
    """Run the command; 0 when the folder was made, 1 on trouble, 2 on a wrong call."""
    parser = _parser(program)
    asked = parser.parse_args(arguments)
    types = {}
    for stated in asked.column:
        name, equals, kind = stated.rpartition("=")
        if not equals or kind not in STATED:
            parser.error(f"--column must be a name, = and one of {', '.join(STATED)}")
        types[name] = kind
    try:
        size = sum(source.stat().st_size for source in asked.source)
        with _Progress(size) as progress:
            found = import_csv(
                asked.source,
                asked.folder.absolute(),
                types=types,
                delimiter="\t" if asked.delimiter == "tab" else asked.delimiter,
                encoding=asked.encoding,
                quote=asked.quote,
                decimal=asked.decimal,
                date_order=asked.date_order,
                header_line=asked.header_line,
                lines_in_cells=asked.lines_in_cells,
                progress=progress.more,
            )
    except DpcoreError as error:
        print(f"Trouble: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"Trouble: the file cannot be used ({error.strerror}).", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; nothing was left behind.", file=sys.stderr)
        return 1
    print(told(found, lines_in_cells=asked.lines_in_cells))
    return 0


def told(found: Imported, *, lines_in_cells: bool = False) -> str:
    """How lines were read, what was made, what did not fit, and what to add to the list of sources."""
    lines = [
        f"{found.rows:,} rows of {len(found.columns)} columns are in {found.folder}",
        "",
        _AS_LINES[lines_in_cells],
        "",
    ]
    wide = min(max(len(visible(column.name)) for column in found.columns), _WIDEST)
    lines.append(f"  {'column':{wide}}  {'type':8} {'missing':>13} {'did not fit':>13}")
    for column in found.columns:
        where = _where(column.misfit)
        lines.append(
            f"  {visible(column.name):{wide}}  {column.type:8} {column.missing:13,} {column.misfit.count:13,}{where}"
        )
    for source, aside in found.aside.items():
        for why, those in aside.lines.items():
            lines.append(f"  {source}: {those.count:,} set aside {why}{_where(those)}")
        if aside.undecodable.count:
            those = aside.undecodable
            lines.append(f"  {source}: {those.count:,} with bytes that are no text in this encoding{_where(those)}")
    if not lines_in_cells and any(UNCLOSED in aside.lines for aside in found.aside.values()):
        lines += ["", "Where cells are meant to run over several lines, --lines-in-cells reads these lines as one row."]
    if any(column.misfit.count for column in found.columns):
        lines += ["", "What did not fit is missing in the folder. --column NAME=text keeps a column as it is written."]
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in found.folder.name)[:40]
    return "\n".join([*lines, "", "For the list of sources; state these numbers yourself:", "", *_block(name, found)])


def _where(those: Lines) -> str:
    if not those.count:
        return ""
    more = ", …" if those.count > len(those.first) else ""
    return f"  line{'s' if those.count > 1 else ''} {', '.join(f'{line:,}' for line in those.first)}{more}"


def _block(name: str, found: Imported) -> list[str]:
    folder = str(found.folder).replace("\\", "\\\\").replace('"', '\\"')
    return [
        f"[{name}]",
        f'folder = "{folder}"',
        "epsilon = 1.0           # all that answers from it may ever reveal together",
        "rows_per_person = 1     # the most rows that one person has",
        '# id_column = "…"       # the column that says whose a row is: then no more than that are counted',
    ]


class _Progress:
    """How far it is, on a terminal."""

    def __init__(self, size: int) -> None:
        self._size, self._read, self._shown = max(size, 1), 0, -1

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown >= 0:
            print(file=sys.stderr)

    def more(self, size: int) -> None:
        self._read += size
        part = min(100 * self._read // self._size, 100)
        if part > self._shown and sys.stderr.isatty():
            self._shown = part
            print(f"\r{part:3} %", end="", file=sys.stderr, flush=True)


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=program,
        description="Make CSV files of any size into a folder of Parquet, which a server counts where it is. "
        "What is no value of its column's type is missing there, and told here with its line.",
    )
    parser.add_argument("source", type=Path, nargs="+", help="CSV files with the same line of names")
    parser.add_argument("folder", type=Path, help="the folder to make; it must not exist")
    parser.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="NAME=TYPE",
        help=f"a column's type ({', '.join(STATED)}), text when left out; may be repeated",
    )
    parser.add_argument("--delimiter", help='what stands between cells, a comma when left out; "tab" for a tab')
    parser.add_argument("--encoding", help="such as cp1252; utf-8 when left out")
    parser.add_argument(
        "--quote", choices=('"', "'", ""), help='what stands around cells, " when left out; nothing for none'
    )
    parser.add_argument("--decimal", choices=(".", ","), help="what stands before decimals, a point when left out")
    parser.add_argument("--date-order", choices=("ymd", "dmy", "mdy"), help="how days are written, ymd when left out")
    parser.add_argument(
        "--lines-in-cells",
        action="store_true",
        help="quoted cells run over several lines; each line is a row of its own when left out, and one on which a "
        "quotation mark stays open is set aside",
    )
    parser.add_argument("--header-line", type=int, metavar="N", help="the line of names, the first when left out")
    return parser


if __name__ == "__main__":
    sys.exit(main())
