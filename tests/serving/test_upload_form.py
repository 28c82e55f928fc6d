"""An uploaded file comes in the form that a browser sends, alone: any other, which is taken apart letter by
letter while nobody else is answered, is refused before that."""

from __future__ import annotations

import asyncio
import errno
import io
import os
import random
import tempfile
from collections.abc import Callable
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from dashboard.serving import gate, open_files, plain_requests, uploads
from dashboard.serving.gate import Gate
from dashboard.serving.upload_form import OnePart, mark_of
from dashboard.words import server as words

HOST = (b"host", b"localhost")
KIND = b"multipart/form-data; boundary="
SENT = {
    "Chromium and Safari": b"----WebKitFormBoundary7MA4YWxkTrZu0gW1",
    "Firefox": b"----geckoformboundary8a5c2b7e1f60943d8a5c2b7e1f60943d",
    "Firefox before": b"-----------------------------41184676334",
    "requests": b"8f14e45fceea167a5a36dedd4bea2543",
    "curl": b"------------------------d74496d66958873e",
}
HEAD = b'Content-Disposition: form-data; name="f"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n'


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "is_host_allowed", lambda host: True)


class Taken:
    """Takes a form apart as Streamlit does, and notes each piece that came to be taken apart."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.files: list[bytes] = []
        self.told = b""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def noted() -> Any:
            message = await receive()
            self.pieces.append(bytes(message["body"]))
            return message

        try:
            form = await Request(scope, noted).form()
            status = 200
            self.files += [await one.read() for one in form.values() if not isinstance(one, str)]
            await form.close()
        except HTTPException as error:
            status = error.status_code
        except MultiPartException:
            status = 400
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def put(body: bytes, kind: bytes | None, piece: int = 1 << 16) -> tuple[int, Taken, int]:
    """The answer to a file in a form, what was taken apart of it, and how many pieces were read."""
    taken, sent, read = Taken(), [], 0
    left = [body[at : at + piece] for at in range(0, len(body), piece)]
    here, more = Gate(taken), [] if kind is None else [(b"content-type", kind)]

    async def receive() -> Any:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": left.pop(0) if left else b"", "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/_stcore/upload_file/s/1", "method": "PUT", "headers": [HOST, *more]}
    asyncio.run(here({**scope, "client": ("10.0.0.1", 1)}, receive, send))
    assert not here._uploads._arriving
    taken.told = b"".join(message["body"] for message in sent[1:])
    return int(sent[0]["status"]), taken, read


def form(file: bytes, between: bytes, head: bytes = HEAD) -> bytes:
    return b"--" + between + b"\r\n" + head + file + b"\r\n--" + between + b"--\r\n"


@pytest.mark.parametrize("who", SENT)
@pytest.mark.parametrize("piece", [1, 7, 61, 1 << 16])
def test_a_file_comes_through_whole_as_browsers_send_it(who: str, piece: int) -> None:
    """Also one that holds nearly what stands around it, wherever the pieces of it end."""
    between = SENT[who]
    for file in (b"", b"a,b\r\n1,2\r\n", b"\r\n--" + between[:-1], b"\r\n--" * 9, bytes(range(256)), b"-" * 300):
        status, taken, _ = put(form(file, between), KIND + between, piece)
        assert (status, taken.files) == (200, [file])
    assert put(form(b"a", between), KIND + b'"' + between + b'"', piece)[0] == 200


NO_KIND = {
    "a letter": KIND + b"x",
    "fifteen letters": KIND + b"x" * 15,
    "seventy-one letters": KIND + b"x" * 71,
    "none": b"multipart/form-data",
    "empty": KIND,
    "other signs": KIND + b'"' + b"\xe9" * 20 + b'"',
    "a letter set": KIND + b"x" * 20 + b"; charset=idna",
    "another form": b"application/x-www-form-urlencoded",
    "another kind of parts": b"multipart/mixed; boundary=" + b"x" * 20,
    "text": b"text/csv",
    "nothing said": None,
}


@pytest.mark.parametrize("kind", NO_KIND)
def test_a_kind_that_no_browser_sends_is_refused_before_anything_is_read(kind: str) -> None:
    status, taken, read = put(form(b"a", b"x" * 20), NO_KIND[kind])
    assert (status, taken.pieces, read) == (400, [], 0)


LONG = SENT["Chromium and Safari"]
SLOW: dict[str, Callable[[bytes], bytes]] = {
    "nearly its end": lambda mark: HEAD + (b"\r\n" + mark + b"-x") * 500,
    "nearly a line": lambda mark: HEAD + (b"\r\n" + mark + b"\rx") * 500,
    "nearly a part": lambda mark: HEAD + (b"\r\n" + mark + b"x") * 500,
    "blanks": lambda mark: HEAD + b"\r\n" + mark + b" " * 9000,
    "tabs": lambda mark: HEAD + b"\r\n" + mark + b"\t" * 9000,
    "parts": lambda mark: (HEAD + b"\r\n" + mark + b"\r\n") * 60,
    "files": lambda mark: (HEAD + b"x" * 1000 + b"\r\n" + mark + b"\r\n") * 60,
    "heads": lambda mark: (b"a:\r\n" * 6 + HEAD + b"\r\n" + mark + b"\r\n") * 60,
}


def seen(body: bytes, between: bytes, piece: int) -> tuple[int, int, int]:
    """The answer to such a form, how often what stands between parts came to be taken apart, and how many bytes."""
    status, taken, _ = put(body, KIND + between, piece)
    came = b"".join(taken.pieces)
    return status, came.count(b"--" + between), len(came)


@pytest.mark.parametrize("how", SLOW)
@pytest.mark.parametrize("between", [LONG, b"-" * 16, b"-" * 70, b"ab" * 20], ids=["chance", "few", "many", "again"])
def test_what_is_slow_to_take_apart_is_refused_as_soon_as_it_shows(
    how: str, between: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty files in one form held sixty descriptors, and the letters of others kept everybody waiting."""
    mark = b"--" + between
    body = mark + b"\r\n" + SLOW[how](mark) + b"\r\n" + mark + b"--\r\n"
    for piece in (100, 1000):
        status, marks, came = seen(body, between, piece)
        assert (status, marks <= 2, came < 3000) == (400, True, True)
    monkeypatch.setattr(OnePart, "goes_on_with", lambda *_: True)
    assert seen(body, between, 1000)[2] >= len(body) - 1000 > 3000, "all of it is taken apart where nobody looks"


