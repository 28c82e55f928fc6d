"""What the gate lets through to Streamlit's server and what not, message by message, and once on a server."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gc
import logging
import math
import socket
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import websockets
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.websockets import WebSocketDisconnect, WebSocketDisconnected
from streamlit import config
from streamlit.elements.widgets.text_widgets import TextAreaSerde
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import SessionState
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from streamlit.web.server.starlette.starlette_websocket import StarletteSessionClient

from benchmarks.people import Person
from dashboard import machine_memory
from dashboard.background import speed, turns
from dashboard.people import wanted
from dashboard.runtime import scripts
from dashboard.serving import frames, line, messages, open_files, pace, settings, typed, uploads, wire
from dashboard.serving.gate import Gate
from dpcore.datasets.reading.bounds import MOST_COLUMNS
from tests.browser.server import running
from tests.put_back import changed_in_streamlit
from tests.serving.leaping import Leaping

HOST = (b"host", b"127.0.0.1:8501")
BETWEEN = b"0123456789abcdef0123456789abcdef"
FORM = (b"content-type", b"multipart/form-data; boundary=" + BETWEEN)
REFUSED = {"clear_cache", "set_run_on_save", "load_git_info", "app_heartbeat"}
REFUSED |= {"debug_disconnect_websocket", "debug_shutdown_runtime"}


class Inner:
    """Stands for Streamlit's server: notes what reaches it, and answers 200."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.messages: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.requests.append(scope["path"])
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        while True:
            message = await receive()
            self.messages.append(message)
            if message["type"] == "websocket.disconnect":
                return


pytestmark = pytest.mark.usefixtures("names")


