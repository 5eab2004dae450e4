"""What `pyproject.toml` cannot say: a wheel brings the parse tables along, which take longer to make than a schedule to check."""

from __future__ import annotations

import sys

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithTables(build_py):
    """Copies the package, and writes the tables into the copy."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            sys.dont_write_bytecode = True  # the copy is to hold nothing else
            sys.path.insert(0, self.build_lib)
            from weft.dsl.syntax import ship_tables

            ship_tables()


setup(cmdclass={"build_py": BuildWithTables})
