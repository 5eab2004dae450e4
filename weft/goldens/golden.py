"""Goldens, and how they are found: files beside a schedule. The first line of a golden is the
command that makes it.

| file | holds |
|---|---|
| `gemm[.NAME].golden.mlir` | the module, at the end or after a step |
| `gemm[.NAME].golden.cu` | the CUDA text of its kernels, which names the pieces of the prelude that they use |
| `gemm[.NAME].check` | CHECK lines, written by hand, on one of the two |

    // weft golden gemm.weft --after "fuse init" --set m=64

A recipe that ships is named without `.weft`, and its goldens may be in any folder.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from ..dsl.diagnostics import Source, Span, WeftError, fail, read_source
from ..dsl.records import record
from ..payloads.settings import parse_settings
from ..pipeline import Choice, resolve_schedule

Kind = Literal["module", "cuda", "checks"]

SUFFIXES: Mapping[str, Kind] = {".golden.mlir": "module", ".golden.cu": "cuda", ".check": "checks"}
HEADER = "// weft golden "

_VALUED = {"--after": "after", "--payload": "payload", "--layer": "layer"}
_OPTIONS = "[--payload P.mlir] [--layer NAME] [--unproven] [--unchecked] [--set name=value]…"
_FORM = f"it is of the form `{HEADER}FILE.weft [--after STEP] {_OPTIONS}`, or with a recipe in place of the file"
_CHECKS_FORM = _FORM.replace("[--after", "[--cuda | --after")


@record
class Golden:
    """The contents of a golden file, and how they are made.

    Args:
        path: the file.
        after: the step after which the module is taken (`judging.py`); None: the module at the end.
        cuda: whether it contains the CUDA text.
        choice: the schedule and its settings; the payload is relative to the golden.
        span: the first line, if the golden was read from a file.
    """

    path: Path
    choice: Choice
    after: str | None = None
    cuda: bool = False
    span: Span | None = None

    @property
    def schedule(self) -> str:
        """A file beside it, `gemm.weft`, or a recipe, `shared`."""
        return self.choice.file

    @property
    def kind(self) -> Kind:
        return SUFFIXES[suffix_of(self.path) or ".golden.mlir"]

    @property
    def title(self) -> str:
        """The kind of its contents, in a word or two."""
        what = "CUDA text" if self.cuda else f"module after {self.after}" if self.after else "module"
        return f"checks of the {what}" if self.kind == "checks" else what

    @property
    def header(self) -> str:
        """The first line. Slashes in it are the same on every system."""
        choice = self.choice
        words = [self.schedule, *["--cuda"] * (self.cuda and self.kind == "checks")]
        payload = choice.payload and choice.payload.as_posix()
        given = {"--after": self.after, "--payload": payload, "--layer": choice.layer}
        words += [word for option, value in given.items() if value for word in (option, value)]
        words += ["--unproven"] * choice.unproven + ["--unchecked"] * choice.unchecked
        words += [word for name, value in choice.settings.items() for word in ("--set", f"{name}={value}")]
        return HEADER + shlex.join(words)


def suffix_of(path: Path) -> str | None:
    """The suffix of a file with the name of a golden, such as `.golden.mlir`; None for other files."""
    return next((suffix for suffix in SUFFIXES if path.name.endswith(suffix) and path.name != suffix), None)


def text_of(path: Path) -> str:
    """A golden's text; line ends are `\\n`, even if version control changed them."""
    return read_source(path).text.replace("\r\n", "\n")


def read_golden(path: Path) -> Golden:
    """A golden, read from its first line. Raises W0902 for a file that is no golden."""
    first = text_of(path).partition("\n")[0]
    suffix = suffix_of(path)
    source = Source(os.fspath(path), first)
    span = Span(source, 1, 1, 1, len(first) + 1)
    form = _CHECKS_FORM if suffix == ".check" else _FORM
    if suffix is None or not first.startswith(HEADER):
        notes = (form.replace("it is", "its first line is", 1),)
        raise fail("W0902", f"`{path}` does not begin with the command that makes it", notes=notes)
    try:
        return _parsed(path, shlex.split(first.removeprefix(HEADER)), span)
    except ValueError as error:
        raise fail("W0902", f"this line does not make a golden: {error}", span=span, notes=(form,)) from None
    except WeftError as error:
        raise fail("W0902", error.diagnostics[0].message, span=span, notes=(form,)) from None


