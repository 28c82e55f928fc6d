"""Several servers behind HAProxy: what it is told, and that visitors of one that dies go on at another."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import secrets
import signal
import socket
import ssl
import string
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.starlette import starlette_server

from benchmarks.people import opened
from benchmarks.private_postgresql import private_server
from benchmarks.window import Window
from dashboard import all_held, machine_memory
from dashboard.__main__ import main
from dashboard.people.browser_token import PHONE
from dashboard.poll import along
from dashboard.poll.codes import new_code, shown_code
from dashboard.serving import replicas, uploads
from dashboard.serving.host_cookies import PREFIX
from dashboard.words import poll as poll_words
from tests.browser.server import ROOT, free_port

PATIENCE = 120
COOKIE = replicas.COOKIE
OVER_TLS = PREFIX + COOKIE
MINE, OTHERS = 32 * "a", 32 * "b"
"""Tokens of two phones."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    """What HAProxy and the servers of one start have."""
    monkeypatch.setenv(along.KEY, 32 * "5a")


@pytest.fixture(scope="module")
def pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate with its key."""
    folder = tmp_path_factory.mktemp("certificate")
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-batch"]
    subprocess.run([*made, "-keyout", folder / "key", "-out", folder / "crt"], check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_text((folder / "crt").read_text() + (folder / "key").read_text())
    return both


def test_the_balancer_s_configuration_is_sound(tmp_path: Path, pem: Path) -> None:
    """HAProxy's own check of it, with and without TLS."""
    for certificate in (None, pem):
        file = tmp_path / "haproxy.cfg"
        text = replicas.configuration([8001, 8002], port=free_port(), address="127.0.0.1", certificate=certificate)
        file.write_text(text)
        done = subprocess.run([replicas.balancer(), "-c", "-f", file], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert ("Strict-Transport-Security" in text) == (certificate is not None)


@pytest.mark.parametrize("name", ["both.pem", "my own.pem", 'a "b" # c.pem', "it's \\ $HOME.pem", " ü.pem "])
def test_a_certificate_may_be_called_anything(name: str, tmp_path: Path, pem: Path) -> None:
    """What stood behind a blank was read as more words of HAProxy's."""
    certificate, file = tmp_path / name, tmp_path / "haproxy.cfg"
    certificate.write_bytes(pem.read_bytes())
    text = replicas.configuration([8001], port=free_port(), address="127.0.0.1", certificate=certificate)
    file.write_text(text)
    replicas._must_be_understood(replicas.balancer(), file, with_certificate=True)
    file.write_text(text.replace(replicas._quoted(certificate), str(certificate)))
    if set(name) & set(" '"):
        with pytest.raises(ValueError, match="HAProxy does not start so"):
            replicas._must_be_understood(replicas.balancer(), file, with_certificate=True)


def test_what_does_not_start_is_said_before_anything_is_started(
    tmp_path: Path, pem: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas.Replica, "start", lambda _: pytest.fail("started"))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    alone = tmp_path / "crt.pem"
    alone.write_text(pem.read_text().split("-----BEGIN PRIVATE KEY-----")[0])
    with pytest.raises(ValueError, match="the certificate may lack its key"):
        replicas.serve(1, port=free_port(), address="127.0.0.1", hosts=(), certificate=alone)
    with pytest.raises(ValueError, match="a port that is said"):
        replicas.serve(1, port=0, address="127.0.0.1", hosts=())


@pytest.mark.parametrize(("files", "connections"), [(1_048_576, 12_000), (20_000, 9900), (1024, 412), (64, 1)])
def test_the_balancer_starts_with_as_few_files_as_there_are(files: int, connections: int) -> None:
    """With 20,000 files and three replicas it ended at once, and everything with it."""
    text = replicas.configuration([8001, 8002, 8003], port=8000, address="127.0.0.1", files=files)
    assert f"maxconn {connections}\n" in text


def test_a_replica_that_is_only_busy_keeps_its_visitors() -> None:
    """One that did not answer for two seconds once lost all of its pages, and their files with them."""
    text = replicas.configuration([8001], port=8000, address="127.0.0.1")
    patience, falls = re.search(r"timeout check (\d+)ms", text), re.search(r"fall (\d+) .*shutdown-sessions", text)
    assert patience
    assert falls
    assert 15_000 <= int(patience.group(1)) * int(falls.group(1)) < 16_000, "and one that stands still is found"


def test_a_connection_that_nobody_is_at_is_let_go_of_and_a_page_that_rests_is_not() -> None:
    """HAProxy kept those of which both ends had gone at one moment, and turned round them, for an hour; a page that is
    open is asked whether it is there by its server, which gives up who does not answer."""
    (seconds,) = re.findall(r"timeout tunnel (\d+)s\n", replicas.configuration([8001], port=8000, address="127.0.0.1"))
    asks, waits = starlette_server._get_websocket_settings()
    assert 2 * (asks + waits) < int(seconds) < 180


FLOOD = "127.0.0.3"


def test_one_address_has_a_share_of_the_connections_and_not_all(tmp_path: Path) -> None:
    """Whoever opened as many as there are, and said nothing, once kept everybody else waiting."""
    port, file, files = free_port(), tmp_path / "haproxy.cfg", replicas.FILES_RESERVED + 2 * 20
    file.write_text(replicas.configuration([free_port()], port=port, address="127.0.0.1", files=files))
    assert "maxconn 20\n" in file.read_text()
    balancer = subprocess.Popen([replicas.balancer(), "-db", "-f", file], stderr=subprocess.DEVNULL)
    opened: list[socket.socket] = []

    def closed(each: socket.socket) -> bool:
        try:
            return each.recv(1) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    try:
        _until(lambda: _answers(port))
        for _ in range(20):
            opened.append(socket.socket())
            opened[-1].bind((FLOOD, 0))
            opened[-1].connect_ex(("127.0.0.1", port))  # one too many may be closed before this returns
            opened[-1].setblocking(False)
        _until(lambda: sum(map(closed, opened)) == 20 - 16)
        assert _answers(port, "127.0.0.2")
        assert not _answers(port, FLOOD)
        assert sum(map(closed, opened)) == 20 - 16
    finally:
        for each in opened:
            each.close()
        balancer.terminate()
        balancer.wait(PATIENCE)


def test_one_address_opens_no_more_connections_than_browsers_do(tmp_path: Path) -> None:
    """A request that is given up is work for a replica all the same, so it is not to be begun anew without end."""
    port, file, files = free_port(), tmp_path / "haproxy.cfg", replicas.FILES_RESERVED + 2 * 20
    text = replicas.configuration([free_port()], port=port, address="127.0.0.1", files=files)
    file.write_text(text)
    assert "sc0_conn_rate gt 24 " in text, "and 16 at once"
    balancer = subprocess.Popen([replicas.balancer(), "-db", "-f", file], stderr=subprocess.DEVNULL)
    try:
        _until(lambda: _answers(port, "127.0.0.2"))
        assert [_answers(port, FLOOD) for _ in range(30)] == [True] * 24 + [False] * 6
        assert _answers(port, "127.0.0.2")
    finally:
        balancer.terminate()
        balancer.wait(PATIENCE)


@pytest.mark.parametrize(
    ("said", "counts"), [("127.0.0.1,::1", True), ("127.0.0.3", False), ("127.0.0.0/30, 10.1.2.3", False), ("*", True)]
)
def test_a_proxy_of_ones_own_is_not_taken_for_one_visitor(said: str, counts: bool, tmp_path: Path) -> None:
    """It opens a connection for each request of everybody: what one visitor asks for had all others refused."""
    port, file, files = free_port(), tmp_path / "haproxy.cfg", replicas.FILES_RESERVED + 2 * 20
    text = replicas.configuration([free_port()], port=port, address="127.0.0.1", files=files, proxies=said)
    file.write_text(text)
    balancer = subprocess.Popen([replicas.balancer(), "-db", "-f", file], stderr=subprocess.DEVNULL)
    try:
        _until(lambda: _answers(port, "127.0.0.5"))
        assert all(_answers(port, FLOOD) for _ in range(40)) == (not counts)
    finally:
        balancer.terminate()
        balancer.wait(PATIENCE)


@pytest.mark.parametrize("secure", [False, True])
def test_one_connection_is_one_request_at_a_time(secure: bool, tmp_path: Path, pem: Path) -> None:
    """By HTTP/2 one was a hundred: 85 connections took every file that the balancer may open, and all pages ended."""
    ours = replicas.configuration(
        [free_port()], port=(port := free_port()), address="127.0.0.1", certificate=pem if secure else None
    )
    assert ours.count("alpn http/1.1") == secure
    before = ours.replace("alpn http/1.1", "alpn h2,http/1.1").replace("    option disable-h2-upgrade\n", "")
    for text, understood in ((ours, False), (before, True)):
        file = tmp_path / "haproxy.cfg"
        file.write_text(text)
        balancer = subprocess.Popen([replicas.balancer(), "-db", "-f", file], stderr=subprocess.DEVNULL)
        try:
            _until(lambda: _is_open(port))
            assert _takes_http_2(port, secure=secure) == understood
        finally:
            balancer.terminate()
            balancer.wait(PATIENCE)


def _is_open(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), PATIENCE).close()
    except OSError:
        return False
    return True


def _takes_http_2(port: int, *, secure: bool) -> bool:
    """Whether the first thing that is answered to the beginning of HTTP/2 is a frame with its settings."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as plain:
        asked = plain
        if secure:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.set_alpn_protocols(["h2", "http/1.1"])
            asked = context.wrap_socket(plain)
        with asked:
            asked.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
            return asked.recv(9)[3:4] == b"\x04"


def _answers(port: int, visitor: str = "127.0.0.1") -> bool:
    """Whether the balancer answers this address at all: that no replica is well, where there is none."""
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE, (visitor, 0)) as asked:
            asked.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return asked.recv(12) == b"HTTP/1.1 503"
    except OSError:
        return False


class _Named(BaseHTTPRequestHandler):
    """Stands for a replica, and says which one it is."""

    def do_GET(self) -> None:
        self.server.awake.wait(PATIENCE)  # type: ignore[attr-defined]
        body = str(self.server.server_address[1]).encode()
        if self.path in ("/from", "/how"):
            named = "X-Forwarded-For" if self.path == "/from" else "X-Forwarded-Proto"
            body = repr(self.headers.get_all(named)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_GET

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class _Replica(ThreadingHTTPServer):
    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.awake = threading.Event()
        self.awake.set()

    def handle_error(self, *_: object) -> None:
        """HAProxy hangs up when it has seen that all is well."""


@contextmanager
def _balanced(
    count: int, folder: Path, change: Callable[[str], str] = str, proxies: str = replicas.HERE, kept: str = COOKIE
) -> Iterator[tuple[str, list[_Replica]]]:
    """HAProxy before so many that say which one they are, and who are kept there by this cookie: its address, and
    they."""
    every = [_Replica(("127.0.0.1", 0), _Named) for _ in range(count)]
    for each in every:
        threading.Thread(target=each.serve_forever, daemon=True).start()
    port, file, ports = free_port(), folder / "haproxy.cfg", [each.server_port for each in every]
    key = os.environ.get(along.KEY, "")  # of a test of rooms
    text = replicas.configuration(ports, port=port, address="::1", files=2_000, proxies=proxies, along=key)
    file.write_text(change(text))
    balancer = subprocess.Popen([replicas.balancer(), "-db", "-f", file], stderr=subprocess.DEVNULL)
    address = f"http://[::1]:{port}"
    try:
        _until(
            lambda: all(_sent(address, "", f"r{n}", kept=kept)[0] == one.server_port for n, one in enumerate(every, 1))
        )
        yield address, every
    finally:
        balancer.terminate()
        balancer.wait(PATIENCE)
        for each in every:
            each.awake.set()
            each.shutdown()
            each.server_close()


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/x/_stcore/metrics", "/_stcore/%6detrics", "/%5fstcore/metrics"])
def test_nobody_asks_the_replicas_for_their_counts(path: str, tmp_path: Path) -> None:
    """However it is written: a replica reads it as its own path."""
    with _balanced(1, tmp_path) as (address, _):
        with pytest.raises(urllib.error.HTTPError) as told:
            urllib.request.urlopen(address + path, timeout=PATIENCE)
        assert told.value.code == 404
        told.value.close()
        with urllib.request.urlopen(f"{address}/_stcore/metrics2", timeout=PATIENCE) as answer:
            assert answer.status == 200


@pytest.mark.parametrize(("proxies", "said"), [("10.1.2.3", ["::1"]), (replicas.HERE, ["", "9.9.9.9", "::1"])])
def test_nobody_but_a_proxy_of_ones_own_says_where_others_come_from(
    proxies: str, said: list[str], tmp_path: Path
) -> None:
    """An empty line of a visitor's own stood before what the balancer says, and made them one at this computer."""
    with _balanced(1, tmp_path, proxies=proxies) as (address, _):
        host, port = "::1", int(address.rpartition(":")[2])
        with socket.create_connection((host, port), PATIENCE) as asked:
            lines = [
                "GET /from HTTP/1.1",
                "Host: a",
                "X-Forwarded-For:",
                "X-Forwarded-For: 9.9.9.9",
                "Connection: close",
            ]
            asked.sendall("\r\n".join([*lines, "", ""]).encode())
            answer = asked.makefile("rb").read().decode()
    assert answer.endswith(repr(said))


@pytest.mark.parametrize(
    ("proxies", "given", "said"),
    [
        ("10.1.2.3", "X-Forwarded-Proto: https\r\n", ["http"]),
        ("10.1.2.3", "", ["http"]),
        (replicas.HERE, "X-Forwarded-Proto: https\r\n", ["https"]),
        (replicas.HERE, "", ["http"]),
    ],
)
def test_nobody_but_a_proxy_of_ones_own_says_whether_others_speak_tls(
    proxies: str, given: str, said: list[str], tmp_path: Path
) -> None:
    """Cookies that are for TLS alone were none behind one that takes it off."""
    with (
        _balanced(1, tmp_path, proxies=proxies) as (address, _),
        socket.create_connection(("::1", int(address.rpartition(":")[2])), PATIENCE) as asked,
    ):
        asked.sendall(f"GET /how HTTP/1.1\r\nHost: a\r\n{given}Connection: close\r\n\r\n".encode())
        assert asked.makefile("rb").read().decode().endswith(repr(said))


_WITHOUT_HOST = "    http-request return status 400 if !{ req.ver 1.0 } !{ req.hdr(host) -m found }\n"


@pytest.mark.parametrize("refuses", [True, False], ids=["ours", "as it was"])
def test_what_asks_of_no_host_never_comes_to_a_replica(refuses: bool, tmp_path: Path) -> None:
    """It refused it as work of its own. Health checks by HTTP/1.0 say no host, and come through."""

    def change(text: str) -> str:
        assert _WITHOUT_HOST in text
        return text if refuses else text.replace(_WITHOUT_HOST, "")

    with _balanced(1, tmp_path, change) as (address, _):
        for lines, passed in (
            ("GET /from HTTP/1.1", not refuses),
            ("GET http://localhost/from HTTP/1.1", not refuses),
            ("GET /from HTTP/1.0", True),
            ("GET /from HTTP/1.1\r\nHost: a", True),
        ):
            with socket.create_connection(("::1", int(address.rpartition(":")[2])), PATIENCE) as asked:
                asked.sendall(f"{lines}\r\nConnection: close\r\n\r\n".encode())
                answer = asked.makefile("rb").read().decode()
            assert (" 200 " in answer, answer.endswith("\r\n\r\n")) == (passed, not passed), answer


_GUARDED = ("Content-Security-Policy", "X-Frame-Options", "X-Content-Type-Options", "Referrer-Policy")


@pytest.mark.parametrize("guards", [True, False], ids=["ours", "as it was"])
def test_no_page_may_frame_what_the_balancer_answers_itself(guards: bool, tmp_path: Path) -> None:
    def change(text: str) -> str:
        return text if guards else re.sub(r"\n *http-after-response set-header (X-|Content-|Referrer-).*", "", text)

    with _balanced(1, tmp_path, change) as (address, _):
        for line, told in (
            ("GET /_stcore/metrics HTTP/1.1", 404),
            ("POST / HTTP/1.1", 405),
            ("GET /%00 HTTP/1.1", 400),
        ):
            with socket.create_connection(("::1", int(address.rpartition(":")[2])), PATIENCE) as asked:
                asked.sendall(f"{line}\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
                answer = asked.makefile("rb").read().decode()
            assert f" {told} " in answer.splitlines()[0]
            assert all(name.lower() in answer.lower() for name in _GUARDED) == guards, answer


def _status_of(address: str, path: str) -> int:
    """How a path is answered, sent as it stands here."""
    with socket.create_connection(("::1", int(address.rpartition(":")[2])), PATIENCE) as asked:
        asked.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode("latin-1"))
        return int(asked.makefile("rb").readline().split()[1])


def _sent(
    address: str, question: str, cookie: str, site: str = "", *, kept: str = COOKIE, phone: str = f"{PHONE.name}={MINE}"
) -> tuple[int, str]:
    """To the one at which port a browser with this cookie, and this of its phone, is sent, and what its cookie says
    then; 0 for nobody."""
    headers = {"Cookie": f"{kept}={cookie}; {phone}"} | ({"Sec-Fetch-Site": site} if site else {})
    asked = urllib.request.Request(f"{address}/{question}", headers=headers)
    try:
        answer: HTTPResponse
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            given = {
                found.group(1)
                for one in answer.headers.get_all("Set-Cookie") or ()
                if (found := re.fullmatch(rf"{COOKIE}=(\w+); path=/; HttpOnly; SameSite=Lax", one))
            }
            return int(answer.read()), given.pop() if given else cookie
    except OSError:
        return 0, ""


def _stays(address: str, place: int, replica: _Replica, question: str = "", site: str = "", **more: str) -> bool:
    """Whether who began at this replica is still sent there."""
    return _sent(address, question, f"r{place}", site, **more) == (replica.server_port, f"r{place}")


def _astray(address: str, every: list[_Replica]) -> int:
    """How many links of rooms lead a browser to another replica than the room's, now or with all that follows."""
    count, astray = len(every), 0
    for place, each in enumerate(every, 1):
        code = new_code(place, count)
        spelled = (shown_code(code), code.lower(), f"{code[:4]}%20{code[4:]}", f"{shown_code(code)}&page=a")
        go = f"&go={along.proof(code, MINE)}"
        ways = itertools.product(spelled, ("", "r99"), ("", "&go=1", go))
        every_way = (*ways, *itertools.product(spelled, ("r1", f"r{count}"), (go,)))
        names = [f"{PHONE.name}={MINE}", f"{PHONE.name}={OTHERS}; {PREFIX}{PHONE.name}={MINE}"]
        for (typed, cookie, go), site, phone in itertools.product(every_way, ("", "same-origin"), names):
            sent, told = _sent(address, f"?a=b&join={typed}{go}", cookie, site, phone=phone)
            follows, _ = _sent(address, "_stcore/stream", told)
            astray += (sent, follows) != (each.server_port, each.server_port)
    return astray


def _moved(address: str, every: list[_Replica]) -> int:
    """How many browsers that are at one replica are taken to another by what they did not ask for: a link, a page of
    another site, whatever its browser says of that or does not, or the file of a page."""
    count, moved = len(every), 0
    for place, other in itertools.permutations(range(1, count + 1), 2):
        code = new_code(other, count)
        theirs, mine = along.proof(code, OTHERS), along.proof(code, MINE)
        elsewhere = along.proof(new_code(other, count), MINE)
        made_up = (f"&go={one}" for one in ("1", "", theirs, elsewhere, mine[:-1], f"{mine}0", mine.upper()))
        parts = (f"{part}?join={code}&go={mine}" for part in ("_stcore/health", "static/js/a.js"))
        asked = [f"?join={code}", f"poll?join={code}", *(f"?join={code}{go}" for go in made_up), *parts]
        for question, site in itertools.product(asked, ("", "cross-site", "same-site", "none", "same-origin")):
            moved += not _stays(address, place, every[place - 1], question, site)
        for phone in ("", f"{PHONE.name}=", f"{PREFIX}{PHONE.name}="):
            question = f"?join={code}&go={along.proof(code, '')}"
            moved += not _stays(address, place, every[place - 1], question, phone=phone)
    return moved


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_room_s_link_leads_to_its_replica_who_is_at_none_or_says_so(count: int, tmp_path: Path) -> None:
    """Phones were spread over all replicas, and a room was at one: most of them found none. Whoever is at one already
    may have a file or a room of their own there."""
    with _balanced(count, tmp_path) as (address, every):
        assert _astray(address, every) == 0
        assert _moved(address, every) == 0
        for no_code in ("?join", "?join=", "?join=2", "?join=23456789A"):
            assert all(_stays(address, place, each, no_code) for place, each in enumerate(every, 1))


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        (" !at_one", ""),
        (" known_phone sent_along", " sent_along"),
        (" known_phone sent_along", " known_phone"),
        ("acl sent_along urlp(go),secure_memcmp(txn.proof)", "acl sent_along urlp(go) -m found"),
        (",secure_memcmp(txn.proof)", ",length,sub(64) eq 0"),
        (" if { path_reg ^/[a-z]*$ }", ""),
    ],
)
def test_a_link_that_takes_people_along_would_be_found_out(part: str, instead: str, tmp_path: Path) -> None:
    with _balanced(2, tmp_path, lambda text: text.replace(part, instead)) as (address, every):
        assert _moved(address, every) > 0


