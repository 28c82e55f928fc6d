"""What is compiled with Numba, which takes no setting here from a file of the folder that the program is called in.

Where PyYAML is installed Numba reads ``.numba_config.yaml`` of the present folder, when it is loaded and again whenever
it compiles: whoever may write there would have all of it run as plain Python, or for another processor.
"""

from __future__ import annotations

import builtins
import importlib
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])
_SETTINGS = "numba.core.config"


class _WithoutFiles(SourceFileLoader):
    """Loads Numba's settings as if PyYAML were not installed, for them alone; later they find no file by its name."""

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = {**vars(builtins), "__import__": _no_yaml}
        super().exec_module(module)
        vars(module)["_config_fname"] = os.devnull


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path) if fullname == _SETTINGS else None
        if found is not None and found.origin is not None:
            found.loader = _WithoutFiles(fullname, found.origin)
        return found


def _no_yaml(name: str, *more: Any, **named: Any) -> Any:
    if name == "yaml":
        raise ImportError(name)
    return __import__(name, *more, **named)


def _loaded() -> Any:
    warnings.filterwarnings("ignore", "A Numba config file is found", UserWarning)  # and that PyYAML would read it
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        found: Any = importlib.import_module("numba")
    finally:
        sys.meta_path.remove(finder)
    if found.config._config_fname != os.devnull:  # another library has loaded it already
        found.config._config_fname = os.devnull
        found.config.reload_config()
    return found


_numba = _loaded()


def compiled(function: Function) -> Function:
    """Compile, keeping the machine code between processes where a folder for it can be written."""
    options: dict[str, Any] = {"nogil": True, "fastmath": {"reassoc", "contract", "nsz"}}
    try:
        return cast(Function, _numba.njit(cache=True, **options)(function))
    except RuntimeError:  # there is no such folder
        return cast(Function, _numba.njit(**options)(function))
