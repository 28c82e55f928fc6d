"""Reports as files: every question built, opened by readers that had no part in writing them, and hostile names."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from functools import cache
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import docx
import pytest
from docx.oxml.ns import qn
from pypdf import PdfReader
from pypdf.generic import DictionaryObject
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from streamlit.typing import UploadedFile

from dashboard.report import panel, text
from dashboard.report.logo import bare, pixels
from dashboard.report.pdf import settable
from dashboard.report.render import MIMES, piece_of, rendered
from dashboard.report.value import Drawing, Facts, Grid, Heading, Paragraph, Part, Report, Section, plain
from dashboard.words import report as said
from dpcore.datasets.apart.passes import passes
from tests.report.made import KINDS, form, of_sample, own_source, report, section, twin_source, visits

NAMES = [key for _, key in KINDS]
SMALL = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 4 4"><rect width="4" height="4"/></svg>'
HOSTILE = (
    '#eval("1+1") $x^2$ *b* _i_ <lab> @ref `raw` // c /* d */ \\ ]',
    '</w:t></w:r><w:p/>&lt;&amp;]]>"\x01',
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "=cmd|'/c calc'!A1",
    "\u202egnp.exe\u2066\u200b مرحبا 日本語 \U0001f600",
    "a\n# heading\n'''\nraise SystemExit(9)\n\"\"\"",
    "![p](http://q.r/x.png) [l](javascript:x) **b** :red[ink] epsilon-lab-seal  " + "0" * 64,
)


def pages(data: bytes) -> list[str]:
    return [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages]


def flat(told: str) -> str:
    """Without blanks, hyphens at line ends and ligatures, as lines break where they like."""
    return re.sub(r"[\s\u00ad]+", "", told.replace("ﬁ", "fi").replace("ﬂ", "fl").replace("ﬀ", "ff").replace("ﬃ", "ffi"))


def document_text(data: bytes) -> str:
    found = docx.Document(io.BytesIO(data))
    cells = [cell.text for table in found.tables for row in table.rows for cell in row.cells]
    heads = [line.text for page in found.sections for line in (*page.header.paragraphs, *page.footer.paragraphs)]
    return "\n".join([*(line.text for line in found.paragraphs), *cells, *heads])


class Page(HTMLParser):
    """The text of a web page, its tags and their attributes."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.text, self.tags, self.attributes = "", list[str](), list[tuple[str, str | None]]()
        self.feed(data.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def said_by(parts: tuple[Part, ...]) -> list[str]:
    """What every form must say: headings, sentences, and each cell of each table."""
    found: list[str] = []
    for part in parts:
        match part:
            case Heading():
                found.append(part.text)
            case Paragraph():
                found.append(plain(part.line))
            case Grid():
                found += [cell for row in part.rows for cell in row]
            case Facts():
                found += [told for name, line in part.rows for told in (name, plain(line))]
    return found


def tagged(data: bytes) -> list[tuple[str, DictionaryObject]]:
    """The elements of a PDF's structure, in order."""
    found: list[tuple[str, DictionaryObject]] = []

    def walk(node: Any) -> None:
        node = node.get_object() if hasattr(node, "get_object") else node
        if isinstance(node, list):
            for child in node:
                walk(child)
        elif isinstance(node, DictionaryObject):
            if "/S" in node:
                found.append((str(node["/S"]), node))
            if "/K" in node:
                walk(node["/K"])

    walk(PdfReader(io.BytesIO(data)).trailer["/Root"]["/StructTreeRoot"])
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("key", NAMES)
def test_every_form_says_what_the_report_says(key: str) -> None:
    found = of_sample(next(page for page, known in KINDS if known == key), key)
    wanted = [told for told in said_by(found.parts) if told.strip()]
    assert len(wanted) > 60
    forms = {
        "pdf": flat("".join(pages(form(key, "pdf")))),
        "docx": flat(document_text(form(key, "docx"))),
        "html": flat(Page(form(key, "html")).text),
    }
    for ending, whole in forms.items():
        lost = [told for told in wanted if flat(told) not in whole]
        # a sentence that goes over the end of a page is cut by the page's foot and head
        assert len(lost) <= (3 if ending == "pdf" else 0), (ending, lost)
        assert flat(said.MARKS["sample"]) in whole
    assert 2 <= len(pages(form(key, "pdf"))) <= 4


@pytest.mark.thorough
@pytest.mark.parametrize("key", NAMES)
def test_the_pdf_is_tagged_for_who_does_not_see_it(key: str) -> None:
    data = form(key, "pdf")
    root = PdfReader(io.BytesIO(data)).trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    assert root["/Lang"] == "en"
    assert root["/ViewerPreferences"]["/DisplayDocTitle"]
    assert b"<pdfuaid:part>1</pdfuaid:part>" in root["/Metadata"].get_data()
    elements = tagged(data)
    kinds = [kind for kind, _ in elements]
    assert [kind for kind in kinds if kind in ("/H1", "/H2", "/H3")][:2] == ["/H1", "/H2"]
    assert kinds.count("/Table") >= 3
    assert kinds.count("/TH") >= 6
    figures = [node for kind, node in elements if kind == "/Figure"]
    assert figures
    assert all(any(sign.isdigit() for sign in str(node["/Alt"])) for node in figures)
    found = pages(data)
    assert all(f"Page {place + 1} of {len(found)}" in page for place, page in enumerate(found))


def test_the_document_has_headings_alternative_texts_and_heads_of_tables() -> None:
    found = docx.Document(io.BytesIO(form("most_common", "docx")))
    assert [line.style.name for line in found.paragraphs if line.style.name.startswith("Heading")][:3] == [
        "Heading 1",
        "Heading 2",
        "Heading 3",
    ]
    drawn = [shape._inline.docPr.get("descr") for shape in found.inline_shapes]
    assert len(drawn) == 1
    assert "Permute and flip" in drawn[0]
    assert all(table.rows[0]._tr.trPr.xpath("w:tblHeader") for table in found.tables)
    assert "PAGE" in found.sections[0].footer._element.xml


def test_the_web_page_needs_nothing_else() -> None:
    page = Page(form("most_common", "html"))
    assert "script" not in page.tags
    assert not [name for name, _ in page.attributes if name in ("src", "href") or name.startswith("on")]
    assert ("role", "img") in page.attributes
    assert "default-src 'none'" in form("most_common", "html").decode().replace("&#x27;", "'")


def test_the_picture_shows_the_chosen_point_and_the_lines_of_the_page() -> None:
    found = of_sample("selection", "most_common")
    (drawn,) = [part for part in found.parts if isinstance(part, Drawing)]
    assert drawn.svg.count("<circle") == 1
    assert drawn.svg.count("<path") >= 5
    for name in ("Permute", "Exponential", "goal set: 95", "more privacy"):
        assert name in drawn.svg


# -- the mark ----------------------------------------------------------------------------------------------------------


@cache
def own(kind: str) -> Section:
    source, data = own_source(visits()) if kind == "what_if" else twin_source()
    return section("selection", "most_common", source, data)


@pytest.mark.parametrize(("kind", "name"), [("what_if", "not-private-do-not-publish"), ("twin", "simulated")])
def test_the_mark_is_on_every_page_and_in_the_name(kind: str, name: str) -> None:
    found = report(own(kind))
    assert found.file_name.startswith(name)
    assert "visits" not in found.file_name
    mark = flat(said.MARKS[kind])
    for page in pages(rendered(found, "pdf")[1]):
        assert mark in flat(page)
    heads = docx.Document(io.BytesIO(rendered(found, "docx")[1])).sections
    assert all(flat(part.header.paragraphs[0].text) == mark for part in heads)
    for ending in ("html", "ipynb", "py"):
        assert mark[:20] in flat(rendered(found, ending)[1].decode().replace("\\\\", ""))


@pytest.mark.thorough
def test_one_page_that_must_not_be_published_marks_them_all() -> None:
    clean = of_sample("selection", "most_common")
    mixed = report(clean, own("what_if"), own("twin"))
    assert mixed.file_name.startswith("not-private")
    whole = rendered(mixed, "pdf")[1]
    found = pages(whole)
    assert len(found) >= 6
    assert b"<pdfuaid:part>1" in PdfReader(io.BytesIO(whole)).trailer["/Root"]["/Metadata"].get_data()
    assert all(said.MARKS["what_if"] in page for page in found)
    assert all(said.MARKS["what_if"] not in page for page in pages(rendered(report(clean), "pdf")[1]))
    parts = docx.Document(io.BytesIO(rendered(mixed, "docx")[1])).sections
    assert [part.header.paragraphs[0].text for part in parts] == [said.MARKS["what_if"]] * 3
    alike = report(clean, own("twin"))
    told = [part.header.paragraphs[0].text for part in docx.Document(io.BytesIO(rendered(alike, "docx")[1])).sections]
    assert told == [said.MARKS["sample"], said.MARKS["twin"]]


def test_where_bounds_came_from_is_said() -> None:
    whole = document_text(rendered(report(own("what_if")), "docx")[1])
    assert "“complaint”: 3 options (declared by a person)" in whole
    sample = document_text(form("most_common", "docx"))
    assert "(part of the sample's description)" in sample


# -- what a person's table may be called -------------------------------------------------------------------------------


def hostile(name: str) -> Report:
    parts: tuple[Part, ...] = (
        Heading(text.words(name)[0].text),
        Paragraph(text.words(name)),
        Grid(head=("a", name), rows=((name, "1"),), caption=name),
        Facts(rows=((name, text.words(name)),), caption=name, boxed=True),
        Drawing(svg=SMALL, width=4, height=4, alt=text.words(name)[0].text, caption=text.words(name)),
    )
    told = text.words(name)[0].text
    found = Section(kind="sample", key="x", title=told, parts=parts, code="found = {}", numbers=())
    return report(found, title=told, author=told)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_only_ever_characters(name: str) -> None:
    found = hostile(name)
    shown = flat(text.words(name)[0].text)
    page = Page(rendered(found, "html")[1])
    assert page.text.count("alert(") == name.count("alert(") * page.text.count(text.words(name)[0].text)
    assert not {"script", "img"} & set(page.tags)
    whole = document_text(rendered(found, "docx")[1])
    assert shown in flat(whole)
    assert "".join(pages(rendered(found, "pdf")[1])).strip()
    if name.isascii() and name.isprintable():
        assert shown in flat("".join(pages(rendered(found, "pdf")[1])))
    lines = rendered(found, "py")[1].decode().splitlines()
    assert all(line.startswith("#") for line in lines if text.words(name)[0].text in line)
    compile("\n".join(lines), "script", "exec")
    cells = json.loads(rendered(found, "ipynb")[1])["cells"]
    prose = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    assert not re.search(r"(?<!\\)(\*\*|\]\(|<[a-z]|\$|`)", prose)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_in_markdown_stay_names(name: str) -> None:
    from dashboard import words

    line = text.line(f"The **private** answer is “{words.safe(name, 400)}”.")
    assert plain(line) == f"The private answer is “{words.visible(name, 400)}”."
    assert [run.text for run in line if run.strong] == ["private"]


def test_a_file_with_hostile_headings_is_reported_whole() -> None:
    from dpcore.datasets import Column, Schema

    column = HOSTILE[0]
    rows = "\n".join(("<b>x</b>", "**y**", "$z$")[n % 3] for n in range(60))
    schema = Schema(columns=(Column(name=column, type="category", categories=("$z$", "**y**", "<b>x</b>")),))
    quoted = '"' + column.replace('"', '""') + '"'
    source, data = own_source(f"{quoted}\n{rows}\n".encode(), "**=bad**.csv", schema)
    found = section("selection", "most_common", source, data)
    assert column in found.title
    for ending in MIMES:
        assert rendered(report(found), ending)[1]
    assert flat(column) in flat(document_text(rendered(report(found), "docx")[1]))


def test_a_report_without_a_seal_says_so() -> None:
    found = report(of_sample("selection", "quantile"), sealed=False)
    forms = {
        "pdf": "".join(pages(rendered(found, "pdf")[1])),
        "docx": document_text(rendered(found, "docx")[1]),
        "html": Page(rendered(found, "html")[1]).text,
    }
    for ending, whole in forms.items():
        assert flat(said.UNSEALED) in flat(whole), ending
    assert flat(said.UNSEALED) not in flat(Page(form("quantile", "html")).text)


# -- the value ---------------------------------------------------------------------------------------------------------


def test_equal_reports_are_equal_files() -> None:
    first, second = report(own("what_if")), report(own("what_if"))
    assert first.digest == second.digest
    assert first.digest != report(own("what_if"), author="B").digest
    for ending in ("pdf", "docx"):
        assert rendered(first, ending) == rendered(second, ending)
    assert rendered(first, "docx")[1] != rendered(report(own("what_if"), author="B"), "docx")[1]


def test_a_report_has_sections_and_not_too_many() -> None:
    one = of_sample("selection", "quantile")
    with pytest.raises(ValueError, match="1 to 100"):
        report()
    with pytest.raises(ValueError, match="1 to 100"):
        report(*[one] * 101)


def test_a_document_of_sections_that_were_written_by_themselves_is_the_same() -> None:
    found = report(*(of_sample(page, key) for page, key in KINDS[:3]))
    pieces = [piece_of(None, section) for section in found.sections]
    whole = rendered(found, "docx")[1]
    assert rendered(found, "docx", pieces)[1] == whole
    assert rendered(found, "docx", pieces[::-1])[1] != whole
    document = docx.Document(io.BytesIO(whole))
    ids = [one.get("id") for one in document.element.body.iter(qn("wp:docPr"))]
    pictures = [picture for piece in pieces for picture in piece.pictures]
    assert len(set(ids)) == len(ids) == len(pictures) > 2, "no two pictures are one"
    shown = [document.part.related_parts[one.get(qn("r:embed"))] for one in document.element.body.iter(qn("a:blip"))]
    assert [one.image.blob for one in shown] == pictures  # type: ignore[attr-defined]


def test_a_logo_is_a_picture_or_refused() -> None:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (40, 20), "navy").save(stream, "PNG")
    logo = stream.getvalue()
    assert settable(logo)
    assert not settable(logo[:60])
    assert not settable(b"<svg onload=x>")
    found = report(of_sample("selection", "quantile"), logo=logo)
    assert len(PdfReader(io.BytesIO(rendered(found, "pdf")[1])).pages[0].images) == 1
    assert len(docx.Document(io.BytesIO(rendered(found, "docx")[1])).inline_shapes) == 2
    assert b"data:image/png;base64," in rendered(found, "html")[1]