def _given(address: str, question: str, site: str, method: str) -> list[str]:
    """The cookies of the balancer that a browser keeps which sends a form here from another site's page: without the
    one it has, which is for this site alone."""
    headers = {"Sec-Fetch-Site": site} if site else {}
    body = b"a=b" if method == "POST" else None
    asked = urllib.request.Request(f"{address}/{question}", data=body, headers=headers, method=method)
    try:
        answer = urllib.request.urlopen(asked, timeout=PATIENCE)
    except urllib.error.HTTPError as refused:
        answer = refused
    with answer:
        return [one for one in answer.headers.get_all("Set-Cookie") or () if one.startswith(COOKIE)]


@pytest.mark.parametrize("refuses", [True, False], ids=["ours", "as it was"])
def test_a_form_of_another_site_takes_nobody_to_another_replica(refuses: bool, tmp_path: Path) -> None:
    """It brings no cookie, so whoever sent it was somebody new, and was given another replica's, which a room's code in
    it chose: at the next reload the file of their session was gone."""

    def change(text: str) -> str:
        assert "method POST" in text
        return text if refuses else text.replace("method POST ", "method ")

    code = new_code(2, 2)
    with _balanced(2, tmp_path, change) as (address, _):
        for question in ("", "data", f"?join={code}", f"?join={code}&go=1", f"poll?join={code}", "_stcore/health"):
            for site in ("cross-site", "same-site", ""):
                assert bool(_given(address, question, site, "POST")) == (not refuses), (question, site)
            assert _given(address, question, "cross-site", "GET"), "who comes by a link for the first time is at one"


