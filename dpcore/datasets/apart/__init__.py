"""Reading in a process of its own: what a library outside of Python's control parses cannot take the server along."""

from dpcore.datasets.apart.apart import Apart, Most

__all__ = ["Apart", "Most"]
