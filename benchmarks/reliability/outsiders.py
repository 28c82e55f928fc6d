"""People who send what no page sends: files, links and messages, by the protocol that a page speaks with its server."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import http.client
import io
import math
import zipfile
from collections import Counter
from urllib.parse import quote_from_bytes

import numpy as np
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.people import Person

TROUBLE = (OSError, TimeoutError, websockets.WebSocketException, http.client.HTTPException)
"""What becomes of a connection whose server refuses it, or was killed."""


def _archive(content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", content)
    return made.getvalue()


FILES: tuple[bytes, ...] = (
    b"",
    b"\x00" * 1000,
    b"a,b\n1,2\n3\n",
    b'a,b\n"1,2\n',
    b"a" * 200_000,
    b",".join([b"x"] * 600) + b"\n",
    b"PAR1" + b"\xff" * 300 + b"PAR1",
    b"[" * 50_000,
    b'{"a": [1, {"b": NaN}]}',
    b"\xff\xfe" + bytes(range(256)) * 20,
    gzip.compress(bytes(1 << 20)) * 64,
    _archive(b"a,b\n" + b"1,2\n" * 500_000),
    _archive(b"a,b\n1,2\n")[:-30],
    "name,Größe\nÄ,1\n".encode("latin-1") * 50,
    b"a;b\n=cmd|' /C calc'!A0;<script>alert(1)</script>\n" * 20,
)
LINKS: tuple[str, ...] = (
    "epsilon=nan&data=%00%ff",
    "epsilon=-1e999&n=1e308&data=nowhere",
    "deck=" + "%7b" * 2000,
    "scene=9999999999999999999&deck=five_minutes",
    "question=%22%3E%3Cscript%3E&tab=%F0%9F",
    "&".join(f"k{number}=v" for number in range(2000)),
    "embed=true&present=1&notes=1&phone=../../etc/passwd",
    "whose=all&data=own&epsilon=∞",
)
_BETWEEN = b"0123456789abcdef0123456789abcdef"
"""What stands around a file that is sent."""
PAGES = ("start", "data", "selection", "thresholding", "experts", "training", "budget", "poll", "demos", "../x")
VALUES = (("string_value", "abc"), ("json_value", "{{"), ("double_value", math.nan), ("double_value", 1e308))


class Outsider(Person):
    """One of them; ``sent`` counts what they sent by kind."""

    def __init__(self, address: str, page: str, rng: np.random.Generator, sent: Counter[str]) -> None:
        super().__init__(address, page)
        self._rng, self._sent = rng, sent
        self._uploader = ""

    def saw(self, element: object) -> None:
        kind = getattr(element, "file_uploader", None)
        if kind is not None and "own-upload" in kind.id:
            self._uploader = kind.id

    async def bother(self) -> None:
        """One bad thing, whichever; a page that does not finish is left."""
        kind = ("link", "message", "value", "file", "unasked file")[int(self._rng.integers(5))]
        with contextlib.suppress(RuntimeError):  # the page tells its sender that it was sent something odd
            await getattr(self, "_" + kind.replace(" ", "_"))()
        self._sent[kind] += 1

    async def _link(self) -> None:
        asked, chance = BackMsg(), bytes(self._rng.integers(0, 256, 60, dtype=np.uint8))
        chosen = [*LINKS, f"epsilon={quote_from_bytes(chance)}", quote_from_bytes(chance, safe="&=")]
        asked.rerun_script.query_string = str(self._rng.choice(chosen))
        self._page_hash, self.page = "", str(self._rng.choice(PAGES))
        await self._run(asked)

    async def _message(self) -> None:
        widgets = BackMsg()
        for number in range(3000):
            widgets.rerun_script.widget_states.widgets.add(id=f"$$ID-{number}-x", string_value="y" * 50)
        odd: list[BackMsg | bytes | str] = [
            "text",
            bytes(self._rng.integers(0, 256, 300, dtype=np.uint8)),
            b"",
            BackMsg(clear_cache=True),
            BackMsg(debug_shutdown_runtime=True),
            BackMsg(load_git_info=True),
            widgets,
        ]
        message = odd[int(self._rng.integers(len(odd)))]
        await self._connection.send(message.SerializeToString() if isinstance(message, BackMsg) else message)
        if not isinstance(message, BackMsg):  # the server hangs up
            await self.leave()
            await self.arrive()

    async def _value(self) -> None:
        asked = BackMsg()
        widget = asked.rerun_script.widget_states.widgets.add(id=self._epsilon)
        field, value = VALUES[int(self._rng.integers(len(VALUES)))]
        setattr(widget, field, value)
        await self._run(asked)

    async def _unasked_file(self) -> None:
        for _ in range(5):
            await self._put("nobody-asked", FILES[int(self._rng.integers(len(FILES)))])

    async def _file(self) -> None:
        """Through the uploader of the Data page, so that it is read."""
        self._page_hash, self.page, self._uploader = "", "data", ""
        await self._run(BackMsg())
        if not self._uploader:
            return
        data = FILES[int(self._rng.integers(len(FILES)))]
        url, file_id, delete = await self._place()
        await self._put(file_id, data, url)
        asked = BackMsg()
        state = asked.rerun_script.widget_states.widgets.add(id=self._uploader).file_uploader_state_value
        one = state.uploaded_file_info.add(file_id=file_id, name="table.csv", size=len(data))
        one.file_urls.file_id, one.file_urls.upload_url, one.file_urls.delete_url = file_id, url, delete
        await self._run(asked)

    async def _place(self) -> tuple[str, str, str]:
        """Where the server would take a file, by which id, and where it would be removed."""
        asked = BackMsg()
        asked.file_urls_request.request_id = "1"
        asked.file_urls_request.file_names.append("table.csv")
        await self._connection.send(asked.SerializeToString())
        while True:
            told = ForwardMsg()
            told.ParseFromString(await asyncio.wait_for(self._connection.recv(decode=False), 60))
            if told.WhichOneof("type") == "file_urls_response":
                urls = told.file_urls_response.file_urls[0]
                return urls.upload_url, urls.file_id, urls.delete_url

    async def _put(self, file_id: str, data: bytes, url: str = "") -> None:
        """Some are cut off in the middle."""
        if not url:
            url = (await self._place())[0].rsplit("/", 1)[0] + f"/{file_id}{self._rng.integers(99)}"
        response = self._connection.response
        replica = "" if response is None else response.headers.get("Set-Cookie", "").split(";")[0]
        await asyncio.to_thread(_sent, self.address, url, data, replica, cut=bool(self._rng.random() < 0.2))


def _sent(address: str, url: str, data: bytes, replica: str, *, cut: bool) -> None:
    head = b'Content-Disposition: form-data; name="f"; filename="table.csv"'
    body = b"--" + _BETWEEN + b"\r\n" + head + b"\r\n\r\n" + data + b"\r\n--" + _BETWEEN + b"--\r\n"
    connection = http.client.HTTPConnection(address.split("//")[1], timeout=30)
    try:
        connection.request("GET", "/_stcore/health", headers={"Cookie": replica})
        answer = connection.getresponse()
        answer.read()
        given = [value for name, value in answer.getheaders() if name.lower() == "set-cookie" and "xsrf" in value]
        if not given:
            return  # no replica is there at this moment
        token = given[0].split(";")[0]
        connection.putrequest("PUT", url)
        for name, value in (
            ("Content-Type", f"multipart/form-data; boundary={_BETWEEN.decode()}"),
            ("Content-Length", str(len(body))),
            ("Cookie", f"{replica}; {token}"),
            ("X-Xsrftoken", token.split("=", 1)[1]),
        ):
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(body[: len(body) // 2] if cut else body)
        if not cut:
            connection.getresponse().read()
    finally:
        connection.close()