PARTS = ("", "data", "_stcore/stream", "_stcore/upload_file/a/b", "static/js/a.js")
"""A page, its websocket, where it sends a file, and a file of it."""


SIGNS = " \t" + string.punctuation.replace(";", "")
"""What a browser takes in a cookie that somebody has it keep, at the end of its name or within what it says."""


def _within_another(mine: str, others: str, sign: str) -> list[list[str]]:
    """One host's cookie within another's, and signs that may hide a cookie: neither is one."""
    within = [f"x=1{sign}{others}", f"x=1 {sign} {others}", f"x{sign}{others}", f"x={sign}a{sign} {others}"]
    return [[mine, *within], [*within, mine], [f"x={sign}", mine], [f"x={sign}", mine, f"y={sign}"], [mine, sign]]


def _answer(address: str, part: str, cookies: Sequence[str], *, tls: bool) -> tuple[int, list[str]]:
    """Which one answers a part of a page to a browser with these cookies, and the balancer's that it is given."""
    headers = {"Cookie": "; ".join(cookies)} | ({"X-Forwarded-Proto": "https"} if tls else {})
    headers |= {"Connection": "Upgrade", "Upgrade": "websocket"} if part.endswith("stream") else {}
    method = "PUT" if "upload" in part else "GET"
    asked = urllib.request.Request(f"{address}/{part}", headers=headers, method=method)
    with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
        return int(answer.read()), [one for one in answer.headers.get_all("Set-Cookie") or () if COOKIE in one]


