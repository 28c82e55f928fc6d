"""Bytes that are not what they seem, and what ends a cell."""

from __future__ import annotations

from dpcore.datasets import Reading
from tests.datasets.cases.table import case, names, notice, refused, rows, typed

HEAD = "name;town;value\n"
GERMAN = HEAD + "Müller;Köln;1,5\nJäger;Düsseldorf;2,5\nGroß;Fürth;3,25\n"
POLISH = "imię;miasto\nŁukasz;Łódź\nŻaneta;Gdańsk\nMałgorzata;Wrocław\n"
JAPANESE = "名前,都市\n山田太郎,東京\n鈴木花子,大阪\n佐藤次郎,京都\n"


@case("encoding", "UTF-8 with a byte-order mark", b"\xef\xbb\xbf" + GERMAN.encode())
def _(reading: Reading) -> None:
    assert names(reading) == ["name", "town", "value"]
    assert rows(reading)[0] == ("Müller", "Köln", "1,5")
    assert reading.report.encoding == "utf-8"


@case(
    "encoding",
    "UTF-16 'Unicode text' of a spreadsheet",
    GERMAN.replace(";", "\t").replace("\n", "\r\n").encode("utf-16"),
)
def _(reading: Reading) -> None:
    assert rows(reading)[1] == ("Jäger", "Düsseldorf", "2,5")
    assert reading.report.delimiter == "\t"
    assert reading.report.encoding_certain


@case("encoding", "cp1252", "nom;ville\nBénédicte;Orléans\nNoël;Nîmes\n€5;à côté\n".encode("cp1252"))
def _(reading: Reading) -> None:
    assert rows(reading) == [("Bénédicte", "Orléans"), ("Noël", "Nîmes"), ("€5", "à côté")]
    assert reading.report.encoding == "cp1252"
    assert not reading.report.encoding_certain
    assert {each.value for each in reading.report.alternatives} >= {"cp1252", "cp1250"}


@case("encoding", "cp1252 that no other reading contradicts", GERMAN.encode("cp1252"))
def _(reading: Reading) -> None:
    assert rows(reading)[2] == ("Groß", "Fürth", "3,25")
    assert reading.report.encoding_certain


@case("encoding", "cp1250", POLISH.encode("cp1250"))
def _(reading: Reading) -> None:
    assert rows(reading)[0] == ("Łukasz", "Łódź")
    assert not reading.report.encoding_certain


@case("encoding", "cp932", JAPANESE.encode("cp932"))
def _(reading: Reading) -> None:
    assert names(reading) == ["名前", "都市"]
    assert rows(reading)[0] == ("山田太郎", "東京")


refused("encoding", "mixed", GERMAN.encode() + "Schröder;Nürnberg;4\n".encode("cp1252"), "mixes UTF-8")
refused("encoding", "NUL", b"a,b\n1,2\n3,\x004\n", "Line 3 holds a NUL")


@case("encoding", "invalid bytes", b"a,b\nx\xff,1\ny,2\n")
def _(reading: Reading) -> None:
    assert len(reading.frame) == 2
    assert not reading.report.encoding_certain


@case("dialect", "semicolon", GERMAN)
def _(reading: Reading) -> None:
    assert reading.report.delimiter == ";"
    assert rows(reading)[0] == ("Müller", "Köln", "1,5")


@case("dialect", "tab", "a\tb\n1,2\tx\n3,4\ty\n")
def _(reading: Reading) -> None:
    assert rows(reading) == [("1,2", "x"), ("3,4", "y")]


@case("dialect", "pipe", "a|b|c\n1|x, y|3\n4|z|5\n")
def _(reading: Reading) -> None:
    assert rows(reading) == [("1", "x, y", "3"), ("4", "z", "5")]


@case("dialect", "sep= line", "sep=;\r\na;b\r\n1,5;2\r\n3,5;4\r\n")
def _(reading: Reading) -> None:
    assert rows(reading) == [("1,5", "2"), ("3,5", "4")]
    assert reading.report.header_lines == (2,)


@case("dialect", "CR only", "a,b\r1,2\r3,4\r")
def _(reading: Reading) -> None:
    assert rows(reading) == [("1", "2"), ("3", "4")]


@case("dialect", "mixed line ends", "a,b\r\n1,2\n3,4\r\n5,6\n")
def _(reading: Reading) -> None:
    assert rows(reading) == [("1", "2"), ("3", "4"), ("5", "6")]


# Whether a carriage return alone ends a line is asked; until a person says so, it stands in a cell.
refused("dialect", "a return alone", "a,b\r\n1,2\n3,4\r5,6\n", "Line 3 has 3 cells where the table has 2 columns")


@case("dialect", "quoted newline", 'a,b\n1,"two\nlines"\n2,x\n')
def _(reading: Reading) -> None:
    assert rows(reading) == [("1", "two\nlines"), ("2", "x")]
    assert reading.lines.tolist() == [2, 4]


@case("dialect", "doubled quotes", 'a,b\n1,"say ""hi"", she said"\n2,x\n')
def _(reading: Reading) -> None:
    assert rows(reading)[0] == ("1", 'say "hi", she said')


@case("dialect", "quotes after a backslash", 'a,b\n1,"say \\"hi\\", she said"\n2,"x"\n')
def _(reading: Reading) -> None:
    assert rows(reading)[0] == ("1", 'say "hi", she said')
    assert notice(reading, "backslash").what == "noticed"


@case("dialect", "one column of text with commas", "remark\nfine\nslow, but friendly\nvery, very, very good\nok\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["remark"]
    assert rows(reading)[2] == ("very, very, very good",)


@case("dialect", "one column of decimal commas", "value\n1,5\n2,5\n3,25\n")
def _(reading: Reading) -> None:
    assert typed(reading, "value") == [1.5, 2.5, 3.25]


@case("dialect", "blanks between cells", "a b c\n1 2 3\n4 5 6\n")
def _(reading: Reading) -> None:
    assert rows(reading) == [("1", "2", "3"), ("4", "5", "6")]
    assert notice(reading, "apart by blanks")


refused("dialect", "unclosed quote", 'a,b\n1,"x\n2,y\n3,z\n', "opened on line 2 is never closed")
refused("dialect", "text after a closing quote", 'a,b\n1,"x" y\n2,y\n', "Line 2 has text after a closing")
refused("dialect", "ragged rows", "a,b\n1,2\n3,4,5\n6,7\n", "Line 3 has 3 cells where the table has 2")
refused("dialect", "decimal commas not quoted", "a,b\n1,5,2\n2,5,3\n3,5,4\n", "heading on line 1 has 2 names")


@case("dialect", "one ragged row among many", "a,b\n" + "1,2\n" * 300 + "3,4,five\n" + "6\n" + "1,2\n" * 300)
def _(reading: Reading) -> None:
    assert len(reading.frame) == 601
    assert notice(reading, "more cells").lines == (302,)
    assert notice(reading, "more cells").texts == ("3 4 five",)
    assert notice(reading, "fewer cells").lines == (303,)


@case("dialect", "trailing delimiter", "a,b,\n1,2,\n3,4,\n")
def _(reading: Reading) -> None:
    assert names(reading) == ["a", "b"]
    assert rows(reading) == [("1", "2"), ("3", "4")]
    assert notice(reading, "Empty columns").what == "repaired"