def asked(
    path: str, *headers: tuple[bytes, bytes], method: str = "GET", scheme: str = "http", **options: Any
) -> tuple[int, dict[bytes, bytes], Inner]:
    inner, sent = Inner(), []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    scope = {"type": "http", "path": path, "method": method, "headers": list(headers), "scheme": scheme}
    asyncio.run(Gate(inner, **options)(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), inner


def connected(
    messages: list[Any], *headers: tuple[bytes, bytes], scheme: str = "ws", **options: Any
) -> tuple[list[Any], Inner]:
    """What is sent back on one connection on which these messages come in, and what reaches the server."""
    inner, sent, waiting = Inner(), [], [*messages, {"type": "websocket.disconnect", "code": 1000}]

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return waiting.pop(0)

    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": list(headers), "scheme": scheme}
    asyncio.run(Gate(inner, **options)(scope, receive, send))
    return sent, inner


def binary(message: BackMsg) -> dict[str, Any]:
    return {"type": "websocket.receive", "bytes": message.SerializeToString(), "text": None}


def test_only_under_its_own_names() -> None:
    assert asked("/", HOST)[0] == 200
    for host in (b"evil.example", b"127.0.0.1.evil.example:8501", b"127.0.0.1@evil.example"):
        status, _, inner = asked("/", (b"host", host))
        assert status == 421
        assert not inner.requests
    assert asked("/")[0] == 421, "without a name"


def test_no_page_elsewhere_may_frame_it_and_it_fetches_nothing_from_elsewhere() -> None:
    _, headers, _ = asked("/", HOST)
    rules = dict(rule.split(" ", 1) for rule in headers[b"content-security-policy"].decode().split("; "))
    assert rules["frame-ancestors"] == "'self'"
    assert rules["default-src"] == "'self'"
    own = {"'self'", "'none'", "'unsafe-inline'", "'unsafe-eval'", "data:", "blob:"}
    assert {word for allowed in rules.values() for word in allowed.split()} <= own
    assert headers[b"x-frame-options"] == b"SAMEORIGIN"
    assert headers[b"x-content-type-options"] == b"nosniff"


def test_counts_of_the_server_are_for_who_knows_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EPSILON_LAB_METRICS", raising=False)
    assert asked("/_stcore/metrics", HOST, (b"authorization", b"Bearer "))[0] == 404
    monkeypatch.setenv("EPSILON_LAB_METRICS", "a long token")
    assert asked("/_stcore/metrics", HOST)[0] == 404
    assert asked("/_stcore/metrics", HOST, (b"authorization", b"Bearer another"))[0] == 404
    assert asked("/_stcore/metrics", HOST, (b"authorization", b"Bearer a long token"))[0] == 200


def test_a_page_of_another_server_on_this_computer_is_refused() -> None:
    """Streamlit takes any port of this computer for its own page; ours is the one that was asked for."""
    for origin in (
        b"http://localhost:9999",
        b"http://127.0.0.1:3000",
        b"https://evil.example",
        b"null",
        b"http://[",
        b"//]",
    ):
        sent, inner = connected([], HOST, (b"origin", origin))
        assert sent == [{"type": "websocket.close", "code": 1008}], origin
        assert not inner.messages
    sent, inner = connected([], HOST, (b"origin", b"http://127.0.0.1:8501"))
    assert not sent
    assert len(inner.messages) == 1


def of(*origins: bytes) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((b"origin", one) for one in origins)


OWN, OWN_TLS = b"http://127.0.0.1:8501", b"https://127.0.0.1:8501"


@pytest.mark.parametrize(
    ("scheme", "origins", "own"),
    [
        ("wss", of(OWN_TLS), True),
        ("wss", of(OWN), False),  # whoever writes into an answer of plain HTTP
        ("ws", of(OWN), True),
        ("ws", of(OWN_TLS), True),  # a proxy that takes TLS off, and does not say so
        *((scheme, of(other + b"://127.0.0.1:8501"), False) for scheme in ("ws", "wss") for other in (b"ftp", b"wss")),
        ("wss", of(b"javascript://127.0.0.1:8501"), False),
        ("wss", of(b"//127.0.0.1:8501"), False),
        ("wss", of(b"127.0.0.1:8501"), False),
        ("wss", of(b"https://127.0.0.1"), False),
        ("wss", of(b"https://127.0.0.1:443"), False),
        ("wss", of(OWN_TLS, b"https://evil.example"), False),
        ("wss", of(b"https://evil.example", OWN_TLS), False),
        ("wss", of(OWN_TLS, OWN_TLS), False),
        ("wss", of(b""), False),
        ("wss", (), True),  # no browser
    ],
)
def test_a_page_is_own_by_its_scheme_its_name_and_its_port(
    scheme: str, origins: tuple[tuple[bytes, bytes], ...], *, own: bool
) -> None:
    sent, inner = connected([], HOST, *origins, scheme=scheme)
    assert sent == ([] if own else [{"type": "websocket.close", "code": 1008}])
    assert len(inner.messages) == own


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("referer", [b"http", b"https"])
def test_a_page_of_plain_http_leads_to_no_login_over_tls(scheme: str, referer: bytes) -> None:
    """Where a browser says no more than which page it comes from."""
    headers = ((b"accept", b"text/html"), (b"referer", referer + b"://127.0.0.1:8501/budget"))
    for path in ("/auth/login", "/auth/logout"):
        assert asked(path, HOST, *headers, scheme=scheme)[0] == (
            403 if (scheme, referer) == ("https", b"http") else 200
        )


def test_every_kind_of_message_is_let_through_or_refused_knowingly() -> None:
    """Where this fails, Streamlit has a new kind: let it through where pages need it (``messages.SENT``)."""
    kinds = {field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields}
    assert kinds - messages.SENT == REFUSED
    request = BackMsg.DESCRIPTOR.fields_by_name["backend_operation_request"].message_type
    operations = {field.name for field in request.oneofs_by_name["payload"].fields}
    assert operations - messages.OPERATIONS == {"install_skills", "dismiss_skills_nudge"}
    for operation in operations:
        asked = BackMsg()
        getattr(asked.backend_operation_request, operation).SetInParent()
        told, inner = connected([binary(asked)], HOST)
        assert (not told) == (inner.messages[0]["type"] == "websocket.receive") == (operation in messages.OPERATIONS)
    assert connected([binary(BackMsg(backend_operation_request={"request_id": "1"}))], HOST)[0], "nor one of none"


@pytest.mark.parametrize("kind", sorted(REFUSED))
def test_what_all_visitors_share_is_not_one_visitor_s_to_drop(kind: str) -> None:
    """Whoever asks for it is let go: a message that was only left out could be sent again and again, at no cost."""
    rerun = BackMsg()
    rerun.rerun_script.query_string = "page=1"
    asked = BackMsg(**{kind: True})
    # 3,000 bytes in a field that nobody knows, so that it is no small message
    padded = asked.SerializeToString() + b"\xc2\x3e\xb8\x17" + bytes(3000)
    assert BackMsg.FromString(padded).WhichOneof("type") == kind
    for data in (asked.SerializeToString(), padded):
        told, inner = connected([binary(rerun), {"type": "websocket.receive", "bytes": data}, binary(rerun)], HOST)
        assert told == [{"type": "websocket.close", "code": 1008}]
        assert [message.get("bytes") for message in inner.messages] == [rerun.SerializeToString(), None]


def test_a_page_asks_for_few_addresses_of_files_and_by_short_names() -> None:
    """An address is hundreds of bytes, and was made for each of fifty thousand names of none."""
    few, many, long, longer = BackMsg(), BackMsg(), BackMsg(), BackMsg()
    few.file_urls_request.file_names.extend(["𐍈" * 255] * uploads.FILES_EACH)
    many.file_urls_request.file_names.extend([""] * (uploads.FILES_EACH + 1))
    long.file_urls_request.file_names.append("x" * 5000)
    longer.backend_operation_request.deferred_file.file_id = "1"
    longer.backend_operation_request.request_id = "x" * 5000  # the answer says it again
    told, inner = connected([binary(few)], HOST)
    assert not told
    assert inner.messages[0] == binary(few)
    for asked, code in ((many, 1008), (long, 1009), (longer, 1009)):
        told, inner = connected([binary(asked)], HOST)
        assert told == [{"type": "websocket.close", "code": code}]
        assert [message["type"] for message in inner.messages] == ["websocket.disconnect"]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Of the gate; it stands still but for what is waited. Runs are of usual length, whatever ran here before."""
    now = [0.0]

    async def sleep(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(pace, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(pace, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(line, "sleep", sleep)
    monkeypatch.setattr(speed, "seconds", lambda: speed.USUAL)
    return now


def sent_by(here: Gate, waiting: list[Any], address: str = "10.0.0.1") -> list[Any]:
    """What reaches the server of these messages of one page."""
    inner, waiting = Inner(), [*waiting, {"type": "websocket.disconnect", "code": 1000}]
    here._app = inner

    async def receive() -> Any:
        return waiting.pop(0)

    async def send(_: Any) -> None:
        return

    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [HOST], "client": (address, 1)}
    asyncio.run(here(scope, receive, send))
    return inner.messages[:-1]


def test_what_one_page_sends_and_all_pages_of_one_address_is_taken_at_a_pace(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work is counted."""
    monkeypatch.setattr(messages, "WORK", 100.0)
    monkeypatch.setattr(messages, "WORK_EACH", 1000.0)
    monkeypatch.setattr(messages, "RUNS", math.inf)
    monkeypatch.setattr(messages, "RUNS_EACH", math.inf)
    rerun = BackMsg()
    for number in range(20):
        rerun.rerun_script.widget_states.widgets.add(id=f"{number}", double_value=1.0)
    work = messages.PARTS_A_MESSAGE + 2 + 3 * 20 + rerun.ByteSize() // messages.BYTES_A_PART
    at_once = int(messages.WORK * messages.AHEAD) // work
    here = Gate(Inner())

    def sent(times: int, address: str = "10.0.0.1") -> float:
        """Seconds that so many messages of one connection have to wait."""
        began = clock[0]
        assert len(sent_by(here, [binary(rerun)] * times, address)) == times
        return clock[0] - began

    assert sent(at_once) == 0.0, "a person who clicks fast"
    assert set(here._paces) == {"10.0.0.1"}, "the next page does not begin anew"
    assert sent(10 * at_once) == pytest.approx((10 * at_once * work) / messages.WORK - messages.AHEAD)
    clock[0] += 1000.0
    assert sent(0, "10.0.0.2") == 0.0
    assert not here._paces, "who has left, and sent nothing for a while, is forgotten"
    waits = [sent(at_once) for _ in range(20)]  # of pages that are opened one after the other
    assert waits[0] == 0.0
    assert sum(waits) == pytest.approx((20 * at_once * work) / messages.WORK_EACH - messages.AHEAD)


@pytest.mark.parametrize("kind", ["of a message", "of one that is too large", "of none"])
def test_frames_that_came_for_a_message_or_for_none_count_as_well(kind: str, clock: list[float]) -> None:
    """Also where the page is closed, and the next of the same address is opened: there they have to wait."""
    frames, pages, too_large = 900, 100, bytes(messages.MESSAGE_BYTES + 1)
    message = {
        "of a message": {**binary(BackMsg(stop_script=True)), "frames": frames},
        "of one that is too large": {"type": "websocket.receive", "bytes": too_large, "frames": frames},
        "of none": {"type": "websocket.disconnect", "code": 1000, "frames": frames},
    }[kind]
    here = Gate(Inner())
    for _ in range(pages):
        sent_by(here, [message])
    least = (pages - 1) * frames * messages.PARTS_A_FRAME / messages.WORK_EACH - messages.AHEAD
    assert least > 5.0
    assert clock[0] >= least


DIGEST = calc_hash("a part")


def run_of(part: str = "", *, by_itself: bool = False) -> dict[str, Any]:
    asked = BackMsg()
    asked.rerun_script.fragment_id, asked.rerun_script.is_auto_rerun = part, by_itself
    asked.rerun_script.query_string = "epsilon=1"
    return binary(asked)


def test_a_page_asks_for_no_more_runs_than_a_person_and_an_address_for_no_more_than_a_server_bears(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four pages that asked for 120 a second each once kept everybody else's waiting for as long as they went on."""
    here, page, each = Gate(Inner()), int(messages.RUNS * messages.AHEAD), int(messages.RUNS_EACH * messages.AHEAD)
    sent_by(here, [run_of()] * page)
    assert clock[0] == 0.0, "a person who clicks fast"
    clock[0] += 1000.0
    sent_by(here, [run_of()] * 10 * page)
    assert clock[0] == pytest.approx(1000.0 + 9 * page / messages.RUNS)
    clock[0] = 10_000.0
    for _ in range(20):
        sent_by(here, [run_of()] * page)
    assert clock[0] == pytest.approx(10_000.0 + (20 * page - each) / messages.RUNS_EACH)
    clock[0] = 15_000.0
    monkeypatch.setattr(speed, "seconds", lambda: speed.USUAL / 2)  # a computer that is twice as fast
    for _ in range(20):
        sent_by(here, [run_of()] * page)
    assert clock[0] == pytest.approx(15_000.0 + (10 * page - each) / messages.RUNS_EACH)
    monkeypatch.setattr(speed, "seconds", lambda: speed.USUAL)
    clock[0] = 20_000.0
    parts = int(page / messages.A_PART)
    sent_by(here, [run_of(DIGEST)] * parts)
    assert clock[0] == pytest.approx(20_000.0), "a part is less than all"
    sent_by(here, [run_of(DIGEST)] * 10 * parts)
    assert clock[0] >= 20_000.0 + 9 * parts * messages.A_PART / messages.RUNS - 0.1
    clock[0] = 30_000.0
    monkeypatch.setattr(messages, "RUNS", math.inf)
    sent_by(Gate(Inner()), [run_of()] * each)
    assert clock[0] == 30_000.0, "what shows that this test can fail: their bytes alone are nothing to wait for"


def test_costly_runs_of_an_address_are_as_many_fewer_and_count_for_nobody_else(clock: list[float]) -> None:
    """A run of twenty usual ones counted as three of them at most, and raised what all others' runs counted."""
    here, page = Gate(Inner()), int(messages.RUNS * messages.AHEAD)
    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [HOST], "client": ("10.0.0.1", 1)}

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(100):
            scope[scripts.VISITOR].took(20 * turns.USUAL)  # as its scripts do; an address begins with one page
        await Inner()(scope, receive, send)

    async def receive() -> Any:
        return waiting.pop(0)

    async def send(_: Any) -> None:
        return

    here._app, waiting = inner, [run_of() for _ in range(page)] + [{"type": "websocket.disconnect", "code": 1000}]
    asyncio.run(here(scope, receive, send))
    assert clock[0] == pytest.approx(20 * page / messages.RUNS_EACH - messages.AHEAD)
    clock[0] = 1000.0
    sent_by(here, [run_of()] * page, "10.0.0.2")
    assert clock[0] == pytest.approx(1000.0)


def test_parts_that_ask_by_themselves_are_left_out_where_they_are_too_many(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thousand phones that look every two seconds: none falls behind, and who clicks beside them hardly waits."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(pace, "asyncio", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(line, "sleep", sleep)
    here, look, seen = Gate(Inner()), run_of(DIGEST, by_itself=True), 0
    for _ in range(50):
        seen += len(sent_by(here, [look] * 100))
        clock[0] += 0.2
    assert seen == pytest.approx((clock[0] + messages.AHEAD) * messages.RUNS_EACH / messages.A_PART, rel=0.05)
    asked = [run_of(), run_of(DIGEST), run_of(by_itself=True)]
    assert sent_by(here, asked) == asked, "what a person asks for is never left out, nor a whole page"
    assert max(waits) <= 3.0 / messages.RUNS_EACH


def nested(data: bytes, *path: str) -> bytes:
    """``data`` as what the last field of ``path`` holds, field in field from a message of a page on."""
    kinds = [BackMsg.DESCRIPTOR]
    for name in path:
        kinds.append(kinds[-1].fields_by_name[name].message_type)
    for kind, name in reversed(list(zip(kinds, path, strict=False))):
        data = wire_bytes(kind.fields_by_name[name].number << 3 | 2) + wire_bytes(len(data)) + data
    return data


def wire_bytes(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + wire_bytes(number >> 7)


MANY = 300_000
HASHES = BackMsg().rerun_script.DESCRIPTOR.fields_by_name["cached_message_hashes"].number
UNKNOWN = b"\xc2\x3e" + wire_bytes(MANY) + bytes(MANY)
GROUP, EIGHTS = b"\xa3\x06\xa4\x06", b"\xa1\x06" + bytes(8)  # of a field that nobody knows
IN_STATES = ("rerun_script", "widget_states")


@pytest.mark.parametrize(
    "data",
    [
        nested(b"\x0a\x00" * MANY, *IN_STATES),  # widgets
        nested((wire_bytes(HASHES << 3 | 2) + b"\x00") * MANY, "rerun_script"),
        nested(
            wire_bytes(WidgetState.DESCRIPTOR.fields_by_name["string_array_value"].number << 3 | 2)
            + wire_bytes(2 * MANY)
            + b"\x0a\x00" * MANY,
            *IN_STATES,
            "widgets",
        ),
        nested(b"", *IN_STATES) * MANY,
        b"\xc2\x3e\x00" * MANY,  # a field that nobody knows
        BackMsg(clear_cache=True).SerializeToString() * MANY,
        b"\x08" * MANY,
        nested(b"\x0a" + wire_bytes(MANY) + b"\x01" * MANY, *IN_STATES, "widgets", "int_array_value"),
        nested(b"\x0a" + wire_bytes(8 * MANY) + bytes(8 * MANY), *IN_STATES, "widgets", "double_array_value"),
        EIGHTS * MANY,
        b"x" * (messages.MESSAGE_BYTES + 1),
        *(
            nested(group + b"\x0a\x00" * MANY, *IN_STATES[:depth]) + b"\x0a\x00" * MANY
            for group in (GROUP, b"\xa3\x06\x0b\x0c\xa4\x06", EIGHTS + GROUP)
            for depth in range(3)
        ),
    ],
)
def test_a_message_that_grows_in_memory_is_refused_before_it_is_read(
    data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "_asked", lambda _: pytest.fail("it was read"))
    told, inner = connected([{"type": "websocket.receive", "bytes": data}], HOST)
    assert told == [{"type": "websocket.close", "code": 1009}]
    assert [message["type"] for message in inner.messages] == ["websocket.disconnect"]


def test_who_reads_a_message_goes_on_behind_a_group() -> None:
    """What shows that one is to be refused: to stop counting there lets all else through."""
    data = nested(GROUP + b"\x0a\x00" * MANY, *IN_STATES)
    assert len(BackMsg.FromString(data).rerun_script.widget_states.widgets) == MANY
    assert wire.parts(messages.MESSAGE_PARTS, data, BackMsg.DESCRIPTOR) is None
    assert wire.parts(messages.MESSAGE_PARTS, nested(b"\x0a\x00" * 9, *IN_STATES), BackMsg.DESCRIPTOR) == 2 + 9


class Session:
    """As Streamlit has it."""

    def __init__(self, name: str = "") -> None:
        self.id, self.session_state = name, SessionState()


def drawn(box: int, *several: str) -> Session:
    """A session whose page has a box for so many characters, and several lists of all columns."""
    session, typing = Session(), TextAreaSerde("", box)
    lists: Any = lambda said: said  # noqa: E731
    columns = [f"column {each}" for each in range(MOST_COLUMNS)]
    state = session.session_state
    state._new_widget_state.set_widget_metadata(
        WidgetMetadata("pasted", typing.deserialize, typing.serialize, "string_value")
    )
    for name in several:
        found = WidgetMetadata(name, lists, lists, "string_array_value", formatted_options=columns)
        state._new_widget_state.set_widget_metadata(found)
    return session


def test_what_a_page_may_send_at_most_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as much as the fullest page with the widest table that there may be."""
    monkeypatch.setattr(messages, "_session", lambda _: drawn(2_000_000, "columns", "pairs"))
    rerun = BackMsg()
    states = rerun.rerun_script.widget_states
    states.widgets.add(id="pasted", string_value="𐍈" * 2_000_000)
    for number in range(200):
        states.widgets.add(id=f"number-{number}").double_array_value.data.extend([1.5] * 2)
    for chosen in ("columns", "pairs"):
        states.widgets.add(id=chosen).string_array_value.data.extend(f"column {each}" for each in range(MOST_COLUMNS))
    rerun.rerun_script.cached_message_hashes.extend(f"{number:064}" for number in range(500))
    told, inner = connected([binary(rerun)], HOST)
    assert not told
    assert inner.messages[0]["bytes"] == rerun.SerializeToString()


def test_what_stands_on_no_page_does_not_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit holds what arrives until its page sends the next message: nine megabytes, box or not."""
    rerun = BackMsg()
    rerun.rerun_script.query_string = "page=1"
    rerun.rerun_script.widget_states.widgets.add(id="few", string_value="ε")
    few = rerun.SerializeToString()
    rerun.rerun_script.widget_states.widgets.add(id="pasted", string_value="𐍈" * 2_000_000)
    for most, arrives in ((2_000_000, rerun.SerializeToString()), (1_999_999, few)):
        monkeypatch.setattr(messages, "_session", lambda _, most=most: drawn(most))
        told, inner = connected([binary(rerun)], HOST)
        assert not told
        assert inner.messages[0]["bytes"] == arrives
    monkeypatch.undo()
    assert connected([binary(rerun)], HOST)[1].messages[0]["bytes"] == few, "what nobody has drawn yet"


def test_a_connection_finds_its_own_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a mark that its scope carries, copies of it too; one that has none holds nothing."""
    scopes: list[dict[str, Any]] = [{messages.PAGE: object()} for _ in range(2)]
    open_pages, sessions = [], [Session("a"), Session("b")]
    for scope, session in zip(scopes, sessions, strict=True):
        client = StarletteSessionClient.__new__(StarletteSessionClient)
        client._websocket = SimpleNamespace(scope={**scope, "path": "/"})  # type: ignore[assignment]
        open_pages.append(SimpleNamespace(client=client, session=session))
    manager = SimpleNamespace(list_active_sessions=lambda: open_pages)
    here = SimpleNamespace(exists=lambda: True, get_instance=lambda: SimpleNamespace(_session_mgr=manager))
    monkeypatch.setattr(messages, "runtime", here)
    for scope, session in zip(scopes, sessions, strict=True):
        assert messages._session(scope) is session
    other = messages._session({messages.PAGE: object()})
    assert all(other is not session for session in sessions)
    open_pages.clear()
    assert messages._session(scopes[0]) is sessions[0], "it is looked for once"
    del session, sessions[:]
    gc.collect()
    assert not messages._session(scopes[0]).id, "and not held"


def test_little_by_little_as_much_cannot_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of small messages nothing is asked; but of one where several came."""
    session = drawn(2_000_000)
    monkeypatch.setattr(messages, "_session", lambda _: session)
    looked: list[int] = []
    monkeypatch.setattr(typed, "fitting", lambda asked, *_: looked.append(asked.ByteSize()) or asked)
    small = BackMsg()
    small.rerun_script.widget_states.widgets.add(id="pasted", string_value="x" * 6_000)
    connected([binary(small)] * 9, HOST)
    assert len(looked) == 3, "at first, and then at every 20,000 bytes"
    monkeypatch.setattr(typed.TEXTS, "holds", lambda _: True)
    looked.clear()
    connected([binary(small)] * 9, HOST)
    assert len(looked) == 9, "at each where what is held counts"


@pytest.mark.parametrize(("query", "let"), [("a=" + "x" * 15_998, True), ("a=" + "x" * 15_999, False), ("a=ε", False)])
def test_the_settings_of_an_address_are_as_a_browser_has_them(query: str, let: bool) -> None:
    """A session holds them several times over: four hundred pages of one address took 1.6 GB with long ones."""
    rerun = BackMsg()
    rerun.rerun_script.query_string = query
    told, inner = connected([binary(rerun)], HOST)
    assert told == ([] if let else [{"type": "websocket.close", "code": 1008}])
    assert ("bytes" in inner.messages[0]) == let


@pytest.mark.parametrize("field", ["page_name", "cached_message_hashes"])
def test_only_what_is_typed_is_long(field: str) -> None:
    """An address was kept for as long as its page is open, whatever it said; so was what nobody knows."""
    rerun = BackMsg()
    said = getattr(rerun.rerun_script, field)
    for length, code in ((90_000, []), (messages.BESIDE_BYTES, [1009])):
        text = "x" * length
        said.append(text) if field.endswith("hashes") else setattr(rerun.rerun_script, field, text)
        told, inner = connected([binary(rerun)], HOST)
        assert [one["code"] for one in told] == code
        assert ("bytes" in inner.messages[0]) == (not code)
    told, _ = connected([{"type": "websocket.receive", "bytes": nested(UNKNOWN, *IN_STATES)}], HOST)
    assert told == [{"type": "websocket.close", "code": 1009}]


PARTS = {"": True, DIGEST: True, DIGEST[1:]: False, f"{DIGEST}0": False, f"{DIGEST}\n": False, DIGEST.upper(): False}
PARTS |= {"xFORGED: the disk is full": False, "\u0660" * 32: False}


@pytest.mark.parametrize(("name", "own"), PARTS.items())
def test_the_name_of_a_part_is_a_digest(name: str, own: bool) -> None:
    """As Streamlit makes it, which writes one that it does not know into the log: somebody's words."""
    told, inner = connected([run_of(name)], HOST)
    assert [one["code"] for one in told] == ([] if own else [1008])
    assert ("bytes" in inner.messages[0]) == own


def test_every_part_of_a_page_is_let_through() -> None:
    """Also one that has a key."""

    def page() -> None:
        import streamlit as st
        from streamlit.runtime.scriptrunner import get_script_run_ctx

        for part in (st.fragment, st.fragment(run_every=1.0), st.fragment(key="a key, and words")):
            part(lambda: None)()
        st.dialog("Words")(lambda: None)()
        running: Any = get_script_run_ctx()
        st.text(" ".join(running.fragment_storage._fragments))

    names = AppTest.from_function(page).run().text[0].value.split()
    assert len(names) == 4
    assert all(messages.PART.fullmatch(name) for name in names)


@pytest.mark.parametrize("sent", [{"text": "hello"}, {"bytes": b"\xff" * 200}, {"bytes": b""}])
def test_what_is_no_message_ends_the_connection_without_a_word_in_the_log(sent: dict[str, Any]) -> None:
    """Streamlit writes a traceback about each."""
    told, inner = connected([{"type": "websocket.receive", **sent}, binary(BackMsg(stop_script=True))], HOST)
    assert told == [{"type": "websocket.close", "code": 1003}]
    assert [message["type"] for message in inner.messages] == ["websocket.disconnect"]


def test_a_file_that_is_not_sent_to_its_end_leaves_no_word_in_the_log() -> None:
    async def gone(scope: Any, receive: Any, send: Any) -> None:
        raise ClientDisconnect

    scope = {"type": "http", "path": "/_stcore/upload_file/s/1", "method": "PUT", "headers": [HOST, FORM]}
    asyncio.run(Gate(gone)(scope, None, None))  # type: ignore[arg-type]


class Reading(Inner):
    """Reads the first piece of each file, and the rest when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await receive()
            await self.go.wait()
        except HTTPException as error:  # as Starlette does with what its routes raise
            await send({"type": "http.response.start", "status": error.status_code, "headers": []})
            return
        await super().__call__(scope, receive, send)


async def sent_at_once(files: list[tuple[str, int, int]], **options: Any) -> list[int]:
    """The answers to files that arrive together: for whom, how large they say they are, how much of them came.

    The first letter of a session is the address that it is from.
    """
    inner = Reading()
    here = Gate(inner, **options)

    async def one(session: str, number: int, size: int, came: int) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            return {"type": "http.request", "body": bytes(came), "more_body": True}

        headers = [HOST, FORM] if size < 0 else [HOST, FORM, (b"content-length", str(size).encode())]
        scope = {"type": "http", "path": f"/_stcore/upload_file/{session}/{number}", "method": "PUT"}
        await here({**scope, "headers": headers, "client": (session[0], 1)}, receive, send)
        return int(sent[0]["status"])

    asked = [asyncio.create_task(one(who, number, *sizes)) for number, (who, *sizes) in enumerate(files)]
    await asyncio.sleep(0)
    inner.go.set()
    statuses = list(await asyncio.gather(*asked))
    assert await one(files[0][0], 99, 9, 9) == 200, "what has arrived is no longer under way"
    return statuses


def test_files_that_are_still_arriving_count() -> None:
    """Twelve sent at once all came in, since none lay here when they were looked at."""
    found = asyncio.run(sent_at_once(12 * [("a", 10, 10)] + [("b", 10, 10)]))
    assert found == [200] * uploads.FILES_EACH + [429] * (12 - uploads.FILES_EACH) + [200]


def test_all_files_together_are_bounded_whoever_sends_them() -> None:
    """A session costs nothing, so a bound for each bounds nothing. What counts is what came, not what was said."""
    large = [(f"{number} s", 30, 30) for number in range(5)]
    assert asyncio.run(sent_at_once(large, most_bytes=100)) == [200, 200, 200, 503, 503]
    unsaid = [(f"{number} s", -1, 30) for number in range(5)]
    assert asyncio.run(sent_at_once(unsaid, most_bytes=100)) == [200, 200, 200, 503, 503]
    promised = [("a", 79, 0), ("b", 79, 0), ("c", 30, 30)]
    assert asyncio.run(sent_at_once(promised, most_bytes=100)) == [200, 200, 200], "nobody holds room by a promise"


def test_a_file_is_not_compared_with_all_others_at_each_of_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four hundred that came byte by byte, beside eight hundred that nobody took, kept others waiting for seconds."""
    looked: list[int] = []
    monkeypatch.setattr(uploads.Uploads, "_has_room", lambda here, more, visitor: looked.append(more) is None)
    kept: list[int] = []

    async def whole(scope: Any, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            kept.append(len(message["body"]))
            if not message["more_body"]:
                return

    pieces = [*[b"x"] * 1_000, *[bytes(1 << 15)] * 8, b"x"]
    left = list(pieces)

    async def receive() -> Any:
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(_: Any) -> None:
        return

    scope = {"type": "http", "path": "/_stcore/upload_file/a/1", "method": "PUT", "headers": [HOST, FORM]}
    asyncio.run(Gate(whole, most_bytes=1 << 30)({**scope, "client": ("a", 1)}, receive, send))
    assert kept == [len(piece) for piece in pieces]
    assert len(looked) == 1 + 8 // 2 + 1, "as it begins, at every 64 kB, and as it ends"


def test_one_address_has_a_share_of_the_room_for_files_and_not_all() -> None:
    """Five of its files that never ended once kept everybody else's away for ten minutes, and again after that."""
    files = [*((f"a{number}", 20, 20) for number in range(5)), ("b", 20, 20), ("c", 1, 1)]
    assert asyncio.run(sent_at_once(files, most_bytes=100)) == [200] * 4 + [503, 200, 503]
    unsaid = [(session, -1, came) for session, _, came in files]
    assert asyncio.run(sent_at_once(unsaid, most_bytes=100)) == [200] * 4 + [503, 200, 503]


class Keeping(Inner):
    """Keeps each file as Streamlit does, until a page takes it."""

    def __init__(self) -> None:
        super().__init__()
        self.manager = MemoryUploadedFileManager("/_stcore/upload_file")

    def exists(self) -> bool:
        return True

    def get_instance(self) -> SimpleNamespace:
        return SimpleNamespace(uploaded_file_mgr=self.manager)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        session, name = scope["path"].rsplit("/", 2)[-2:]
        try:
            body = (await receive())["body"]
        except HTTPException as error:
            await send({"type": "http.response.start", "status": error.status_code, "headers": []})
            return
        self.manager.add_file(session, UploadedFileRec(name, "x.csv", "text/csv", body))
        await super().__call__(scope, receive, send)

    def kept(self) -> set[tuple[str, str]]:
        return {(session, name) for session, files in self.manager.file_storage.items() for name in files}


def _sent_file(here: Gate, session: str, name: str, size: int) -> int:
    """The status of a file that a session sends; the first letter of its name is its address."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": bytes(size)}

    headers = [HOST, FORM, (b"content-length", str(size).encode())]
    scope = {"type": "http", "path": f"/_stcore/upload_file/{session}/{name}", "method": "PUT"}
    asyncio.run(here({**scope, "headers": headers, "client": (session[0], 1)}, receive, send))
    return int(sent[0]["status"])


def test_where_the_computer_has_nothing_left_no_file_comes_and_those_that_lie_may_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four of 190 MB that no page takes ended a server that was nearly full, within what it gives to files."""
    inner, clock = Keeping(), [0.0]
    monkeypatch.setattr(uploads, "runtime", inner)
    monkeypatch.setattr(uploads, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    short: list[bool] = [False]
    monkeypatch.setattr(machine_memory, "is_short", lambda: short[0])
    here = Gate(inner, most_bytes=1000)

    put = partial(_sent_file, here)

    assert [put("a", "one", 10), put("b", "other", 40)] == 2 * [200]
    assert [here._holds(visitor) for visitor in "abc"] == [10, 40, 0]
    short[0] = True
    assert put("c", "third", 10) == 503
    here._uploads.let_go()
    assert inner.kept() == {("a", "one"), ("b", "other")}, "a page may be about to take them"
    clock[0] = uploads.LIES + 1.0
    here._uploads.let_go()
    assert inner.kept() == set()
    assert here.full
    short[0] = False
    assert put("c", "third", 10) == 200
    left = [100]
    monkeypatch.setattr(machine_memory, "has_room", lambda size: size <= left[0])
    assert put("d", "large", 60) == 200
    assert put("e", "another", 60) == 503, "the one before is just being taken into memory"
    clock[0] += uploads.TAKES
    assert put("e", "another", 60) == 200


def test_a_file_that_no_page_takes_gives_way_to_one_that_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two sessions that sent files and asked for nothing once kept everybody else's away for as long as they stayed."""
    inner, clock = Keeping(), [0.0]
    monkeypatch.setattr(uploads, "runtime", inner)
    monkeypatch.setattr(uploads, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    here = Gate(inner, most_bytes=100)

    put = partial(_sent_file, here)

    assert [put("a", "small", 10), put("a", "large", 40), put("b", "larger", 45)] == 3 * [200]
    clock[0] = uploads.LIES - 1.0
    assert put("c", "own", 30) == 503, "a page may be about to take them"
    assert put("c", "fits", 5) == 200
    clock[0] = uploads.LIES + 1.0
    assert put("c", "own", 30) == 200
    assert inner.kept() == {("a", "small"), ("a", "large"), ("c", "fits"), ("c", "own")}, "no more than had to"
    assert put("d", "enormous", 75) == 503
    assert put("d", "more than a share", 81) == 503
    assert inner.kept() == {("a", "small"), ("a", "large"), ("c", "fits"), ("c", "own")}, "none for what has no room"
    assert put("a again", "first", 15) == 200
    clock[0] += uploads.LIES + 1.0
    assert put("a once more", "second", 75) == 200
    assert inner.kept() == {("c", "fits"), ("a once more", "second")}, "its own first, then the largest"


@pytest.mark.parametrize(
    ("piece", "each", "status"),
    [(1, 1.0, 408), (uploads.LEAST, 59.0, 200), (uploads.LEAST - 1, 59.0, 408), (10 * uploads.LEAST, 61.0, 408)],
)
def test_a_file_comes_at_a_least_rate_or_gives_up_its_room(piece: int, each: float, status: int) -> None:
    class Whole(Inner):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            try:
                while (await receive())["more_body"]:
                    pass
            except HTTPException as error:
                await send({"type": "http.response.start", "status": error.status_code, "headers": []})
                return
            await super().__call__(scope, receive, send)

    async def story() -> int:
        sent: list[Any] = []
        pieces = 0

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            nonlocal pieces
            await asyncio.sleep(each)
            pieces += 1
            return {"type": "http.request", "body": memoryview(bytes(piece)), "more_body": pieces * each < 500.0}

        scope = {"type": "http", "path": "/_stcore/upload_file/s/1", "method": "PUT", "headers": [HOST, FORM]}
        await Gate(Whole())(scope, receive, send)
        return int(sent[0]["status"])

    with asyncio.Runner(loop_factory=Leaping) as runner:
        assert runner.run(story()) == status


def test_a_file_that_never_arrives_does_not_hold_its_room_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "ARRIVES", 0.01)

    async def story() -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "path": "/_stcore/upload_file/s/1", "method": "PUT", "headers": [HOST, FORM]}
        await asyncio.wait_for(Gate(Keeping())(scope, asyncio.Event().wait, send), 60)  # type: ignore[arg-type]
        return int(sent[0]["status"])

    assert asyncio.run(story()) == 408


def test_when_every_place_is_taken_the_next_visitor_is_told_to_wait() -> None:
    page = (b"accept", b"text/html,application/xhtml+xml")
    status, headers, inner = asked("/selection", HOST, page, most=0)
    assert status == 503
    assert headers[b"retry-after"] == b"15"
    assert not inner.requests
    assert asked("/static/js/index.js", HOST, (b"accept", b"*/*"), most=0)[0] == 200, "for those who are here"
    assert asked("/_stcore/health", HOST, page, most=0)[0] == 200
    sent, inner = connected([], HOST, most=0)
    assert sent == [{"type": "websocket.close", "code": 1013}]
    assert not inner.messages


def test_a_place_is_free_again_when_a_page_closes_however_it_does() -> None:
    class Failing(Inner):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            raise ConnectionError

    async def visit() -> list[bool]:
        found = Gate(Failing(), most=1)

        async def nothing(*_: Any) -> Any:
            return None

        scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [HOST]}
        for _ in range(3):
            with pytest.raises(ConnectionError):
                await found(scope, nothing, nothing)
        return [found.full]

    assert asyncio.run(visit()) == [False]


def test_one_address_has_a_share_of_the_places_and_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """A school behind one address has four of five; whoever opens more pages than that keeps nobody else out."""

    async def story(*addresses: str) -> list[bool]:
        """Which of these get in, one after the other; all stay. The last line is the page that is refused."""
        found, end, got_in = Gate(Staying(), most=10), asyncio.Event(), list[bool]()

        class Page:
            def __init__(self, address: str) -> None:
                self.scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [HOST], "client": (address, 1)}
                self.refused = False

            async def receive(self) -> Any:
                await end.wait()
                return {"type": "websocket.disconnect", "code": 1000}

            async def send(self, message: Any) -> None:
                self.refused = message == {"type": "websocket.close", "code": 1013}

        opened, tasks = [Page(address) for address in addresses], []
        for page in opened:
            tasks.append(asyncio.ensure_future(found(page.scope, page.receive, page.send)))
            await asyncio.sleep(0)
            got_in.append(not page.refused)
        end.set()
        await asyncio.gather(*tasks)
        assert not found._open
        return got_in

    class Staying(Inner):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await receive()

    school, other = ["10.0.0.1"] * 9, ["10.0.0.2", "10.0.0.3"]
    assert asyncio.run(story(*school, *other)) == [True] * 8 + [False] + [True] * 2
    assert asyncio.run(story(*(f"2001:db8::{number}" for number in range(1, 10)))) == [True] * 8 + [False]
    assert asyncio.run(story(*(f"2001:db8:0:{number}00::1" for number in range(9)))) == [True] * 9
    one_line = (f"2001:db8:0:{number}::1" for number in range(9))
    assert asyncio.run(story(*one_line)) == [True] * 8 + [False]
    assert asyncio.run(story(*["::ffff:10.0.0.1"] * 5, *["10.0.0.1"] * 4)) == [True] * 8 + [False]
    monkeypatch.setenv("EPSILON_LAB_SESSIONS_EACH", "2")
    assert asyncio.run(story(*["10.0.0.1"] * 3)) == [True, True, False]


def test_who_is_refused_for_their_share_reads_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Gate, "_has_its_share", lambda gate, visitor: visitor == "")
    status, headers, inner = asked("/selection", HOST, (b"accept", b"text/html"))
    assert (status, headers[b"retry-after"], inner.requests) == (503, b"15", [])
    assert asked("/_stcore/health", HOST)[0] == 200


TOKENS = (b"_streamlit_user_tokens", b"_streamlit_user_tokens_0", b"_streamlit_user_tokens_1")
LINK = "/thresholding?epsilon=0.5&line=50"


def logged_in_from(referer: str, *, host: bytes = b"lab.example", scheme: str = "http") -> tuple[str, str]:
    """Where a login ends that was begun on a page, and the cookie on the way."""

    class Leading(Inner):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            headers = [(b"location", b"/"), (b"set-cookie", b"_streamlit_user=x")]
            headers += [(b"set-cookie", name + b"=secret; HttpOnly") for name in TOKENS]
            headers.append((b"set-cookie", b'_streamlit_user_tokens_2=""; Max-Age=0'))  # of an earlier login
            await send({"type": "http.response.start", "status": 302, "headers": headers})

    def go(path: str, *headers: tuple[bytes, bytes]) -> list[tuple[bytes, bytes]]:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "path": path, "method": "GET", "headers": [(b"host", host), *headers]}
        asyncio.run(Gate(Leading())({**scope, "scheme": scheme}, send, send))
        return list(sent[0]["headers"])

    config.set_option("server.allowedHosts", ["lab.example"])
    begun = ((b"sec-fetch-site", b"same-origin"), (b"sec-fetch-dest", b"document"))
    there = go("/auth/login", (b"referer", referer.encode()), *begun)
    cookie = [value.decode() for name, value in there if name == b"set-cookie"][-1]
    back = go("/oauth2callback", (b"cookie", f"a=b; {cookie.split(';')[0]}; c=d".encode()))
    somebody = b"__Host-_streamlit_user=x; Path=/; Secure" if scheme == "https" else b"_streamlit_user=x"
    assert (b"set-cookie", somebody) in back
    kept = [value for name, value in back if name == b"set-cookie"]
    assert not any(b"secret" in value for value in kept), "the browser keeps no token of the provider's"
    assert any(b"tokens_2" in value for value in kept), "and forgets those of an earlier login"
    assert b"Max-Age=0" in [value for name, value in back if name == b"set-cookie"][-1], "kept for one login"
    return next(value.decode() for name, value in back if name == b"location"), cookie


