"""Nobody can work out the address of a file that another person's page offers for saving."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.runtime import Runtime
from streamlit.runtime import memory_media_file_storage as storage
from streamlit.runtime.media_file_storage import MediaFileKind

from dashboard import server
from dashboard.serving import failures, media
from tests.put_back import changed_in_streamlit

FILE = (b"option,chance\nflu,0.4\n", "text/csv", "selection.csv")


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    changed_in_streamlit()


def test_a_file_lies_under_no_plain_digest_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = storage._calculate_file_id(*FILE)
    media.guard()
    first = storage._calculate_file_id(*FILE)
    assert first == storage._calculate_file_id(*FILE)  # a page that is drawn again finds it
    assert len({plain, first, storage._calculate_file_id(FILE[0] + b".", *FILE[1:])}) == 3
    monkeypatch.setattr(media, "_SECRET", b"of another process")
    assert storage._calculate_file_id(*FILE) not in (plain, first)
    kept = storage.MemoryMediaFileStorage("/media")
    name = kept.load_and_get_id(FILE[0], FILE[1], MediaFileKind.DOWNLOADABLE, FILE[2])
    assert name not in (plain, first)
    assert kept.get_file(f"{name}.csv").content == FILE[0]


LARGE = storage._PARTIAL_HASH_THRESHOLD + 500_001
PLACES = [0, 66_000, LARGE // 3, LARGE // 2, 2 * LARGE // 3, LARGE - 66_000, LARGE - 1]


def _others(place: int) -> bool:
    """Whether whoever saves a large file that is another in one byte is handed somebody else's."""
    kept, mine = storage.MemoryMediaFileStorage("/media"), bytearray(LARGE)
    kept.load_and_get_id(bytes(mine), "text/html", MediaFileKind.DOWNLOADABLE, "page.html")
    mine[place] = 1
    name = kept.load_and_get_id(bytes(mine), "text/html", MediaFileKind.DOWNLOADABLE, "page.html")
    return kept.get_file(f"{name}.html").content != bytes(mine)


def test_nobody_is_handed_a_file_that_is_only_much_like_theirs() -> None:
    """Every interactive page is five megabytes, all but the same: two people's differed in what was not compared."""
    assert [place for place in PLACES if _others(place)], "Streamlit's own names would do by now"
    media.guard()
    assert not [place for place in PLACES if _others(place)]
    names = [("a", "bc"), ("ab", "c"), ("a", None), ("a", "null")]
    assert len({storage._calculate_file_id(b"", mimetype, name) for mimetype, name in names}) == len(names)


def test_a_server_that_begins_is_guarded(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(failures, "keep_values_from_the_log", lambda: None)
    monkeypatch.setattr(server, "raise_file_limit", lambda: 0)
    monkeypatch.setattr(server.safe_path, "keep", lambda: None)

    async def through() -> Any:
        async with server.begun(server.app):
            return storage._calculate_file_id

    assert asyncio.run(through()) is media._keyed
    assert capsys.readouterr().out


def test_what_a_test_leaves_changed_is_found_and_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert changed_in_streamlit() == []
    media.guard()
    failures.keep_values_from_the_log()
    monkeypatch.setattr(Runtime, "_instance", object())
    found = ["the server of this process", "the names of files", "what the log leaves out", "what a line of the log is"]
    assert changed_in_streamlit() == found
    assert changed_in_streamlit() == []