def file(data: bytes) -> UploadedFile:
    """As the page gets it from a browser."""
    return UploadedFile(UploadedFileRec("1", "logo", "image/png", data), FileURLs())


def test_no_logo_is_decoded_in_the_server_s_own_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is where visitors' files are, by the same function; the server only hears whether it can be set."""
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (40, 20), "navy").save(stream, "PNG")
    logo, told, kept = stream.getvalue(), list[str](), list[bytes]()
    monkeypatch.setattr("typst.compile", lambda *_, **__: pytest.fail("it was decoded here"))
    monkeypatch.setattr(panel.session, "say", lambda _, sentence: told.append(sentence))
    monkeypatch.setattr(panel.held, "LOGO", SimpleNamespace(put=kept.append))
    for brought in (logo, logo[:60], logo):
        monkeypatch.setattr(panel.session, "entered", lambda *_, found=brought: file(found))
        panel._brought("place")
    assert (kept, told) == ([logo, logo], [said.BAD_LOGO])
    monkeypatch.setattr(panel, "READERS", SimpleNamespace(takes=passes))
    with pytest.raises(pytest.fail.Exception):
        panel._brought("place")


def pictured(kind: str, **how: Any) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.radial_gradient("L").resize((60, 40)).convert("RGB").save(stream, kind, **how)
    return stream.getvalue()