@pytest.mark.parametrize("path", ["/media/0a1b.jsonl", "/lab/media/0a1b.csv", "/", "/static/js/a.js"])
@pytest.mark.parametrize("said", [(), ((b"Cache-Control", b"public, max-age=60"),)])
def test_a_file_that_a_page_offers_is_kept_nowhere_on_its_way(path: str, said: tuple[tuple[bytes, bytes], ...]) -> None:
    async def app(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": said})

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "method": "GET", "headers": [HOST]}
    asyncio.run(Gate(app)(scope, send, send))
    given = [value for name, value in sent[0]["headers"] if name.lower() == b"cache-control"]
    assert given == ([b"no-store"] if "media" in path else [value for _, value in said])


COOKIES = (
    b"_streamlit_session=a; path=/; httponly",
    b"_streamlit_xsrf=b",
    b"_streamlit_user=c; Secure",
    b"secure=d; SECURE",
)


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/auth/login", "/oauth2callback", "/media/ab.csv"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_over_tls_every_cookie_is_for_tls_alone(path: str, scheme: str) -> None:
    """Those of a login on its way and against forged requests came without."""

    async def app(_: Any, __: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 302, "headers": [(b"Set-Cookie", one) for one in COOKIES]})

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [HOST, (b"sec-fetch-site", b"same-origin"), (b"sec-fetch-dest", b"document")]
    scope = {"type": "http", "path": path, "method": "GET", "headers": headers, "scheme": scheme}
    asyncio.run(Gate(app)(scope, send, send))
    given = [value for name, value in sent[0]["headers"] if name.lower() == b"set-cookie"]
    names = [b"__Host-_streamlit_session=a", b"__Host-_streamlit_xsrf=b", b"_streamlit_xsrf=b"]
    names += [b"__Host-_streamlit_user=c", b"secure=d"]
    named = names if scheme == "https" else [value.split(b";")[0] for value in COOKIES]
    assert [value.split(b";")[0] for value in given[: len(named)]] == named
    secure = [[one.strip().lower() for one in value.split(b";")[1:]].count(b"secure") for value in given]
    assert secure[: len(named)] == ([1, 1, 1, 1, 1] if scheme == "https" else [0, 0, 1, 1])
    assert set(secure[len(named) :]) <= {int(scheme == "https")}


