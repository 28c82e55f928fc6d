"""All sessions together hold no more than the server gives them; who has left makes room."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from weakref import WeakKeyDictionary

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import all_held, machine_memory
from dashboard.data import decisions, task
from dashboard.data.reading_threads import Piece, ReadingThreads
from dashboard.data.task import Task
from dpcore.datasets import Column, Schema, Template, read_csv, saved
from dpcore.errors import UnreadableFile
from tests.dashboard import conftest as dashboard
from tests.dashboard.test_data_page import declare, drop, held, press

ledger_file, one_visitor, open_app = dashboard.ledger_file, dashboard.one_visitor, dashboard.open_app
workers = dashboard.workers

FILE = b"name,n\n" + b"".join(b"%032d,%d\n" % (number, number) for number in range(12_000))
HERE, THERE, ELSEWHERE = "10.0.0.1", "10.0.0.2", "10.0.0.3"


@pytest.fixture(autouse=True)
def nothing_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_held, "_live", WeakKeyDictionary())
    monkeypatch.setattr(all_held, "LITTLE_EACH", 0)


def room(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_held, "most", lambda: most)


@pytest.fixture
def busy(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """The threads that read files have other work, until this is set."""
    free, readers = threading.Event(), ReadingThreads(1)
    monkeypatch.setattr(task, "threads", lambda: readers)
    readers.submit(Piece(free.wait, ""))
    yield free
    free.set()
    readers.close()


def let_go_as_it_was(waiting: all_held.Waiting) -> None:
    with all_held._lock:
        all_held._live.pop(waiting, None)


@pytest.mark.parametrize("let_go", [all_held.let_go, let_go_as_it_was], ids=["without a lock", "as it was"])
def test_what_is_collected_while_somebody_counts_stops_nobody(
    let_go: Callable[[all_held.Waiting], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The collector runs at any moment, also in the thread that counts: it waited for itself, and everybody for it."""
    monkeypatch.setattr(all_held, "_lock", threading.Lock())
    first, second, third = (all_held.waiting(400, HERE) for _ in range(3))

    def most() -> int:  # asked in the midst of counting
        let_go(first)
        return 10_000

    monkeypatch.setattr(all_held, "most", most)
    counted = threading.Thread(target=lambda: all_held.again(1, HERE, third), daemon=True)
    counted.start()
    counted.join(20.0 if let_go is all_held.let_go else 1.0)
    assert counted.is_alive() == (let_go is let_go_as_it_was)
    if not counted.is_alive():
        assert all_held.held() == 400, "the second, since nobody has the other two"
        del second


def test_many_sessions_are_refused_where_one_is_not_and_leaving_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = read_csv(FILE)
    each = reading.size + len(FILE)
    assert each > 1 << 20
    room(each + (1 << 20), monkeypatch)
    here = [all_held.note(reading, HERE, FILE)]
    del reading
    with pytest.raises(UnreadableFile, match="Everybody's files together"):
        all_held.note(read_csv(FILE), THERE, FILE)
    with pytest.raises(UnreadableFile, match="try again when others have left"):
        all_held.waiting((1 << 20) + 1, THERE)
    here.clear()
    gc.collect()
    assert all_held.held() == 0
    all_held.note(read_csv(FILE), THERE, FILE)


def test_one_address_has_a_share_and_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five pages from one address, each below its own bound, once kept everybody else's files out."""
    room(1000, monkeypatch)
    kept = [all_held.waiting(400, HERE), all_held.waiting(400, HERE)]
    with pytest.raises(UnreadableFile, match="from your address"):
        all_held.waiting(1, HERE)
    kept.append(all_held.waiting(200, THERE))
    assert (all_held.held(HERE), all_held.held()) == (800, 1000)
    all_held.let_go(kept[0])
    all_held.waiting(400, HERE)


def test_a_little_of_each_address_is_taken_whatever_others_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two that work together had all of it, and closed even the samples' simulations for everybody."""
    room(1000, monkeypatch)
    monkeypatch.setattr(all_held, "LITTLE_EACH", 50)
    kept = [all_held.waiting(800, HERE), all_held.waiting(200, THERE)]
    kept.append(all_held.waiting(50, ELSEWHERE))
    for whose in (HERE, THERE, ELSEWHERE):
        with pytest.raises(UnreadableFile):
            all_held.waiting(1, whose)