def _strays(address: str, every: list[_Replica], *, tls: bool) -> int:
    """How many parts of pages are taken from their replica by cookies that another host, or an answer of plain HTTP,
    had a browser keep for those parts: those that were kept for more of a path are sent first."""
    name, count = OVER_TLS if tls else COOKIE, 0
    for (place, each), part in itertools.product(enumerate(every, 1), PARTS):
        mine, others = f"{name}=r{place}", [f"{COOKIE}=r{1 + place % len(every)}", f"{COOKIE}=r99", f"{COOKIE}="]
        brought = [[*others, mine], [others[0], others[0], "a=b", mine]]
        brought += [way for sign in SIGNS if not part for way in _within_another(mine, others[0], sign)]
        brought += [[mine, *others], [mine, others[0], mine, others[0]]] if tls else []
        for cookies in brought:
            count += _answer(address, part, cookies, tls=tls) != (each.server_port, [])
        if tls:  # the link of a room that leads the neighbour's own phone along, with the cookie of that phone
            code = new_code(1 + place % len(every), len(every))
            along_with = f"?join={code}&go={along.proof(code, OTHERS)}"
            for cookies in ([f"{PHONE.name}={OTHERS}", mine], [mine, f"{PHONE.name}={OTHERS}"]):
                count += _answer(address, along_with, cookies, tls=True) != (each.server_port, [])
    return count