@pytest.mark.parametrize("place", [LINK, "/budget", "/", "/data?own=%E2%82%AC+1,2"])
def test_a_login_leads_back_to_the_page_it_was_begun_on(place: str) -> None:
    found, cookie = logged_in_from(f"http://lab.example{place}")
    assert found == place
    assert "HttpOnly; SameSite=Lax" in cookie
    assert "Secure" not in cookie
    assert "Secure" in logged_in_from(f"https://lab.example{place}", scheme="https")[1]


@pytest.mark.parametrize(
    "referer",
    [
        "",
        f"http://evil.example{LINK}",
        f"http://lab.example.evil.example{LINK}",
        f"http://lab.example@evil.example{LINK}",
        "http://lab.example//evil.example/",
        "http://lab.example/\\evil.example",
        "http://lab.example/%2F%2Fevil.example",
        "http://lab.example/https:evil.example",
        "http://lab.example/a?b\r\nset-cookie: x=y",
        "http://lab.example/a?<script>",
        "http://lab.example/oauth2callback?code=1",
        "http://lab.example/auth/logout",
        "http://lab.example/_stcore/metrics",
        f"javascript://lab.example{LINK}",
        "http://lab.example/a?" + "b" * 4000,
        "http://[lab.example/",
    ],
)
def test_no_login_leads_anywhere_else(referer: str) -> None:
    assert logged_in_from(referer)[0] == "/"