def told_otherwise(one: type[OnePart]) -> list[tuple[list[bytes], bool]]:
    """Forms in pieces of which it is told otherwise than of the whole whether they have one part."""
    draw, mark, found = random.Random(3), b"--aXaXaXaXaXaXaXaXaY", []
    for _ in range(600):
        text = b"".join(draw.choices([mark, mark[:-1], mark[:3], b"\r\n", b"--", b" ", b"x"], k=draw.randrange(9)))
        behind = [text[at + len(mark) :][:1] for at in range(len(text)) if text.startswith(mark, at)]
        right = len(behind) <= 2 and all(place in b"\r-" for place in behind)
        cuts = sorted(draw.choices(range(len(text) + 1), k=4))
        pieces = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        here = one(mark)
        if all([here.goes_on_with(piece) for piece in pieces]) != right:  # noqa: C419 - all of them are sent
            found.append((pieces, right))
    return found


def test_parts_are_counted_wherever_the_pieces_end() -> None:
    assert not told_otherwise(OnePart)

    class Forgetting(OnePart):
        def goes_on_with(self, piece: bytes) -> bool:
            self._rest = b""
            return super().goes_on_with(piece)

    assert told_otherwise(Forgetting)


class Full(io.BytesIO):
    """A file on a disk that has room for its name, and no more."""

    def write(self, _: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def none_made(*_: Any, **__: Any) -> Any:
    raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))