def _parsed(path: Path, words: list[str], span: Span) -> Golden:
    """The golden that the words after `// weft golden` define. Raises ValueError with the reason if
    they are malformed."""
    if not words or words[0].startswith("-"):
        raise ValueError("the schedule is missing")
    schedule, *rest = words
    if re.search(r"[/\\]", schedule):
        raise ValueError(f"`{schedule}` is neither a schedule in this folder nor a recipe")
    if not path.name.startswith(f"{schedule.removesuffix('.weft')}."):
        ending = (suffix_of(path) or "").removeprefix(".")
        raise ValueError(f"a golden of `{schedule}` is named `{schedule.removesuffix('.weft')}.….{ending}`")
    given: dict[str, Any] = {"cuda": path.name.endswith(".cu")}
    flags = {
        "--unproven": "unproven",
        "--unchecked": "unchecked",
        **({"--cuda": "cuda"} if path.name.endswith(".check") else {}),
    }
    pairs: list[str] = []
    words = rest[::-1]
    while words:
        option = words.pop()
        if option in flags and not given.get(flags[option]):
            given[flags[option]] = True
        elif option == "--set" and words:
            pairs.append(words.pop())
        elif option in _VALUED and words and _VALUED[option] not in given:
            given[_VALUED[option]] = Path(words.pop()) if option == "--payload" else words.pop()
        else:
            raise ValueError(f"`{option}` does not belong here")
    if given["cuda"] and "after" in given:
        raise ValueError("the CUDA text is that of the whole schedule, not after a step")
    own = {name: given.pop(name) for name in ("after", "cuda") if name in given}
    return Golden(path, Choice(schedule, settings=parse_settings(pairs), **given), span=span, **own)


def new_path(schedule: Path, name: str | None, after: str | None, cuda: bool) -> Path:
    """The path of a new golden of a schedule: `gemm.ragged.golden.mlir`,
    `gemm.after-fuse-init.golden.mlir`."""
    parts = [schedule.name.removesuffix(".weft"), *([name] if name else [])]
    if after and not name:
        parts.append("after-" + re.sub(r"[^A-Za-z0-9]+", "-", after).strip("-").lower())
    return schedule.with_name(".".join(parts) + (".golden.cu" if cuda else ".golden.mlir"))


GENERATED = frozenset({"build", "dist", "node_modules", "__pycache__"})
"""Folders of generated files, which are skipped; so are folders with a dot before their name, and
virtual environments."""


def golden_paths(file: str) -> list[Path]:
    """The goldens that FILE means: a golden, a schedule, a folder, or a recipe (its goldens in this folder). Raises
    W0901: none."""
    path = Path(file)
    if path.is_dir():
        if not (found := list(below(path))):
            hint = "`weft golden FILE.weft --update` writes one beside a schedule"
            raise fail("W0901", f"there is no golden below `{path}`", hint=hint)
        return found
    if suffix_of(path) is not None:
        return [path]
    resolve_schedule(file)
    if not (found := beside(path)):
        where = "" if path.exists() else " in this folder"
        hint = f"`weft golden {file} --update` writes `{new_path(path, None, None, False)}`"
        raise fail("W0901", f"`{file}` has no golden{where}", hint=hint)
    return found


def beside(schedule: Path) -> list[Path]:
    """The goldens of a schedule: files that begin with its name. If the name of another schedule
    fits too, the first line decides."""
    stem = schedule.name.removesuffix(".weft")
    if not schedule.parent.is_dir():
        return []
    named = [p for p in schedule.parent.iterdir() if p.name.startswith(f"{stem}.") and suffix_of(p) and p.is_file()]
    return sorted(p for p in named if _owner(p) in (None, schedule.name))


def below(folder: Path) -> Iterator[Path]:
    """Every golden in a folder and its subfolders, in order of their names."""
    for root, folders, files in os.walk(folder):
        place = Path(root)
        folders[:] = sorted(name for name in folders if not _is_generated(place / name))
        yield from (place / name for name in sorted(files) if is_golden(place / name))


def _is_generated(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in GENERATED or (folder / "pyvenv.cfg").exists()


def is_golden(path: Path) -> bool:
    """Whether a file found in a folder is a golden of Weft: by its first line, or by the name of a
    schedule beside it."""
    if suffix_of(path) is None or not path.is_file():
        return False
    parts = path.name.split(".")
    stems = [".".join(parts[:count]) for count in range(1, len(parts))]
    return _first_line(path).startswith(HEADER) or any(path.with_name(f"{stem}.weft").is_file() for stem in stems)


def _owner(path: Path) -> str | None:
    """The schedule in a golden's first line; None if it cannot be read."""
    try:
        return read_golden(path).schedule
    except WeftError:
        return None


def _first_line(path: Path) -> str:
    try:
        return text_of(path).partition("\n")[0]
    except WeftError:  # an unreadable file is reported when it is compared
        return HEADER