@pytest.fixture(params=["certificate", "proxy"])
def over_tls(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    """HAProxy before two for who speaks TLS with it, or with a proxy before it."""

    def balanced(change: Callable[[str], str] = str) -> Any:
        if request.param == "proxy":
            return _balanced(2, tmp_path, change)

        def with_certificate(text: str) -> str:
            return change(text.replace("X-Forwarded-Proto http ", "X-Forwarded-Proto https "))

        return _balanced(2, tmp_path, with_certificate, "10.1.2.3", OVER_TLS)

    return balanced


def test_over_tls_no_other_host_takes_a_part_of_a_page_to_another_replica(over_tls: Callable[..., Any]) -> None:
    """A page of a neighbour's had a browser keep the balancer's cookie for the path of uploads: no file could be
    brought any more. For all paths, it took people from their file."""
    with over_tls() as (address, every):
        assert _strays(address, every, tls=True) == 0
        ports = {each.server_port: place for place, each in enumerate(every, 1)}
        for part, cookies in itertools.product(PARTS, ([], [f"{COOKIE}=r1"], [f"{COOKIE}=r2"], [f"{OVER_TLS}=r99"])):
            port, given = _answer(address, part, cookies, tls=True)
            assert given == [f"{OVER_TLS}=r{ports[port]}; path=/; HttpOnly; SameSite=Lax; Secure"], (part, cookies)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("part", "instead"),
    [
        (replicas._last(OVER_TLS), replicas._last(COOKIE)),
        (replicas._last(OVER_TLS), f"req.cook({OVER_TLS})"),
        (f"{replicas._last(COOKIE)} if !over_tls", replicas._last(COOKIE)),
        ("-m str https wss", "-m str wss"),
        (f"{replicas._last(PHONE.name)} if !{{ var(txn.tls) -m bool }}", replicas._last(PHONE.name)),
    ],
)
def test_a_cookie_of_another_host_that_counts_would_be_found_out(
    part: str, instead: str, over_tls: Callable[..., Any]
) -> None:
    def change(text: str) -> str:
        assert part in text
        return text.replace(part, instead)

    with over_tls(change) as (address, every):
        assert _strays(address, every, tls=True) > 0


