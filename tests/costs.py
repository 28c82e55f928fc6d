"""What tests cost: ``pytest -p tests.costs`` ends with the processor seconds of each folder, file and test.

Seconds of processor, not of a clock: they are the same on a busy machine. What a test's servers, browsers and other
processes took is part of its cost, and so is what it set up first for all that follow. Linux only. A browser that is
closed takes what its own children used out of the sum, so a test is measured when it has run and when all has ended,
and the larger counts.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

TICK = os.sysconf("SC_CLK_TCK")
COST = "processor seconds"
SHOWN = 40


def spent() -> float:
    """User and system time of this process and of all that it started, living or ended, in seconds."""
    parent, ticks = {}, {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        parent[int(file.parent.name)] = int(fields[1])
        ticks[int(file.parent.name)] = sum(map(int, fields[11:15]))
    own, found = {os.getpid()}, 1
    while found:
        more = {one for one, by in parent.items() if by in own and one not in own}
        own, found = own | more, len(more)
    return sum(ticks[one] for one in own) / TICK


class Costs:
    """Notes each test's cost in its report and, where the reports are gathered, adds them up."""

    def __init__(self) -> None:
        self.before = self.called = spent()
        self.of: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if report.when == "call":
            self.called = spent()
        if report.when == "teardown":
            now = spent()
            # a browser that ends with a file's last test takes what its children used out of the sum
            report.user_properties.append((COST, round(max(now, self.called) - self.before, 2)))
            self.before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self.of[report.nodeid] += sum(float(str(value)) for name, value in report.user_properties if name == COST)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        say = terminalreporter.write_line
        terminalreporter.section(f"{sum(self.of.values()):.0f} {COST}")
        for part in (1, 2, 3):
            sums: defaultdict[str, float] = defaultdict(float)
            for name, cost in self.of.items():
                file, _, test = name.partition("::")
                sums["/".join(file.split("/")[:2]) if part == 1 else file if part == 2 else f"{file}::{test}"] += cost
            for name, cost in sorted(sums.items(), key=lambda one: -one[1])[:SHOWN]:
                say(f"{cost:8.1f}  {name}")
            say("")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Costs())
