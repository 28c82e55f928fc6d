"""Text from a file cannot act: on a page, in a chart, in a spreadsheet."""

from __future__ import annotations

import csv
import html
import io
import re

import pandas as pd
import pytest

from dpcore.datasets import text as module
from dpcore.datasets.text import (
    UNSEEN,
    plain_html,
    plain_markdown,
    plain_sentence,
    safe_cells,
    safe_csv,
    skeleton,
    spreadsheet_safe,
    visible,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ä 日本", "plain ä 日本"),
        ("a\u202egpj.exe", "a⟨U+202E⟩gpj.exe"),
        ("b\u200bc\ufeff", "b⟨U+200B⟩c⟨U+FEFF⟩"),
        ("x\u2066y\u2069", "x⟨U+2066⟩y⟨U+2069⟩"),
        ("one\ntwo\tthree", "one¶two→three"),
        ("nul\x00 bell\x07", "nul⟨U+0000⟩ bell⟨U+0007⟩"),
        ("nb\u00a0sp", "nb⟨U+00A0⟩sp"),
        ("\ud800", "⟨U+D800⟩"),
    ],
)
def test_unseen_characters_are_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


BLANK = [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164, *range(0xFE00, 0xFE10), 0xFFA0]
BLANK += [
    0x00AD,
    0x061C,
    *range(0x200B, 0x2010),
    *range(0x2060, 0x2065),
    *range(0x2066, 0x2070),
    0xFEFF,
    0x16FE4,
    0x1D159,
    0xE0001,
    0xE0041,
]
BLANK += [0xE0100, 0xE01EF, 0x2000, 0x3000]


def test_no_sign_that_looks_like_nothing_makes_a_name_look_like_another() -> None:
    """A subject ``olga`` with one of them was shown as ``olga``."""
    for code in BLANK:
        for name in (f"olga{chr(code)}", f"ol{chr(code)}ga", f"{chr(code)}olga"):
            assert visible(name) == name.replace(chr(code), f"⟨U+{code:04X}⟩")
            assert chr(code).isspace() or skeleton(name) == skeleton("olga")
    for seen in ("é", "e\u0301", "olga at https://login.example", "日本", "한국", "ก็", "☕", "☀\ufe0f", "🏷\ufe0f"):
        assert visible(seen) == seen


def test_long_text_is_cut() -> None:
    assert visible("x" * 80) == "x" * 80
    assert visible("x" * 81) == "x" * 79 + "…"
    assert len(visible("\u202e" * 10_000)) < 400


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "<img src=x onerror=a()>", '"><b>', "a & b"])
def test_markup_is_escaped(text: str) -> None:
    for escaped in (plain_html(text), plain_markdown(text)):
        assert "<" not in escaped
        assert ">" not in escaped
        assert '"' not in escaped


def test_markdown_is_escaped() -> None:
    escaped = plain_markdown("![x](http://e) **b** `c` $y$ :red[z] # h ~s~ | 1. - _i_")
    for sign in r"*_`[]()#!|~$:":
        assert all(escaped[place - 1] == "\\" for place, c in enumerate(escaped) if c == sign)


FOUND = (r":material[_/]\w+:", r":streamlit:", r":[\w+-]+:", r":[^\W\d_][\w-]*", r"://", r"www\.", r"\w@\w",
         r"(^|\s)(<->|->|<-|--|>=|<=|~=)(\s|$)")  # fmt: skip
"""What Streamlit's page looks for in a text whose escapes are gone, and makes something else of."""
ACTING = (":material/check:", ":material_check:", ":streamlit:", ":smile:", ":+1:", ":-1:", ":100:", "left :red",
          "a:small", ":green-badge", "::name", ":::name", ":é", "a -> b", "<->", "<- a", "a -- b", ">=", "a <= b",
          "~= 3", "http://e", "www.e", "a@e.f", ":color[x]{foreground=red}", ":help[x]", "a:blue[b]:c")  # fmt: skip


@pytest.mark.parametrize("name", ACTING)
def test_nothing_is_found_in_a_name_once_its_escapes_are_gone(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Escaping keeps Markdown from acting on a sign; icons, emoji and arrows are looked for in what it leaves."""

    def left(markdown: str) -> str:
        return html.unescape(re.sub(r"\\([^A-Za-z0-9\s])", r"\1", markdown))

    for way in (plain_markdown, plain_sentence):
        for text in (name, f"The name “{name}” is taken.", f"The name {name} is taken", f"{name}:", f"{name} :"):
            assert left(way(text)).replace(UNSEEN, "") == text
            assert not [one for one in FOUND if re.search(one, left(way(text)))], text
    monkeypatch.setattr(module, "_ACTING", re.compile("(?!)"))
    assert any(re.search(one, left(plain_markdown(name))) for one in FOUND)


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", " =", "\n=", "＝"])
def test_cells_that_start_like_a_formula_are_disarmed(start: str) -> None:
    assert str(spreadsheet_safe(start + "1+1")).startswith("'")


def test_other_cells_are_left_alone() -> None:
    assert spreadsheet_safe("a=b") == "a=b"
    assert spreadsheet_safe(-5.0) == -5.0
    assert spreadsheet_safe(None) is None
    assert spreadsheet_safe("nul\x00") == "nul"


def test_exports_are_safe_and_keep_numbers() -> None:
    frame = pd.DataFrame({"=name": ["=1+1", "ok, fine"], "n": [-1.5, 2.0], "c": pd.Categorical(["@x", "y"])})
    rows = list(csv.reader(io.StringIO(safe_csv(frame))))
    assert rows == [["'=name", "n", "c"], ["'=1+1", "-1.5", "'@x"], ["ok, fine", "2.0", "y"]]


def test_tables_with_a_button_to_save_them_are_safe_and_show_numbers_as_they_are() -> None:
    texts = ['=HYPERLINK("http://e")', "-0.31", "-1+cmd|' /C calc'!A0", " +x", "plain", "-"]
    frame = pd.DataFrame({"=name": texts, "n": [-1.5] * 6, "c": pd.Categorical(["@x", *"abcde"])}, index=range(3, 9))
    shown = safe_cells(frame)
    assert list(shown.columns) == ["'=name", "n", "c"]
    assert [str(cell)[:2] for cell in shown["'=name"]] == ["'=", "-0", "'-", "' ", "pl", "'-"]
    assert list(shown["n"]) == [-1.5] * 6
    assert shown["c"][0] == "'@x"
    assert safe_cells(pd.DataFrame([])).empty


def test_look_alikes_share_a_skeleton() -> None:
    assert skeleton("age") == skeleton("аge") == skeleton("Age ") == skeleton("a\u200bge") == skeleton("ａｇｅ")
    assert skeleton("first_name") == skeleton("first name")
    assert skeleton("age") != skeleton("wage")