@pytest.mark.parametrize("mutant", [False, True])
def test_without_tls_a_page_s_parts_stay_together_whatever_was_kept_for_some_of_them(
    mutant: bool, tmp_path: Path
) -> None:
    """A cookie that is kept for all paths, as the balancer's own is, is sent last. The first of several once counted
    for some parts and not for others."""

    def change(text: str) -> str:
        last = replicas._last(COOKIE)
        assert last in text
        return text.replace(last, "req.fhdr(Cookie),word(1,;),field(2,=)") if mutant else text

    with _balanced(2, tmp_path, change) as (address, every):
        assert (_strays(address, every, tls=False) > 0) == mutant


@pytest.mark.parametrize(
    "line", ["use-server", "http-response add-header Set-Cookie", "http-request set-var(txn.proof)"]
)
def test_a_link_that_leads_astray_would_be_found_out(line: str, tmp_path: Path) -> None:
    def without(text: str) -> str:
        return "\n".join(each for each in text.splitlines() if not each.strip().startswith(line)) + "\n"

    with _balanced(2, tmp_path, without) as (address, every):
        assert _astray(address, every) > 0


def test_the_link_of_a_room_whose_replica_died_leads_to_another(tmp_path: Path) -> None:
    """Whose page says so (``tests/poll/test_codes.py``)."""
    with _balanced(2, tmp_path) as (address, every):
        every[0].shutdown()
        every[0].server_close()
        question, other = f"?join={new_code(1, 2)}", every[1].server_port
        _until(lambda: _sent(address, question, "r1") == (other, "r2"))


def _begins(address: str, cookie: str = "") -> str:
    """At which replica a visitor is answered, within a second; "" where they wait."""
    request = urllib.request.Request(address, headers={"Cookie": f"{COOKIE}={cookie}"} if cookie else {})
    try:
        with urllib.request.urlopen(request, timeout=1.0) as answer:
            given = re.search(rf"{COOKIE}=(\w+)", "".join(answer.headers.get_all("Set-Cookie") or ()))
            return given.group(1) if given else cookie
    except OSError:
        return ""


@pytest.mark.thorough
@pytest.mark.parametrize("mutant", [False, True])
def test_nobody_new_begins_at_a_replica_that_stands_still_which_keeps_its_visitors(
    mutant: bool, tmp_path: Path
) -> None:
    """With the fewest connections it was given everybody who came, until it was taken for down."""

    def change(text: str) -> str:
        return re.sub("\n *use_backend newcomers.*", "", text) if mutant else text

    with _balanced(3, tmp_path, change) as (address, every):
        assert {_begins(address) for _ in range(6)} == {"r1", "r2", "r3"}
        every[0].awake.clear()
        time.sleep(6.0)
        asked = [question for question in ("", "?join=", "?join=ABC") for _ in range(4)]
        begun = {_begins(f"{address}/{question}") for question in asked}  # what is no code leads to no room
        assert begun == ({"", "r2", "r3"} if mutant else {"r2", "r3"})
        assert _begins(address, "r2") == "r2"
        assert _begins(address, "r1") == "", "it may be busy, and has their files"
        every[0].awake.set()
        _until(lambda: _begins(address, "r1") == "r1")
        _until(lambda: {_begins(address) for _ in range(6)} == {"r1", "r2", "r3"})


@pytest.mark.thorough
@pytest.mark.parametrize("stands", [False, True])
def test_a_room_and_a_server_alone_are_found_whatever_the_others_do(stands: bool, tmp_path: Path) -> None:
    """Whose room is at a replica that stands still waits for it; where all of them do, everybody does."""
    with _balanced(2, tmp_path) as (address, every):
        question = f"?join={new_code(1, 2)}"
        every[1 if not stands else 0].awake.clear()
        time.sleep(5.0)
        found = _begins(f"{address}/{question}")
        assert found == ("" if stands else "r1")
        every[1 if stands else 0].awake.clear()
        time.sleep(5.0)
        assert _begins(address) == ""
        for each in every:
            each.awake.set()
        _until(lambda: {_begins(address) for _ in range(4)} == {"r1", "r2"})