def test_what_waits_for_its_turn_counts_and_is_let_go_when_it_is_cancelled(
    busy: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten files of one session once waited for a reader, uncounted, each held by the work that nobody wanted."""
    room(1000, monkeypatch)

    def brought(size: int, whose: str) -> Task:
        counted = all_held.waiting(size, whose)
        return Task(lambda say: all_held.let_go(counted), "Reading the file")

    first, second = brought(300, HERE), brought(400, THERE)
    with pytest.raises(UnreadableFile, match="Everybody's files together"):
        all_held.waiting(301, "10.0.0.3")
    first.cancel()
    assert first.finished
    assert first.problem == "", "what was cancelled has nothing to say"
    assert all_held.held() == 400
    first.cancel()
    busy.set()
    assert second.wait(60)
    assert all_held.held() == 0
    second.cancel()
    assert second.problem is None, "what is done stays done"


def test_a_page_s_file_counts_from_when_it_is_taken_over(
    open_app: Callable[..., AppTest], busy: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboard.data.actions.PATIENCE", 0.0)
    app = open_app("data")
    for number in range(2):
        app.file_uploader[0].upload(f"{number}.csv", FILE).run()
        assert all_held.held() == len(FILE)
        app.button(key=next(str(one.key) for one in app.button if str(one.key).startswith("cancel-"))).click().run()
        app.run()  # Streamlit holds what was in a slot until the next one
        assert all_held.held() == 0, "and no more when it was cancelled"


def test_a_file_too_many_for_all_is_a_sentence_on_the_page(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app("data")
    room(len(FILE) - 1, monkeypatch)
    app = drop(app, FILE)
    assert app.warning[0].value.startswith("Everybody's files together")
    assert all_held.held() == 0, "what found no room is not held"
    room(2 * len(FILE), monkeypatch)
    app = drop(app, FILE)
    assert app.error[0].value.startswith("Everybody's files together"), "with the table that it was read as"
    assert "_own_file" not in app.session_state
    room(4 << 30, monkeypatch)
    assert held(drop(app, FILE.replace(b"name", b"word"))).reading is not None


def grouped(folder: Path, own: str, limits: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> int:
    """How much memory there is for a process of these groups, where these files say so."""
    for name, text in limits.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "own").write_text(own)
    monkeypatch.setattr(machine_memory, "_OWN", folder / "own")
    monkeypatch.setattr(machine_memory, "_GROUPS", folder)
    machine_memory.given.cache_clear()
    try:
        return machine_memory.given()
    finally:
        machine_memory.given.cache_clear()


MB = 1 << 20


@pytest.mark.parametrize(
    ("own", "limits", "found"),
    [
        ("0::/\n", {"memory.max": f"{MB}\n"}, MB),  # a container
        ("", {"memory.max": f"{MB}\n"}, MB),
        ("0::/lab.slice/lab.service\n", {"lab.slice/lab.service/memory.max": f"{MB}\n"}, MB),  # systemd
        (
            "0::/a/b\n",
            {"a/b/memory.max": "max\n", "a/memory.max": f"{MB}\n", "memory.max": f"{2 * MB}\n", "c/memory.max": "1\n"},
            MB,
        ),
        ("0::/a\n", {"a/memory.max": f"{2 * MB}\n", "memory.max": f"{MB}\n"}, MB),
        ("0::/../../a:b\n", {"a:b/memory.max": f"{MB}\n"}, MB),
        ("4:cpu:/x\n3:blkio,memory:/a\n0::/\n", {"memory/a/memory.limit_in_bytes": f"{MB}\n", "x/memory.max": "1"}, MB),
        ("3:memory:/docker/1\n", {"memory/memory.limit_in_bytes": f"{MB}\n"}, MB),  # what a container is shown
        ("0::/a\n", {"a/memory.max": "max\n"}, None),
        ("nonsense\n\n::\n", {}, None),
    ],
)
def test_what_there_is_follows_from_every_group_that_the_process_is_in(
    own: str, limits: dict[str, str], found: int | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told = grouped(tmp_path, own, limits, monkeypatch)
    assert told == found if found else told > 100 * MB


def test_all_hold_a_share_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EPSILON_LAB_MEMORY_ALL", raising=False)
    monkeypatch.setattr(machine_memory, "given", lambda: 10_000 << 20)
    assert all_held.most() == int(0.45 * (10_000 - 1152)) << 20
    monkeypatch.setattr(machine_memory, "given", lambda: 1000 << 20)
    assert all_held.most() == 250 << 20, "a quarter at least"
    monkeypatch.setenv("EPSILON_LAB_MEMORY_ALL", "7")
    assert all_held.most() == 7 << 20


@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize("most", [1 << 30, 100])
def test_rows_of_a_twin_count_for_as_long_as_they_are_there(
    most: int, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app("data")
    app.segmented_control(key="from").set_value("described").run()
    place = next(at for at, one in enumerate(app.file_uploader) if str(one.key).startswith("own-declaration"))
    schema = Schema(columns=(Column(name="smokes", type="yes/no"),))
    drop(app, saved(Template(schema=schema)).encode(), name="declaration.json", place=place)
    room(most, monkeypatch)
    press(app, "own-twin-open")
    press(app, "own-twin-go")
    if most == 100:
        assert all_held.held() == 0
        assert "Everybody's files together" in dashboard.text(app)
        return
    assert all_held.held() > 1000
    press(press(app, "own-remove"), "own-forget")
    gc.collect()
    assert all_held.held() == 0


def described(app: AppTest) -> AppTest:
    """A table of two columns of options, without any file."""
    app.segmented_control(key="from").set_value("described").run()
    for number, name in enumerate("cd"):
        app.text_input(key=f"own-new-name-{number}").set_value(name)
        press(app, "own-describe-go")
    return app


def words_of(length: int, number: int) -> str:
    """Many options in so many letters."""
    return "\n".join(f"{number}{word:05}" for word in range(length // 7))


def test_what_is_declared_counts_with_what_could_be_brought_back(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fifty lists of 50,000 options could be brought back in each session: seven pages of one address took 1 GB."""
    app = described(open_app("data"))
    assert all_held.held() == 0, "little does not count"
    for number in range(1, 9):
        declare(app, "c", categories=words_of(100_000, number))
    own = held(app)
    assert own.schema.column("c").categories[0] == "800000"
    now = decisions.declared_weight([own.schema])
    assert now > 1 << 20
    assert all_held.held() == decisions.declared_weight([own.schema, *(one.schema for one in own.earlier)])
    assert now < all_held.held() <= now + max(decisions.MOST_EARLIER, now)
    before = all_held.held()
    press(app, "own-undo")
    assert held(app).schema.column("c").categories[0] == "700000"
    assert all_held.held() <= before

    room(before + (1 << 20), monkeypatch)
    declare(app, "c", categories=words_of(200_000, 9))
    assert app.warning[0].value.startswith("What you declared last was not taken")
    assert held(app).schema.column("c").categories[0] == "700000", "and nothing is lost"
    assert all_held.held() <= before
    press(declare(app, "c", categories="a\nb"), "own-undo")
    assert held(app).schema.column("c").categories[0] == "700000"


def test_what_is_declared_counts_in_its_session(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPSILON_LAB_MEMORY", "3")
    app = described(open_app("data"))
    declare(app, "c", categories=words_of(70_000, 1))
    assert not app.warning
    declare(app, "c", categories=words_of(120_000, 2))
    assert "What you declared last was not taken" in app.warning[0].value
    assert held(app).schema.column("c").categories[0] == "100000"


def test_what_was_brought_to_know_later_tables_by_counts(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = tuple(words_of(70_000, 1).split())
    known = Template(schema=Schema(columns=(Column(name="c", type="category", categories=options),)))
    app = open_app("data")
    app.session_state["_declarations"] = (known,)
    app = drop(app, FILE)
    assert all_held.held() >= 2 * len(FILE) + decisions.declared_weight([known.schema])


def test_a_declaration_that_is_brought_without_room_leaves_what_is_there(
    open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = described(open_app("data"))
    options = tuple(words_of(70_000, 1).split())
    known = Template(schema=Schema(columns=(Column(name="c", type="category", categories=options),)))
    room(1 << 20, monkeypatch)
    app = drop(app, saved(known).encode(), name="known.json", place=next(bringing(app)))
    assert app.warning[0].value.startswith("What you declared last was not taken")
    assert held(app).schema.names == ("c", "d")
    assert all_held.held() == 0
    room(8 << 20, monkeypatch)
    app = drop(app, saved(known).encode(), name="known.json", place=next(bringing(app)))
    assert held(app).schema.column("c").categories == options
    assert all_held.held() >= decisions.declared_weight([known.schema])


def bringing(app: AppTest) -> Iterator[int]:
    """Where a declaration is brought, among the places for files."""
    return (place for place, one in enumerate(app.file_uploader) if "own-declaration" in str(one.key))
