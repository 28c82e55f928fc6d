"""What lets somebody into the ledger's database is neither printed nor kept, wherever it stands in the address."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from psycopg import pq
from sqlalchemy import make_url

from benchmarks.private_postgresql import PrivateServer
from dashboard import __main__ as command_line
from dpcore.addresses import read_address, shown_address, without_secrets
from dpcore.datasets.in_place.database import tables_of
from dpcore.errors import InvalidArgument, LedgerUnsound, UnreadableFile
from dpcore.ledger import Ledger, engine
from dpcore.ledger import __main__ as ledger_tools
from dpcore.ledger.__main__ import main
from dpcore.ledger.place import Place as Where

SECRETS = ("password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key")


def test_every_secret_that_the_library_takes_is_known() -> None:
    """The library marks with a star what a screen must not show, and keeps keys of a password among its options."""
    options = {one.keyword.decode(): one.dispchar for one in pq.Conninfo.get_defaults()}
    hidden = {name for name, shown in options.items() if shown == b"*" or name.startswith("scram_")}
    assert {"password", "sslpassword"} <= hidden
    for name in hidden | set(SECRETS) | {"PassWord"}:
        url = make_url(f"postgresql+psycopg://me:HIDE@/db?host=%2Fx&{name}=HIDE&port=1")
        assert shown_address(url) == "postgresql+psycopg://me:***@/db?host=%2Fx&port=1"
    for name in set(options) - hidden:
        url = make_url(f"postgresql+psycopg://me@/db?{name}=1")
        assert without_secrets(url) == url, "an address without secrets is named as before"


@pytest.mark.parametrize(
    "address", ["me:x@HIDE@h/db", "me:x@y:HIDE@h/db", "me:x@HIDE/y@h/db", "me:x@HIDE?y@h/db", "h:HIDE/db"]
)
def test_a_secret_in_the_wrong_place_is_refused_in_a_sentence(
    address: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["--ledger", f"postgresql+psycopg://{address}", "status"]) == 1
    with pytest.raises(UnreadableFile) as refused:
        tables_of(f"postgresql+psycopg://{address}")
    shown = capsys.readouterr()
    assert "%40" in shown.err
    assert "HIDE" not in shown.out + shown.err + str(refused.value)


@pytest.mark.parametrize(
    "address", ["me:HIDE@h/db", "me@h/db?password=HIDE", "me@h/db?sslmode=require&SSLPassword=HIDE"]
)
@pytest.mark.parametrize("program", ["ledger", "serve", "open"])
def test_no_password_is_taken_where_the_list_of_processes_shows_it(
    address: str, program: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_line, "_serve", lambda *_, **__: pytest.fail("it was started"))
    url = f"postgresql+psycopg://{address}"
    if program == "ledger":
        assert main(["--ledger", url, "status"]) == 1
    else:
        assert command_line.main([program, "--ledger", url]) == 2
    shown = capsys.readouterr()
    assert "EPSILON_LAB_LEDGER" in shown.err
    assert "HIDE" not in shown.out + shown.err


@pytest.mark.parametrize("command", ["init", "status", "export"])
@pytest.mark.parametrize(
    "location",
    ["sqlite:///l.db?timeout=HIDE", "sqlite:///l.db?mode=ro&uri=true", "/", "sqlite:////", "~nouser/x", "a\udcffb"],
)
def test_what_names_no_file_is_one_sentence_and_makes_none(
    location: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key" / "ledger.key"))
    assert main(["--ledger", location, command]) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith("Trouble: ")
    assert shown.err.count("\n") == 1
    assert "HIDE" not in shown.out + shown.err
    assert list(tmp_path.iterdir()) == []


FORGETTING = ("", " ", "sqlite:///", "sqlite://", "sqlite:///:memory:", ":memory:", "sqlite+pysqlite://")
"""What ``sqlite:///$LEDGER`` comes to where the variable is not set, and what else nothing keeps."""
COMMANDS = ("serve", "open", "serve --replicas 2", "ledger status", "ledger init", "ledger restore")