@pytest.mark.thorough
def test_a_replica_that_stands_still_is_given_up_after_some_fifteen_seconds(tmp_path: Path) -> None:
    """It took twice as long as was said; what answers after ten seconds is busy, and keeps its visitors."""
    with _balanced(2, tmp_path) as (address, every):
        every[0].awake.clear()
        time.sleep(10.0)
        every[0].awake.set()
        _until(lambda: _begins(address, "r1") == "r1")
        every[0].awake.clear()
        since = time.monotonic()
        assert _replica(address, "r1") == "r2"
        assert 7.0 < time.monotonic() - since < 25.0


@pytest.mark.parametrize("count", [1, 2, 3, 64])
@pytest.mark.parametrize("said", ["", "1000"])
def test_replicas_together_hold_no_more_than_one_may(count: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of two once took three fifths of the memory that their container had."""
    for name in ("EPSILON_LAB_MEMORY_ALL", "EPSILON_LAB_UPLOADS"):
        monkeypatch.setenv(name, said)
    monkeypatch.setattr(machine_memory, "given", lambda: 4 << 30)
    alone = (machine_memory.for_files(count), uploads.most_together())
    for name, value in replicas.shares(count).items():
        monkeypatch.setenv(name, value)
    started = (all_held.most(), uploads.most_together())
    for each, most in zip(started, alone, strict=True):
        assert most - (count << 20) < count * each <= most


def test_what_a_replica_is_started_with_are_its_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[dict[str, str]] = []

    def start(replica: replicas.Replica) -> None:
        started.append(replica.environment)
        raise KeyboardInterrupt  # nothing is to run here

    monkeypatch.setattr(replicas, "balancer", lambda: "haproxy")
    monkeypatch.setattr(replicas.Replica, "start", start)
    monkeypatch.setattr(replicas.signal, "signal", lambda *_: None)
    monkeypatch.setattr(replicas.output, "apart", lambda: None)
    with pytest.raises(KeyboardInterrupt):
        replicas.serve(3, port=8000, address="127.0.0.1", hosts=())
    assert started[0] == started[0] | replicas.shares(3) | {"EPSILON_LAB_REPLICAS": "3", "EPSILON_LAB_REPLICA": "1"}


def test_a_wrong_number_and_a_missing_balancer_are_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--replicas", "0"]) == 2
    assert main(["serve", "--replicas", "2", "--certificate", "/nowhere.pem"]) == 2
    monkeypatch.delenv("EPSILON_LAB_HAPROXY", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(replicas, "_PLACES", ())
    assert main(["serve", "--replicas", "2"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in told] == ["epsilon-lab"] * 3
    assert replicas.MISSING in told[2]


@pytest.mark.parametrize("alone", [True, False], ids=["ours", "as it was"])
def test_a_second_balancer_at_a_port_ends(alone: bool, tmp_path: Path) -> None:
    """Where what started the first was killed both listened, each before replicas of its own of the same names, so that
    every other connection of a page went to where its session was not."""
    port, file = free_port(), tmp_path / "haproxy.cfg"
    text = replicas.configuration([free_port()], port=port, address="127.0.0.1", files=2_000)
    assert "    noreuseport\n" in text
    file.write_text(text if alone else text.replace("    noreuseport\n", ""))
    command, running = [replicas.balancer(), "-db", "-f", str(file)], []
    try:
        for _ in range(2):
            running.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
            _until(lambda: _is_open(port))
        if alone:
            assert running[1].wait(PATIENCE) != 0
            assert running[0].poll() is None
        else:
            listening = f":{port:04X} 00000000:0000 0A"
            _until(lambda: Path("/proc/net/tcp").read_text().count(listening) == 2)
    finally:
        for each in running:
            each.terminate()
            each.wait(PATIENCE)


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::1", "::"])  # noqa: S104 - for a moment
def test_a_port_that_is_taken_is_one_sentence(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before anything is started, whoever has it and however they listen."""
    monkeypatch.setattr(replicas, "balancer", lambda: "haproxy")
    monkeypatch.setattr(replicas.Replica, "start", lambda _: pytest.fail("it was started"))
    monkeypatch.setattr(replicas.signal, "signal", lambda *_: None)
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        taken.bind((address, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["serve", "--replicas", "2", "--port", str(port), "--address", address]) == 2
    assert capsys.readouterr().err.splitlines() == [f"epsilon-lab: {replicas.TAKEN.format(port)}"]


@pytest.mark.thorough
def test_visitors_of_a_replica_that_dies_go_on_at_another(tmp_path: Path) -> None:
    """Two replicas and one ledger on PostgreSQL; one of them is killed."""
    with private_server() as server:
        url = server.url("postgres")
        key = str(tmp_path / "ledger.key")
        environment = os.environ | {"EPSILON_LAB_KEY": key, "HOME": str(tmp_path), "EPSILON_LAB_WARM_UP": "0"}
        environment |= {"EPSILON_LAB_LEDGER": url, "XDG_DATA_HOME": str(tmp_path)}
        port = free_port()
        made = [sys.executable, "-m", "dashboard", "ledger", "init"]
        subprocess.run(made, cwd=ROOT, env=environment, check=True, capture_output=True)
        log = tmp_path / "log"
        command = [sys.executable, "-m", "dashboard", "serve", "--replicas", "2", "--port", str(port)]
        with log.open("w") as opened:
            manager = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=opened, stderr=opened)
        try:
            _story(f"http://127.0.0.1:{port}", log)
        finally:
            manager.terminate()
            assert manager.wait(PATIENCE) == 0
        assert "Traceback" not in log.read_text()


def _story(address: str, log: Path) -> None:
    _until(lambda: {_replica(address, "") for _ in range(4)} == {"r1", "r2"})  # both are well
    _closed(address)
    for name in ("r1", "r2"):
        assert _replica(address, name) == name, "who began there stays there"
        asyncio.run(_visit(address, name))
    asyncio.run(_rooms(address, log))
    _until(lambda: _visits(address, "r1"))
    assert len(re.findall("replica r1 ", log.read_text())) >= 2, "it was started again"


async def _rooms(address: str, log: Path) -> None:
    """A room at each replica: every phone finds both by their links, until one replica dies and its room with it."""
    desks = {name: Window(address, "poll", "", f"{COOKIE}={name}") for name in ("r1", "r2")}
    codes = {}
    for name, desk in desks.items():
        await desk.arrive()
        await desk.click("poll-open")
        codes[name] = next(found.group() for text in desk.text if (found := re.search(r"\w{4}-\w{4}(?=`)", text)))
    for name, cookie in itertools.product(codes, ("", "r1", "r2")):
        assert await _finds(address, codes[name], cookie) == (name, True)
    os.kill(_process(log, "r1"), signal.SIGKILL)
    _until(lambda: _replica(address, "r1") == "r2")
    phone = Window(address, "", f"join={codes['r1']}&go=1", f"{COOKIE}=r2")
    await phone.arrive()
    assert poll_words.WITH_ITS_SERVER in phone.text
    await phone.leave()
    assert await _finds(address, codes["r2"], "r1") == ("r2", True)
    for desk in desks.values():
        await desk.leave()


async def _finds(address: str, code: str, cookie: str) -> tuple[str, bool]:
    """Where the link of a room leads a browser with this cookie, and the link of the page that then asks, and whether
    the page that follows is the room's."""
    phone, begun = f"{PHONE.name}={secrets.token_hex(16)}", cookie
    if cookie:  # where that one is down a browser begins at another, and keeps its cookie
        begun = await asyncio.to_thread(_replica, address, cookie)
    asks = Window(address, "", f"join={code}", f"{COOKIE}={begun}; {phone}")
    await asks.arrive()
    await asks.leave()
    link = asks.links[0] if asks.links else f"?join={code}"
    request = urllib.request.Request(f"{address}/{link}", headers={"Cookie": f"{COOKIE}={begun}; {phone}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        given = re.search(rf"{COOKIE}=(\w+)", "".join(answer.headers.get_all("Set-Cookie") or ()))
    place = given.group(1) if given else begun
    room = Window(address, "", f"join={code}", f"{COOKIE}={place}; {phone}")
    await room.arrive()
    found = "poll-vote-0" in room.widgets
    await room.leave()
    return place, found


def _closed(address: str) -> None:
    """What the server itself leaves open is closed for who comes through the balancer."""
    asked = (("/_stcore/metrics", {}, 404), ("//_stcore/metrics", {}, 404), ("/_stcore/metrics/", {}, 404))
    for path, headers, status in (*asked, ("/", {"Host": "evil.example"}, 421)):
        with pytest.raises(urllib.error.HTTPError, match=str(status)):
            urllib.request.urlopen(urllib.request.Request(address + path, headers=headers), timeout=PATIENCE)
    with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
        assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
        assert answer.headers["Server"] is None
    for origin in ("http://localhost:9999", "http://evil.example", "null"):
        with pytest.raises(websockets.InvalidStatus, match="403"):
            asyncio.run(_visit(address, "", origin=origin))


def _replica(address: str, cookie: str) -> str:
    """By which replica a visitor with this cookie is answered; "" where there is none."""
    request = urllib.request.Request(address, headers={"Cookie": f"{COOKIE}={cookie}"})
    try:
        answer: HTTPResponse
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            given = re.search(rf"{COOKIE}=(\w+)", "".join(answer.headers.get_all("Set-Cookie") or ()))
    except OSError:
        return ""
    return given.group(1) if given else cookie


def _visits(address: str, cookie: str) -> bool:
    """Whether a page connects; one that does not tries again, as a browser's does."""
    try:
        asyncio.run(_visit(address, cookie))
    except (OSError, websockets.WebSocketException):
        return False
    return True


async def _visit(address: str, cookie: str, *, origin: str = "") -> None:
    """A page by its websocket, through the balancer, as one of ``origin`` would open it: something is drawn."""
    told = {"Cookie": f"{COOKIE}={cookie}"}
    async with opened(address, origin=origin, additional_headers=told) as connection:
        await connection.send(BackMsg(rerun_script=BackMsg().rerun_script).SerializeToString())
        assert await asyncio.wait_for(connection.recv(), PATIENCE)


def _process(log: Path, name: str) -> int:
    return int(re.findall(rf"replica {name} at port \d+ is process (\d+)", log.read_text())[-1])


def _until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.2)
