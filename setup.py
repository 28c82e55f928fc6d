"""What a wheel holds besides the packages: the bundled tables and the server's settings.

Both stay where people look for them in the project, ``data/`` and ``.streamlit/``; in a wheel they lie beside the
modules that read them. Everything else is said in ``pyproject.toml``.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
BESIDE = (
    ("data", "*.csv", "dpcore/datasets/bundled"),
    ("data", "README.md", "dpcore/datasets/bundled"),
    (".streamlit", "config.toml", "dashboard"),
)


class BuildWithTables(build_py):
    """The usual build, and then the files of ``BESIDE``."""

    def run(self) -> None:
        super().run()
        for folder, pattern, place in BESIDE:
            target = Path(self.build_lib) / place
            target.mkdir(parents=True, exist_ok=True)
            for file in sorted((ROOT / folder).glob(pattern)):
                shutil.copyfile(file, target / file.name)


setup(cmdclass={"build_py": BuildWithTables})