def refused_at_the_start(address: str, said: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    words, given = command.split(), ["--ledger", address] if said == "--ledger" else []
    if said != "--ledger":
        monkeypatch.setenv(said, address)
    call = ["ledger", *given, *words[1:]] if words[0] == "ledger" else [*words, *given]
    assert command_line.main(call) == (1 if words[0] == "ledger" else 2)


@pytest.fixture
def nothing_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    from dashboard.serving import replicas

    monkeypatch.setattr(command_line, "_serve", lambda *_, **__: pytest.fail("it was started"))
    monkeypatch.setattr(replicas, "serve", lambda *_, **__: pytest.fail("they were started"))
    monkeypatch.setenv("EPSILON_LAB_LEDGER", str(tmp_path / "l.db"))  # put back at the end, whatever a call sets
    monkeypatch.delenv("EPSILON_LAB_LEDGER")
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "key" / "ledger.key"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("address", FORGETTING)
@pytest.mark.parametrize("said", ["EPSILON_LAB_LEDGER", "--ledger"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_ledger_that_nothing_keeps_is_refused_in_a_sentence_at_the_start(
    address: str,
    said: str,
    command: str,
    nothing_starts: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every start would make all budgets whole again, and each replica have its own."""
    refused_at_the_start(address, said, command, monkeypatch)
    shown = capsys.readouterr()
    assert said in shown.err
    assert "forgotten" in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert list(nothing_starts.iterdir()) == []


@pytest.mark.parametrize("said", ["EPSILON_LAB_LEDGER", "--ledger"])
def test_the_check_notices_a_ledger_that_nothing_keeps(
    said: str, nothing_starts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "kept_url", lambda named, by: engine._url(named, by))
    monkeypatch.setattr(ledger_tools, "kept_url", lambda named, by: engine._url(named, by))
    for command in ("serve", "serve --replicas 2"):
        with pytest.raises(pytest.fail.Exception, match="started"):
            refused_at_the_start(":memory:", said, command, monkeypatch)
    with pytest.raises(AssertionError):
        refused_at_the_start("sqlite://", said, "ledger init", monkeypatch)


def test_python_may_ask_for_one_in_memory_and_never_for_an_empty_address() -> None:
    for location in ("sqlite://", "sqlite:///:memory:", ":memory:"):
        with Ledger.open(location) as ledger:
            assert ledger.journal_path is None
    for location in ("", "sqlite:///", "sqlite+pysqlite:///"):
        with pytest.raises(InvalidArgument, match=r"^location must name a file"):
            Ledger.open(location)


def test_a_file_may_have_the_sign_in_its_name() -> None:
    assert read_address("sqlite:////x/a@b@c.db").database == "/x/a@b@c.db"


@pytest.fixture
def url(server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("EPSILON_LAB_KEY", str(tmp_path / "ledger.key"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return server.new_schema().replace("ledger@", "ledger:HIDE@") + "&password=HIDE&sslpassword=HIDE"


def test_neither_screen_nor_key_file_holds_it(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPSILON_LAB_LEDGER", url)
    for command in ("init", "status", "verify"):
        assert main([command]) == 0
    shown = capsys.readouterr()
    assert "options=-csearch_path" in shown.out
    assert "HIDE" not in shown.out + shown.err
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or "HIDE" not in file.read_text(encoding="utf-8"), file.name


def test_the_check_notices_a_secret(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Where, "name", Where._older_name)
    with pytest.raises(AssertionError):
        test_neither_screen_nor_key_file_holds_it(url, tmp_path, capsys, monkeypatch)


def test_a_key_file_from_before_still_knows_the_ledger_and_forgets_the_secret(url: str, tmp_path: Path) -> None:
    Ledger.open(url, create=True).close()
    key = tmp_path / "ledger.key"
    found = json.loads(key.read_text())
    where = Where.of(make_url(url), url)
    own = found["ledgers"].pop(where.name)
    for identity in ("another", own):
        found["ledgers"][where._older_name] = identity
        key.write_text(json.dumps(found))
        assert where.pinned() == identity
        if identity != own:
            with pytest.raises(LedgerUnsound, match="not the one that was here before"):
                Ledger.open(url)
    Ledger.open(url).close()
    assert "HIDE" not in key.read_text()
    assert json.loads(key.read_text())["ledgers"][where.name] == own


@pytest.mark.parametrize("where", ["server", "file"])
def test_only_the_program_that_made_a_ledger_says_so(
    where: str, url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both looked before it was there."""
    location = url if where == "server" else str(tmp_path / "l.db")
    monkeypatch.setenv("EPSILON_LAB_LEDGER", location)
    assert main(["init"]) == 0
    assert "There is a new ledger" in capsys.readouterr().out
    monkeypatch.setattr(Where, "check", lambda *_: None)
    monkeypatch.setattr(Where, "check_tables", lambda *_: None)
    assert main(["init"]) == 1
    shown = capsys.readouterr()
    assert "There is a ledger at this place already" in shown.err
    assert "new ledger" not in shown.out
