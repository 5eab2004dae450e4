"""A place in a JSON document that is read with suspicion: what is wrong is told with its path."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from ...dsl.diagnostics import WeftError, fail

T = TypeVar("T")
INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True)
class Cursor:
    """A place in a JSON document: the value there, its path for messages, the document's name."""

    value: Any
    path: str
    document: str

    def error(self, message: str, code: str = "W0700") -> WeftError:
        return fail(code, f"{self.path or 'the document'}: {message}", notes=(f"in {self.document}",))

    def _is(self, kind: type | tuple[type, ...], what: str) -> Any:
        if not isinstance(self.value, kind) or (isinstance(self.value, bool) and kind is int):
            raise self.error(f"expected {what}, found {shown(self.value)}")
        return self.value

    def text(self) -> str:
        return self._is(str, "a string")

    def integer(self) -> int:
        value = self._is(int, "an integer")
        if value not in INT64:
            raise self.error(f"{value} does not fit into 64 bits")
        return value

    def list(self, read: Callable[[Cursor], T]) -> tuple[T, ...]:
        values = self._is(list, "a list")
        return tuple(read(Cursor(v, f"{self.path}[{i}]", self.document)) for i, v in enumerate(values))

    def triple(self, read: Callable[[Cursor], T]) -> tuple[T, T, T]:
        made = self.list(read)
        if len(made) != 3:
            raise self.error(f"expected 3 entries (x, y, z), found {len(made)}")
        return made

    def fields(self, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> Mapping[str, Cursor]:
        """The values of an object that has all of `required`, may have `optional`, and nothing else."""
        value = self._is(dict, "an object")
        for key in required:
            if key not in value:
                raise self.error(f"the key `{key}` is missing")
        for key in value:
            if key not in required and key not in optional:
                raise self.error(f"unknown key `{key}`; known: {', '.join((*required, *optional))}")
        prefix = f"{self.path}." if self.path else ""
        return {k: Cursor(v, f"{prefix}{k}", self.document) for k, v in value.items()}


def shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return f"`{text if len(text) <= 40 else text[:37] + '…'}`"