@pytest.mark.parametrize(
    "place", ["//evil.example/", "https://evil.example/", "/\\evil.example", "/a\nb", "evil.example", "\x00", "/é"]
)
def test_a_cookie_that_somebody_made_leads_nowhere_else(place: str) -> None:
    """Whoever can write one for a neighbouring name of this server's."""
    value = base64.urlsafe_b64encode(place.encode()).decode()
    assert wanted.kept([(b"cookie", f"{wanted.COOKIE}={value}".encode())]) == ""
    assert wanted.kept([(b"cookie", f"{wanted.COOKIE}=AAA".encode())]) == ""


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("state=a%20b&code=c&iss=https%3A%2F%2Fa.example", "state=a%20b&code=c&iss=https%3A%2F%2Fa.example"),
        (
            "error=access_denied&state=x%2Fy&error_description=FORGED&error_uri=FORGED",
            "error=access_denied&state=x%2Fy",
        ),
        ("error=xFORGED+line&error_description=FORGED", "error=other_error"),
        ("error=access_denied&%65rror=FORGED", "error=other_error"),
        ("error=FORGED&error=access_denied&more=FORGED", "error=access_denied"),
        ("error=&error_description=FORGED", "error=other_error"),
        ("error=%E2%80%AEFORGED&code=1", "error=other_error"),
        ("", ""),
    ],
)
def test_of_a_login_that_came_to_nothing_only_the_standard_s_word_for_it_goes_further(question: str, left: str) -> None:
    """Streamlit writes what stands there into the log, whoever has written it."""
    came: list[bytes] = []

    async def app(scope: Any, _: Any, send: Any) -> None:
        came.append(scope["query_string"])
        await send({"type": "http.response.start", "status": 302, "headers": []})

    async def send(_: Any) -> None:
        return

    scope = {"type": "http", "path": "/oauth2callback", "method": "GET", "headers": [HOST]}
    asyncio.run(Gate(app)(scope | {"query_string": question.encode()}, send, send))
    assert came == [left.encode()]