def chunk(name: bytes, body: bytes) -> bytes:
    return len(body).to_bytes(4) + name + body + zlib.crc32(name + body).to_bytes(4)


def segment(marker: int, body: bytes) -> bytes:
    return bytes((0xFF, marker)) + (len(body) + 2).to_bytes(2) + body


LARGE = zlib.compress(bytes(20_000_000), 9)
BESIDE = {
    "a profile": ("PNG", chunk(b"iCCP", b"icc\0\0" + LARGE)),
    "a text": ("PNG", chunk(b"zTXt", b"text\0\0" + LARGE)),
    "a text of any letters": ("PNG", chunk(b"iTXt", b"text\0\1\0\0\0" + LARGE)),
    "more pictures": ("PNG", chunk(b"acTL", (2).to_bytes(4) + bytes(4))),
    "a profile of a JPEG": ("JPEG", segment(0xE2, b"ICC_PROFILE\0\1\1" + LARGE)),
    "a thumbnail": ("JPEG", segment(0xE1, b"Exif\0\0" + LARGE)),
    "a comment": ("JPEG", segment(0xFE, LARGE)),
}


@pytest.mark.parametrize("what", BESIDE)
def test_what_lies_beside_a_logo_is_never_unpacked(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile of half a megabyte unfolds to half a gigabyte, of which a worker kept ten."""
    kind, more = BESIDE[what]
    plain = bare(pictured(kind))
    place = 33 if kind == "PNG" else 2
    brought = plain[:place] + more + plain[place:]
    kept: list[bytes] = []
    monkeypatch.setattr(panel.held, "LOGO", SimpleNamespace(put=kept.append))
    monkeypatch.setattr(panel.session, "entered", lambda *_: file(brought))
    panel._brought("place")
    assert kept == [plain]
    monkeypatch.setattr("typst.compile", lambda *_, **__: pytest.fail("it was decoded"))
    assert not settable(brought)


@pytest.mark.parametrize("how", [{}, {"progressive": True}, {"optimize": True}, {"dpi": (72, 72), "comment": b"x"}])
@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_bare_logo_is_the_same_picture(kind: str, how: dict[str, Any]) -> None:
    from PIL import Image

    picture = pictured(kind, **how)
    alone = bare(picture)
    with Image.open(io.BytesIO(picture)) as one, Image.open(io.BytesIO(alone)) as other:
        assert one.tobytes() == other.tobytes()
    assert bare(alone) == alone
    assert settable(alone)
    assert bare(picture + b"and more") == alone
    assert not bare(picture[:-20])


@pytest.mark.parametrize(
    "first",
    [
        b"",
        segment(0xEE, b"Adobe\0\x64\0\0\0\0\1"),
        segment(0xE0, b"JFIF\0\1\1\1\0\0\0\0\0\0"),
        segment(0xE1, b"Exif\0\0"),
    ],
    ids=["nothing", "Adobe's", "no density", "a camera's"],
)
def test_every_form_of_a_report_takes_a_logo_that_is_taken(first: bytes) -> None:
    """A document of Word's was not written beside some pictures, and no form of the report at all."""
    usual = pictured("JPEG")
    at = 4 + int.from_bytes(usual[4:6])
    logo = bare(usual[:2] + first + usual[at:])
    assert settable(logo)
    found = report(of_sample("selection", "quantile"), logo=logo)
    assert len(docx.Document(io.BytesIO(rendered(found, "docx")[1])).inline_shapes) == 2
    assert len(PdfReader(io.BytesIO(rendered(found, "pdf")[1])).pages[0].images) == 1


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_logo_of_too_many_pixels_is_refused_before_anything_decodes_it(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of 20,000 times 20,000 pixels has 48 kB and unfolds to hundreds of megabytes."""
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (40, 20), "navy").save(stream, kind, progressive=True)
    small = bare(stream.getvalue())
    size = (40).to_bytes(4) + (20).to_bytes(4) if kind == "PNG" else (20).to_bytes(2) + (40).to_bytes(2)
    large = (20_000).to_bytes(len(size) // 2) * 2
    assert small.count(size) == 1
    assert pixels(small) == 800
    assert settable(small)
    decoded: list[str] = []
    monkeypatch.setattr("typst.compile", lambda *_, **__: decoded.append("one"))
    assert not settable(small.replace(size, large))
    if kind == "JPEG":  # a small frame before the large one, or a thumbnail, hides nothing
        assert not settable(small[:-2] + small.replace(size, large))
    assert not decoded
    assert settable(small)
    assert decoded


def test_a_document_is_a_package_without_times() -> None:
    with zipfile.ZipFile(io.BytesIO(form("quantile", "docx"))) as parts:
        assert {part.date_time for part in parts.infolist()} == {(1980, 1, 1, 0, 0, 0)}
