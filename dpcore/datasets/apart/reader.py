"""One reading, in the process that was made for it: the file comes in, the table or one sentence goes out."""

from __future__ import annotations

import io
import json
import os
import signal
import tempfile
from pathlib import Path

from dpcore.datasets import temporary
from dpcore.datasets.apart.confined import confine
from dpcore.datasets.apart.passes import asking
from dpcore.datasets.apart.told import sparingly, tell
from dpcore.defects import places_of
from dpcore.errors import InvalidArgument, UnreadableFile

TOLD, ASKED, FOUND = 3, 4, 5
"""The files of the process: the pipe it speaks into, what it was asked with the file behind it, and its table."""


def serve(room: Path) -> None:
    """What was asked, done; never anything raised. Whatever the libraries print goes where nobody shows it.

    ``room`` is a folder for this process alone.
    """
    try:
        _read(room)
    except UnreadableFile as error:
        tell(TOLD, "unreadable", str(error))
    except InvalidArgument as error:
        tell(TOLD, "invalid", error.argument, error.problem)
    except MemoryError:
        tell(TOLD, "memory")
    except BrokenPipeError:
        return
    except BaseException as error:  # noqa: BLE001 - a Rust panic is no Exception; its words may hold cells of the file
        tell(TOLD, "failed", type(error).__name__, places_of(error)[-20:])


def _read(room: Path) -> None:
    with os.fdopen(ASKED, "rb") as file:
        asked = json.loads(file.readline())
        test = asking(asked["test"]) if "test" in asked else None  # what it is made of may lie anywhere
        confine(asked["memory"], asked["seconds"], room)
        tempfile.tempdir = str(room)
        temporary.only(room)
        if test is not None:
            if not test(file.read(asked["size"])):
                raise UnreadableFile("It is not taken.")
            tell(TOLD, "done")
            return
        # loaded only here where the process was not made from one that had them
        from dpcore.datasets.apart import crossing
        from dpcore.datasets.reading import engine, kinds
        from dpcore.datasets.reading.choices import Choices

        choices = Choices(**asked["choices"])
        data = file.read(asked["size"])
        os.ftruncate(file.fileno(), 0)  # the memory it lay in
    with engine.together():
        table = kinds.table_of(data, choices, sparingly(lambda part, words: tell(TOLD, "at", part, words)))
    del data
    with io.BufferedWriter(io.FileIO(FOUND, "w", closefd=False), 1 << 20) as out:
        crossing.write(table, out)
    tell(TOLD, "done")


def plain_signals() -> None:
    """A process forked from one that waits for its children must end by what ends any other."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGXCPU):
        signal.signal(number, signal.SIG_DFL)
