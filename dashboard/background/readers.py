"""The processes in which this server reads what visitors bring; one place makes them for all sessions."""

from __future__ import annotations

from dpcore.datasets.apart import Apart

READERS = Apart()
"""Not among what is made once and can be forgotten: it holds a process, and nothing of anybody's."""
