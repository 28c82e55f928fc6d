"""Non-interference of the pages in short: what is offered of a release is the same on neighbouring files.

``python -m benchmarks.audit`` does the same on more neighbours and with other choices.
"""

from __future__ import annotations

import ast
import inspect

import pytest

from benchmarks.audit import __main__ as audit
from benchmarks.audit.pages import PAGE_HOLES, check_page, check_unspoken, kinds
from benchmarks.audit.server import CHECKS, SERVER_HOLES, check_server
from dpcore.audit import __main__ as engine_audit
from dpcore.audit import telling
from dpcore.audit.holes import HOLES


@pytest.mark.thorough
@pytest.mark.parametrize("name", kinds())
def test_what_a_page_offers_is_the_same_on_neighbouring_files(name: str) -> None:
    verdict = check_page(name, most=0, every=60, settings=0)
    assert verdict.good, verdict
    assert verdict.pairs >= 10


@pytest.mark.thorough
@pytest.mark.parametrize("name", kinds())
def test_what_a_page_offers_does_not_hang_on_columns_that_nobody_declared(name: str) -> None:
    verdict = check_unspoken(name, every=4)
    assert verdict.good, verdict
    assert verdict.pairs >= 6


@pytest.mark.thorough
@pytest.mark.parametrize("hole", PAGE_HOLES, ids=lambda hole: hole.name)
def test_every_hole_of_the_pages_is_found_again(hole) -> None:
    assert not hole.dug().good


@pytest.mark.thorough
@pytest.mark.parametrize("check", CHECKS)
def test_a_server_keeps_hands_out_and_draws_nothing_of_a_file(check: str) -> None:
    assert check_server(check).good


@pytest.mark.thorough
@pytest.mark.parametrize("hole", SERVER_HOLES.values(), ids=lambda hole: hole.name)
def test_every_hole_of_the_server_is_found_again(hole) -> None:
    assert not check_server(hole.check, hole.within).good


def test_every_hole_of_the_list_is_dug() -> None:
    dug = {name.split()[0] for name in (*(hole.name for hole in (*HOLES, *PAGE_HOLES)), *SERVER_HOLES)}
    assert {str(number) for number in (1, 2, 3, 4, 5, 8, 10, 11, 12, 13, 14)} <= dug


def test_the_audits_workers_can_import_what_they_do() -> None:
    """What is handed to worker processes lives in a module of its own: a spawned process cannot import ``__main__``."""
    handed = [
        (module, call.args[0].id)
        for module in (audit, engine_audit, telling)
        for call in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "imap"
        if isinstance(call.args[0], ast.Name)
    ]
    assert len(handed) >= 8
    assert not [name for module, name in handed if getattr(module, name).__module__.endswith("__main__")]
