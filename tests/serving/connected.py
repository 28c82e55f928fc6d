"""What stands for the network between a visitor and uvicorn, for tests that feed it what arrives."""

from __future__ import annotations

import asyncio
from typing import Any


class Wire(asyncio.Transport):
    """What a visitor is connected by; notes what becomes of it, and hands nothing over while reading is paused."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.reading, self.closed, self.aborted = bytearray(), True, False, False
        self.said_all = False
        self.protocol: Any = None

    def set_protocol(self, protocol: Any) -> None:
        self.protocol = protocol

    def brings(self, data: bytes) -> int:
        """What the network has for whoever reads, as long as they do; how much of it they took."""
        taken = 0
        while taken < len(data) and self.reading and not self.closed:
            here = self.protocol.get_buffer(-1)
            size = min(len(here), len(data) - taken)
            here[:size] = data[taken : taken + size]
            self.protocol.buffer_updated(size)
            taken += size
        return taken

    def write(self, data: Any) -> None:
        self.written += data

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.said_all = True

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True

    def is_closing(self) -> bool:
        return self.closed