@pytest.mark.parametrize(
    ("files", "wanted", "found"),
    [(1024, "", 164), (100_000, "", 500), (100_000, "40", 40), (100, "", 1), (1024, "x", 164), (1024, "-3", 164)],
)
def test_places_follow_from_the_files_a_process_may_open(
    files: int, wanted: str, found: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPSILON_LAB_SESSIONS", wanted)
    assert open_files.places(files, settings.number("EPSILON_LAB_SESSIONS", open_files.MOST_SESSIONS)) == found


def test_the_browser_is_opened_where_there_is_a_screen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from dashboard import server

    opened: list[str] = []
    monkeypatch.setattr(server.webbrowser, "open", opened.append)
    monkeypatch.setattr(server.safe_path, "keep", lambda: None)  # as it is in this process

    async def start(wanted: bool) -> None:
        server.app.state["browser"] = wanted
        async with server.begun(server.app):
            await asyncio.sleep(0)

    monkeypatch.setattr(server, "has_screen", lambda: True)
    asyncio.run(start(wanted=False))
    assert not opened
    asyncio.run(start(wanted=True))
    assert opened == [server.address()]
    monkeypatch.setattr(server, "has_screen", lambda: False)
    asyncio.run(start(wanted=True))
    assert len(opened) == 1
    assert capsys.readouterr().out == 3 * f"Epsilon Lab: {opened[0]}\n"
    assert len(changed_in_streamlit()) == 20


class Stranger(Person):
    """Somebody who sends what no page would."""

    async def sends(self, message: BackMsg | str | bytes) -> None:
        await self._connection.send(message.SerializeToString() if isinstance(message, BackMsg) else message)

    async def sends_what_no_page_sends(self, person: Person) -> None:
        """Values of another kind for the control of ε, each until the page is complete."""
        for field, value in (("string_value", "abc"), ("json_value", "{{{"), ("double_value", math.nan)):
            asked = BackMsg()
            widget = asked.rerun_script.widget_states.widgets.add()
            widget.id = person._epsilon
            setattr(widget, field, value)
            with contextlib.suppress(RuntimeError):  # a page that says that it was sent something odd
                await self._run(asked)

    async def pings(self, times: int) -> None:
        with contextlib.suppress(websockets.ConnectionClosed):
            for _ in range(times):
                await self._connection.ping()

    async def until_closed(self) -> int | None:
        try:
            while True:
                await asyncio.wait_for(self._connection.recv(), 60)
        except websockets.ConnectionClosed as closed:
            return None if closed.rcvd is None else closed.rcvd.code

    async def session(self) -> str:
        """The id by which files are sent to this session."""
        asked = BackMsg()
        asked.file_urls_request.request_id = "1"
        asked.file_urls_request.file_names.append("x.csv")
        await self.sends(asked)
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        while True:
            told = ForwardMsg()
            told.ParseFromString(await asyncio.wait_for(self._connection.recv(decode=False), 60))
            if told.WhichOneof("type") == "file_urls_response":
                return str(told.file_urls_response.file_urls[0].upload_url).rsplit("/", 2)[-2]


@pytest.mark.thorough
def test_a_stranger_at_a_server_of_ours(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Messages, files and text that no page sends: another person's page goes on, and the log has no traceback."""
    caplog.set_level(logging.CRITICAL)

    async def story(address: str) -> tuple[list[int], list[int | None]]:
        person, stranger, gone = Person(address, "selection"), Stranger(address, ""), Stranger(address, "")
        for one in (person, stranger, gone):
            await one.arrive()
        await stranger.sends(BackMsg(clear_cache=True))
        refused = await stranger.until_closed()
        await stranger.arrive()
        answers = [_put(address, await stranger.session(), number) for number in range(12)]
        await person.move(0.8)
        _cut_off(address, await gone.session())  # of one who may still send files
        await stranger.sends_what_no_page_sends(person)
        closed = [refused]
        for message in ("text", b"\xff" * 200):
            await stranger.sends(message)
            closed.append(await stranger.until_closed())
            await stranger.arrive()
        await stranger.pings(int(frames.CONTROL_AHEAD) + 10)
        closed.append(await stranger.until_closed())
        await person.move(0.5)
        for one in (person, stranger, gone):
            await one.leave()
        return answers, closed

    with running(tmp_path, EPSILON_LAB_WARM_UP="0") as address:
        answers, closed = asyncio.run(story(address))
        assert _status(f"{address}/_stcore/metrics") == 404
        assert _status(f"{address}/_stcore/metrics%0A") == 400
        assert _in_pieces(address) == b"HTTP/1.1 400"
    assert answers == [204] * uploads.FILES_EACH + [429] * (12 - uploads.FILES_EACH)
    assert closed[:3] == [1008, 1003, 1003]
    assert closed[3] in (1002, None), "whoever still sends when it is cut may not be told why"
    log = (tmp_path / "server.log").read_text()
    assert "Traceback" not in log
    assert "defect" not in log


def _cut_off(address: str, session: str) -> None:
    """A file whose sender leaves in the middle of it, and one that is sent in no form that there is."""
    cookie = _cookie(address)
    host, port = address.split("//")[1].split(":")
    for more in ("Content-Length: 3000", "Content-Length: 5"):
        lines = [f"PUT /_stcore/upload_file/{session}/x HTTP/1.1", f"Host: {host}:{port}", f"Cookie: {cookie}", more]
        lines += [f"X-Xsrftoken: {cookie.split('=', 1)[1]}", f"Content-Type: {FORM[1].decode()}"]
        with socket.create_connection((host, int(port)), timeout=60) as sent:
            sent.sendall("\r\n".join([*lines, "", f"--{BETWEEN.decode()}", ""]).encode())


def _in_pieces(address: str) -> bytes:
    """How a body is answered that does not say how long it is."""
    host, port = address.split("//")[1].split(":")
    with socket.create_connection((host, int(port)), timeout=60) as sent:
        sent.sendall(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
        return sent.recv(12)


def _cookie(address: str) -> str:
    with urllib.request.urlopen(f"{address}/_stcore/health", timeout=60) as told:
        return str(told.headers["Set-Cookie"].split(";")[0])


def _put(address: str, session: str, number: int, *, method: str = "PUT", cookie: str = "", token: str = "") -> int:
    """A file that was not asked for, as a browser would send it."""
    cookie = cookie or _cookie(address)
    form = b'--%b\r\nContent-Disposition: form-data; name="f"; filename="x.csv"\r\n\r\na,b\r\n--%b--\r\n'
    headers = {
        "Content-Type": FORM[1].decode(),
        "Cookie": cookie,
        "X-Xsrftoken": token or cookie.split("=", 1)[1],
    }
    url = f"{address}/_stcore/upload_file/{session}/{number}"
    return _status(urllib.request.Request(url, data=form % (BETWEEN, BETWEEN), headers=headers, method=method))


def _status(request: Any) -> int:
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


OUT = "/auth/logout"
SHOWN, PAGE = (b"sec-fetch-dest", b"document"), (b"accept", b"text/html,*/*;q=0.8")


@pytest.mark.parametrize(
    ("headers", "own"),
    [
        ([(b"sec-fetch-site", b"same-origin"), SHOWN], True),
        ([(b"sec-fetch-site", b"same-origin"), (b"sec-fetch-dest", b"image"), PAGE], False),  # ![a](/auth/logout)
        ([(b"sec-fetch-site", b"same-origin"), (b"sec-fetch-dest", b"iframe"), PAGE], False),
        ([(b"sec-fetch-site", b"same-origin"), PAGE], False),
        ([(b"sec-fetch-site", b"same-site"), SHOWN], False),  # another port, or a neighbour's name
        ([(b"sec-fetch-site", b"cross-site"), SHOWN], False),
        ([(b"sec-fetch-site", b"cross-site"), SHOWN, (b"referer", b"http://127.0.0.1:8501/")], False),
        ([(b"sec-fetch-site", b"none"), SHOWN], False),  # a link in a letter
        ([PAGE, (b"referer", b"http://127.0.0.1:8501/budget?x=1")], True),  # no browser says more over plain HTTP
        ([(b"accept", b"image/avif,*/*"), (b"referer", b"http://127.0.0.1:8501/budget?x=1")], False),
        ([PAGE, (b"referer", b"http://127.0.0.1:8502/")], False),
        ([PAGE, (b"referer", b"http://evil.example/127.0.0.1:8501")], False),
        ([PAGE, (b"referer", b"http://127.0.0.1:8501@evil.example/")], False),
        ([PAGE, (b"referer", b"http://[")], False),
        ([PAGE], False),
    ],
)
def test_only_a_page_of_this_server_leads_to_a_log_out(headers: list[tuple[bytes, bytes]], own: bool) -> None:
    for path, method in ((OUT, "GET"), (OUT, "HEAD"), (f"/base{OUT}", "GET")):
        status, answer, inner = asked(path, HOST, *headers, method=method)
        assert (status, inner.requests) == ((200, [path]) if own else (403, []))
        assert b"set-cookie" not in answer


def test_without_the_gate_any_page_could_log_people_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """What shows that the test above can fail."""
    monkeypatch.setattr(wanted, "LOGOUT", "/no such path")
    assert asked(OUT, HOST, (b"sec-fetch-site", b"cross-site"))[2].requests == [OUT]


@pytest.mark.parametrize("gone", [WebSocketDisconnect(1006), WebSocketDisconnected("closed")])
def test_a_page_that_left_while_a_message_of_it_waited_is_no_failure(gone: Exception) -> None:
    """Streamlit goes on with it, and closes what is closed."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise gone

    gates = Gate(app)

    async def nothing(*_: Any) -> Any:
        return {"type": "websocket.disconnect", "code": 1006}

    scope = {"type": "websocket", "path": "/_stcore/stream", "headers": [HOST, (b"origin", b"http://127.0.0.1:8501")]}
    asyncio.run(gates(scope, nothing, nothing))
    assert not gates._open


@pytest.mark.parametrize(
    ("told", "let"),
    [
        ({"url": "http://127.0.0.1:8501/poll?a=%C3%A9", "timezone": "Europe/Zurich", "locale": "de-CH"}, True),
        ({"url": "http://a" + "\u0301\u0316" * 100 + "/poll"}, False),
        ({"url": "http://["}, False),
        ({"url": "http://a/" + "b" * 998 + "?" + "c" * 5_000}, True),
        ({"url": "http://a/" + "b" * 999}, False),
        ({"timezone": "x" * 101}, False),
        ({"locale": "x" * 101}, False),
    ],
)
def test_a_page_says_where_it_is_as_a_browser_does(told: dict[str, str], let: bool) -> None:
    """An address in other letters takes the square of its length to look through, with the whole server waiting."""
    asked = BackMsg()
    for name, value in told.items():
        setattr(asked.rerun_script.context_info, name, value)
    sent, inner = connected([binary(asked)], HOST)
    assert [message["type"] for message in inner.messages][:1] == [
        "websocket.receive" if let else "websocket.disconnect"
    ]
    assert sent == ([] if let else [{"type": "websocket.close", "code": 1008}])


def test_nothing_that_takes_long_to_look_through_reaches_what_reads_cookies_and_kinds() -> None:
    """In some versions of Python a cookie of backslashes takes the square of its length, with all others waiting."""
    long = b"\\" * 30_000
    cookies = b'a=1; x="' + long + b'"; _streamlit_xsrf=2|ab'
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(dict(scope["headers"]))
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def nothing(*_: Any) -> Any:
        return {"type": "http.request", "body": b""}

    kind = b"multipart/form-data; x=" + b";" * 50_000
    scope = {"type": "http", "path": "/_stcore/health", "method": "GET", "query_string": b""}
    asyncio.run(Gate(app)(scope | {"headers": [HOST, (b"cookie", cookies), (b"content-type", kind)]}, nothing, nothing))
    assert seen == [dict([HOST, (b"cookie", b"_streamlit_xsrf=2|ab")])]