@pytest.mark.parametrize("made", [none_made, lambda *_, **__: Full()], ids=["no file is made", "nothing is written"])
def test_a_file_that_the_disk_does_not_take_is_a_sentence(
    made: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A large one lies on the disk on its way: three words of Streamlit's came back, or nothing."""
    large = form(b"1,2\r\n" * (1 << 18), LONG)
    with monkeypatch.context() as patch:
        patch.setattr(tempfile, "TemporaryFile", made)
        status, taken, _ = put(large, KIND + LONG)
        assert (status, taken.told.decode()) == (507, words.NOT_TAKEN_BY_DISK)
        assert len([one for one in caplog.messages if "a file was not taken" in one]) == 1
        assert put(form(b"1,2\r\n", LONG), KIND + LONG)[0] == 200, "a small one needs no room there"
    assert put(large, KIND + LONG)[0] == 200


def test_what_is_no_fault_of_the_disk_s_is_none_of_its_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(OnePart, "goes_on_with", fails)
    with pytest.raises(ZeroDivisionError):
        put(form(b"1", LONG), KIND + LONG)


def test_few_files_of_one_address_are_on_their_way_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each holds a connection and a file on the disk. Others have places, and descriptors are left."""
    monkeypatch.setattr(uploads, "FILES_AT_ONCE", 10)
    found = asyncio.run(at_once([f"10.0.0.{who}" for who in [1] * 12 + [2] * 3]))
    assert found == [200] * 8 + [503] * 4 + [200] * 2 + [503]
    monkeypatch.setattr(open_files, "files_open", lambda: open_files.raise_file_limit())
    assert asyncio.run(at_once(["10.0.0.1"])) == [503]
    monkeypatch.setattr(uploads.Uploads, "_has_place", lambda *_: True)
    assert asyncio.run(at_once(["10.0.0.1"] * 12)) == [200] * 12, "as many as are sent, where nobody counts"


@pytest.mark.parametrize(("seconds", "looked"), [(0.0, 1), (0.5 * open_files.LOOKED, 10)])
def test_how_many_files_are_open_is_looked_at_once_in_a_while(
    monkeypatch: pytest.MonkeyPatch, seconds: float, looked: int
) -> None:
    """It is work for each that is open, and every page and file asks; none is taken for open for long."""
    clock, seen = [0.0], []
    monkeypatch.setattr(open_files.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(open_files, "files_open", lambda: seen.append(clock[0]) or 10**9)  # type: ignore[func-returns-value]
    left = open_files.Left()
    for _ in range(20):
        clock[0] += seconds
        assert left.few()
    assert len(seen) == looked
    clock[0] += open_files.LOOKED
    monkeypatch.setattr(open_files, "files_open", lambda: 0)
    assert not left.few()


def test_bytes_of_a_file_are_more_work_than_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are gone through, kept and handed on: 6 ms of this process a megabyte, where sending takes 2."""

    def work() -> list[float]:
        made: list[float] = []
        with monkeypatch.context() as changed:
            changed.setattr(plain_requests, "in_turn", lambda work, _: made.append(work) or asyncio.sleep(0))  # type: ignore[func-returns-value]
            put(form(b"x" * 1_000_000, LONG), KIND + LONG)
        return made

    assert sum(work()) > plain_requests.BRINGING + plain_requests.A_FILE
    monkeypatch.setattr(gate, "A_FILE", 1.0)
    monkeypatch.setattr(gate, "BRINGING", 1.0)
    assert sum(work()) < 3.0, "as before"


async def at_once(addresses: list[str]) -> list[int]:
    """The answers to files that are on their way together."""
    go = asyncio.Event()

    async def waits(scope: Any, receive: Any, send: Any) -> None:
        await go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    here = Gate(waits)

    async def one(number: int, address: str) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "path": f"/_stcore/upload_file/{number}/1", "method": "PUT", "client": (address, 1)}
        await here({**scope, "headers": [HOST, (b"content-type", KIND + LONG)]}, None, send)  # type: ignore[arg-type]
        return int(sent[0]["status"])

    tasks = [asyncio.create_task(one(number, address)) for number, address in enumerate(addresses)]
    for _ in range(5):
        await asyncio.sleep(0)
    go.set()
    return list(await asyncio.gather(*tasks))


def test_the_sentence_says_what_to_do() -> None:
    assert words.NOT_AS_A_BROWSER.endswith("choose the file again.")
    assert mark_of(None) is None
    assert mark_of((KIND + LONG).decode()) == b"--" + LONG
