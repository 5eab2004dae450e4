"""A bundle: a folder that runs with only NumPy and CuPy. It contains `kernels.cu`, `module.mlir`,
`plan.json`, and optionally arrays.

It is written atomically; everything in it is checked before use.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...dsl.diagnostics import Diagnostic, fail
from ...dsl.records import record
from ..plan.codec import dump, load
from ..plan.dtypes import CXX
from ..plan.plan import KernelEntry, Param, Plan, Texts
from ..plan.signature import FunctionSignature, plan_signature
from .inputs import read_npz, write_npz
from .writing import open_regular, reason

PLAN, CUDA, MODULE = "plan.json", "kernels.cu", "module.mlir"
INPUTS, EXPECTED, OWN = "inputs.npz", "expected.npz", "expected_own.npz"
FILES = (PLAN, CUDA, MODULE, INPUTS, EXPECTED, OWN)
MAX_BYTES = 1 << 28
"""Most bytes of one text file."""


@record
class Bundle:
    """The contents of the folder.

    Attributes:
        inputs, expected: the arrays of a bundle built with data; else None.
        own: the payload's outputs computed in its own types, if they differ.
    """

    path: Path
    plan: Plan
    cuda: str
    module: str
    inputs: Mapping[str, np.ndarray] | None = None
    expected: Mapping[str, np.ndarray] | None = None
    own: Mapping[str, np.ndarray] | None = None

    @property
    def edited(self) -> tuple[str, ...] | None:
        """The files that were edited since the plan was written; None if the plan has no digests
        (an older bundle).

        The simulator's findings about an unedited module do not hold for edited kernels, nor vice
        versa.
        """
        if not self.plan.texts:
            return None
        known = dict(self.plan.texts)
        texts = {CUDA: self.cuda, MODULE: self.module}
        return tuple(name for name, text in texts.items() if known.get(name) != _digest(text))

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """W0738 for edited files."""
        message = f"the simulator runs {MODULE}, a GPU {CUDA}: findings about one no longer hold for the other"
        hint = "`weft build` writes both from the schedule"
        files = (f"{self.path / name} was edited after the bundle was built" for name in self.edited or ())
        return tuple(Diagnostic("W0738", file, notes=(message,), hint=hint, severity="warning") for file in files)

    @property
    def signature(self) -> FunctionSignature:
        return plan_signature(self.plan)


def comparable(bundle: Bundle) -> FunctionSignature:
    """The bundle's signature, reduced to outputs with expected values.

    A scheduled module may overwrite an input that the payload only reads (a tensor bufferized in
    place): it has no expected value. Error: W0716 for expected arrays that the plan does not
    compute.
    """
    signature, expected = bundle.signature, bundle.expected or {}
    unknown = sorted(expected.keys() - {o.name for o in signature.outputs})
    if unknown:
        message = f"{bundle.path / EXPECTED} has `{unknown[0]}`, which is not an output of @{signature.entry}"
        raise fail("W0716", message)
    arguments = tuple(a if a.name in expected else replace(a, role="input") for a in signature.arguments)
    return FunctionSignature(signature.entry, arguments, signature.results)


def write_bundle(
    path: Path | str,
    plan: Plan,
    cuda: str,
    module: str,
    *,
    inputs: Mapping[str, np.ndarray] | None = None,
    expected: Mapping[str, np.ndarray] | None = None,
    own: Mapping[str, np.ndarray] | None = None,
) -> Path:
    """Writes a bundle to the folder `path`, replacing an older bundle there.

    Errors: W0711 (it cannot be written, or the place holds something other than a bundle). No
    partial bundle is left.
    """
    target = Path(path)
    expect_place(target)
    try:
        made = Path(tempfile.mkdtemp(dir=target.absolute().parent, prefix=f".{target.name}."))
    except OSError as error:
        raise fail("W0711", f"cannot write the bundle {target}: {reason(error)}") from error
    try:
        signed = replace(plan, texts=digests(cuda, module))
        for name, text in ((PLAN, dump(signed)), (CUDA, cuda), (MODULE, module)):
            (made / name).write_text(text, encoding="utf-8")
        for name, arrays in ((INPUTS, inputs), (EXPECTED, expected), (OWN, own)):
            if arrays is not None:
                write_npz(made / name, arrays)
        made.chmod(0o755)
        _replace(target, made)
    except OSError as error:
        raise fail("W0711", f"cannot write the bundle {target}: {reason(error)}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return target


def expect_place(target: Path) -> None:
    """Checks that a bundle can be written here: only a bundle or an empty folder may be
    overwritten. Raises W0711."""
    if not target.absolute().parent.exists():
        raise fail("W0711", f"cannot write the bundle {target}: the folder `{target.parent}` does not exist")
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise fail("W0711", f"cannot write the bundle {target}: there is a file of that name")
    if target.is_dir():
        there = {p.name for p in target.iterdir()}
        whole = {PLAN, CUDA, MODULE} <= there
        if others := sorted(there - set(FILES) if whole else there):
            holds = f"the folder holds other things ({', '.join(others[:3])})"
            raise fail("W0711", f"cannot write the bundle {target}: {holds}")


def _replace(target: Path, made: Path) -> None:
    """Moves `made` to `target`. An old bundle is kept aside until the new one is in place, and
    restored on failure."""
    if not target.exists():
        os.rename(made, target)
        return
    aside = Path(tempfile.mkdtemp(dir=target.absolute().parent, prefix=f".{target.name}.old."))
    try:
        os.rename(target, aside / "old")
        try:
            os.rename(made, target)
        except OSError:
            os.rename(aside / "old", target)
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def read_bundle(path: Path | str) -> Bundle:
    """The bundle in the folder `path`, fully checked.

    Errors: W0710 (no folder, a file is missing or unreadable), W0700 … W0708 (its plan), W0712,
    W0713 (the plan launches a kernel that the text lacks, or that has other parameters), W0715 …
    W0717 (its arrays).
    """
    folder = Path(path)
    if not folder.is_dir():
        why = "it is a file" if folder.exists() else "there is no such folder"
        raise fail("W0710", f"{folder} is not a bundle: {why}")
    plan = load(_text(folder / PLAN), str(folder / PLAN))
    cuda, module = _text(folder / CUDA), _text(folder / MODULE)
    for kernel in plan.kernels:
        check_text(kernel, cuda, str(folder / CUDA))
    inputs = read_npz(folder / INPUTS, plan_signature(plan)) if (folder / INPUTS).exists() else None
    expected = read_npz(folder / EXPECTED) if (folder / EXPECTED).exists() else None
    own = read_npz(folder / OWN) if expected is not None and (folder / OWN).exists() else None
    return Bundle(folder, plan, cuda, module, inputs, expected, own)


def digests(cuda: str, module: str) -> Texts:
    """The digests that a plan records of the texts written with it."""
    return (CUDA, _digest(cuda)), (MODULE, _digest(module))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _text(path: Path) -> str:
    try:
        with open_regular(path) as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise fail("W0710", f"{path} is larger than {MAX_BYTES} bytes")
        return data.decode("utf-8")
    except OSError as error:
        hint = "`weft build` writes a bundle"
        raise fail("W0710", f"{path} is not a bundle's: {reason(error)}", hint) from error
    except UnicodeDecodeError as error:
        raise fail("W0710", f"{path} is not text: {error.reason} at byte {error.start}") from error


_QUALIFIERS = re.compile(r"\bconst\b|__restrict__|__grid_constant__")


def check_text(kernel: KernelEntry, text: str, where: str) -> None:
    """Checks that `text` has the kernel (W0712), with these parameters (W0713)."""
    declared = declared_types(text, kernel.name)
    if declared is None:
        raise fail("W0712", f"the plan launches `{kernel.name}`, which {where} does not have")
    expected = [type_ for param in kernel.text_params for type_ in parameter_types(param)]
    if declared != expected:
        message = f"the kernel `{kernel.name}` takes other arguments in {where} than the plan passes"
        notes = f"in the text: {', '.join(declared) or 'none'}", f"by the plan: {', '.join(expected) or 'none'}"
        raise fail("W0713", message, "build the bundle anew with `weft build`", notes=notes)


def declared_types(text: str, name: str) -> list[str] | None:
    """The types of the parameters of kernel `name`, without qualifiers; None if the text has no
    such kernel."""
    written = re.compile(rf"\b{re.escape(name)}\s*+\(([^()]*+)\)")
    for piece in re.split("[;{}]", text):  # the characters of a declaration
        _, kernel, rest = piece.partition("__global__")
        if kernel and (found := written.search(rest)) is not None:
            return [_type(declaration) for declaration in found[1].split(",") if declaration.strip()]
    return None


def _type(declaration: str) -> str:
    words = _QUALIFIERS.sub(" ", declaration).replace("*", " * ").split()
    return " ".join(words[:-1]).replace(" *", "*")


def parameter_types(param: Param) -> list[str]:
    """The parameter types in the text for one parameter of the kernel."""
    if param.boxes is not None:
        return ["TensorMap"]
    own = CXX[param.dtype]
    if param.shape is None:
        return [own]
    open_ = [*param.shape, *(param.strides or ()), param.offset].count(None)
    return [f"{own}*", *["long long"] * open_]
