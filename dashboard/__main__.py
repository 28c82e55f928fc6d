"""Epsilon Lab from the command line: ``epsilon-lab [open|serve|ledger|import-csv|audit]``, or, in the folder of its
source, ``.venv/bin/python -m dashboard``.

Nothing heavy is loaded before the words of the call are understood, and nothing depends on the folder it is called in.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import tomllib
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from dashboard.background import safe_path
from dashboard.serving import settings as environment
from dashboard.serving.container import in_container

HERE = Path(__file__).resolve().parent
SETTINGS = next(file for file in (HERE / "config.toml", HERE.parent / ".streamlit" / "config.toml") if file.exists())
"""The server's settings: beside this module where the program is installed, in ``.streamlit/`` where it is not."""
LOOPBACK = "127.0.0.1"
NOWHERE = ("192.0.2.1", 9)  # an address for documentation: no packet goes there


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when all is well, 1 on trouble, 2 on a wrong call."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["ledger"]:
        from dpcore.ledger.__main__ import main as ledger

        return ledger(given[1:], program="epsilon-lab ledger")
    if given[:1] == ["import-csv"]:
        from dpcore.datasets.importing.__main__ import main as import_csv

        return import_csv(given[1:], program="epsilon-lab import-csv")
    asked = _parser().parse_args(given or ["open"])
    if asked.command == "audit":
        from dpcore.audit.__main__ import main as audit

        safe_path.keep()
        return audit()
    try:
        if asked.ledger is not None:
            os.environ["EPSILON_LAB_LEDGER"] = _named(asked.ledger)
        changes = options(asked.port, asked.address, asked.host)
        environment.check()
        if asked.replicas is not None:
            from dashboard.serving import replicas

            names = changes["server.allowedHosts"]
            return replicas.serve(
                asked.replicas, port=asked.port, address=asked.address, hosts=names, certificate=asked.certificate
            )
        from dashboard.serving import own_settings

        changes = {**own_settings.said(), **changes}
    except (ValueError, FileNotFoundError) as error:
        print(f"epsilon-lab: {error}", file=sys.stderr)
        return 2
    _serve(changes, browser=asked.command == "open" and not asked.no_browser)
    return 0


def _named(ledger: str) -> str:
    """The address of --ledger, looked at before anything else. Raises ValueError with a sentence."""
    from dpcore.addresses import ON_THE_LINE, holds_secret
    from dpcore.ledger.engine import kept_url

    if holds_secret(ledger):
        raise ValueError(f"--ledger {ON_THE_LINE}")
    kept_url(ledger, "--ledger")
    return ledger


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="epsilon-lab", description="Explore what differential privacy costs in accuracy, in the browser."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, told in (
        ("open", "start it for yourself and open the browser (what happens without a command)"),
        ("serve", "start it without opening a browser"),
    ):
        command = commands.add_parser(name, help=told, description=told)
        command.add_argument("--port", type=int, default=8501, help="the port, 8501 when left out")
        command.add_argument("--ledger", help="database URL, without a password, or file of the ledger; it must exist")
        command.add_argument(
            "--address",
            default=LOOPBACK,
            help="the address to listen on; any but this computer's own opens it to others, for samples only",
        )
        command.add_argument(
            "--host", action="append", default=[], help="a name under which others reach it; may be repeated"
        )
        command.add_argument("--no-browser", action="store_true", help=argparse.SUPPRESS)
        command.set_defaults(replicas=None, certificate=None)
    command.add_argument("--replicas", type=int, help="so many servers behind HAProxy, which share the ledger")
    command.add_argument("--certificate", type=Path, help="for replicas: serve by TLS with this PEM file")
    commands.add_parser(
        "ledger",
        help="look after the ledger: init, status, verify, backup, restore, export, confirm, role, share, people",
    )
    commands.add_parser(
        "import-csv", help="make CSV files too large for memory into a folder of Parquet, which is counted in place"
    )
    commands.add_parser("audit", help="attack every kind of private answer, a few minutes; exit code 1 when one leaks")
    return parser


def settings(file: Path = SETTINGS) -> dict[str, Any]:
    """The shipped settings by their dotted names, but those that the environment sets (``STREAMLIT_…``)."""
    found = dict(_flat(tomllib.loads(file.read_text(encoding="utf-8"))))
    return {name: value for name, value in found.items() if _variable(name) not in os.environ}


def _flat(table: Mapping[str, Any], before: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for name, value in table.items():
        found += _flat(value, f"{before}{name}.") if isinstance(value, Mapping) else [(before + name, value)]
    return found


def _variable(name: str) -> str:
    """What Streamlit calls a setting in the environment: STREAMLIT_SERVER_PORT for ``server.port``."""
    words = "".join(f"_{letter}" if letter.isupper() else letter for letter in name)
    return "STREAMLIT_" + words.replace(".", "_").upper()


def options(port: int, address: str, hosts: Sequence[str] = ()) -> dict[str, Any]:
    """The settings with what the call asks for. Raises ValueError with a sentence."""
    if not 0 <= port <= 65535:
        raise ValueError("the port must be a whole number from 0 to 65535")
    if address != "localhost":
        try:
            ip_address(address)
        except ValueError:
            raise ValueError("the address must be an IP address of this computer, such as 192.168.1.20") from None
    names = ["localhost", LOOPBACK, "::1", *hosts]
    if address in ("0.0.0.0", "::"):  # noqa: S104 - asked for, and said what it means
        names += [socket.gethostname(), *own_addresses()]
    elif address not in names:
        names.append(address)
    return {
        **settings(),
        "server.port": port,
        "server.address": address,
        "server.allowedHosts": list(dict.fromkeys(names)),
        "server.headless": True,  # the browser is opened by this program, once the server listens
        "logger.hideWelcomeMessage": True,
    }


def own_addresses() -> list[str]:
    """The address by which this computer would reach others, if it is on a network; nothing is sent to find it.

    None in a container: others do not reach it by its own.
    """
    if in_container():
        return []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)
        except OSError:
            return []
        return [str(probe.getsockname()[0])]


def _serve(changes: dict[str, Any], *, browser: bool) -> None:
    from dashboard.serving import held_ports, output, own_settings

    safe_path.keep()
    output.apart()
    own_settings.alone()
    if environment.PLACE in os.environ:
        held_ports.listen_at_held()
    from dashboard import server

    sys.argv = [str(HERE / "server.py")]  # what Streamlit takes for the program that was called
    server.app.state["browser"] = browser
    server.app.run(config=changes)


if __name__ == "__main__":
    sys.exit(main())
