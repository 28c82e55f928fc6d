"""How the soak judges a server's log. What it does to three replicas is ``make reliability``."""

from __future__ import annotations

from benchmarks.reliability.soak import troubles

FAILED = """\
Epsilon Lab: http://127.0.0.1:1/
Traceback (most recent call last):
  File "a.py", line 1, in one
    x()
  File "b.py", line 2, in two
    y()
TypeError: no
[NOTICE] haproxy is well
defect 00AA while drawing a page: KeyError at c.py:3 three
"""


def test_what_must_not_be_in_a_log_is_found_with_its_place() -> None:
    assert troubles(FAILED) == [
        'Traceback (most recent call last): | File "a.py", line 1, in one | File "b.py", line 2, in two '
        "| TypeError: no",
        "defect 00AA while drawing a page: KeyError at c.py:3 three",
    ]
    assert troubles("Epsilon Lab: replica r1 at port 1 is process 2\n[ALERT] Server replicas/r1 is DOWN\n") == []
