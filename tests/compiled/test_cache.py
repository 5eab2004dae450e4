"""The cache: what others have put there is not run, whatever they do to an entry; and it lies in a folder of the user's own."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import weft
from weft import compiled
from weft import source as of_weft
from weft.dsl.diagnostics import WeftError
from weft.runtime.files import cache
from weft.runtime.run import cupy_device

SIZES = {"m": 8, "n": 8, "k": 8}
OF_NOBODY = 65534

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners and modes")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(compiled, "_kernels", type(compiled._kernels)())
    monkeypatch.setattr(cupy_device, "_memory", {})
    return tmp_path / "cache"


def made() -> tuple[weft.Kernel, bool]:
    """The kernel, and whether the schedule was applied for it."""
    compiled._kernels.clear()
    count: list[object] = []
    with pytest.MonkeyPatch.context() as watched:
        before = compiled._made
        watched.setattr(compiled, "_made", lambda *given: count.append(given) or before(*given))
        kernel = weft.compile("naive", settings=SIZES, target="cpu")
    ones = np.ones((8, 8), np.float32)
    np.testing.assert_array_equal(kernel(ones, ones), np.full((8, 8), 8, np.float32))
    return kernel, bool(count)


def entry(folder: Path) -> Path:
    (found,) = (path for path in (folder / "programs").iterdir() if path.is_dir())
    return found


def test_an_entry_is_used_again(folder: Path) -> None:
    assert [made()[1], made()[1]] == [True, False]
    assert {path.suffix for path in (folder / "programs").iterdir()} == {"", ".json"}


def signed(path: Path, name: str, change: Callable[[str], str]) -> None:
    """Another text, and its digest in the plan: the entry is whole by all that it says itself."""
    text = change((path / name).read_text())
    (path / name).write_text(text)
    plan = json.loads((path / "plan.json").read_text())
    plan["texts"][name] = hashlib.sha256(text.encode()).hexdigest()
    (path / "plan.json").write_text(json.dumps(plan, indent=1) + "\n")


ASSEMBLER = 'llvm.inline_asm has_side_effects "ud2", "" : () -> ()'
POISON: dict[str, Callable[[Path], object]] = {
    "assembler in the module": lambda p: signed(
        p, "module.mlir", lambda t: t.replace("      gpu.return", f"      {ASSEMBLER}\n      gpu.return")
    ),
    "another sum": lambda p: signed(p, "module.mlir", lambda t: t.replace("arith.mulf", "arith.addf")),
    "another text": lambda p: signed(p, "kernels.cu", lambda t: t.replace(" * ", " + ")),
    "a comment": lambda p: signed(p, "kernels.cu", lambda t: f"// yours\n{t}"),
    "another grid": lambda p: changed(p, lambda plan: plan["steps"][0]["grid"].__setitem__(0, 2)),
    "another argument": lambda p: changed(p, lambda plan: plan["steps"][0]["args"].reverse()),
    "no digests": lambda p: changed(p, lambda plan: plan.pop("texts")),
    "another name": lambda p: beside(p, name="shared"),
    "other remarks": lambda p: beside(p, steps=[["launch", ["proven"]]]),
    "no seal": lambda p: beside(p, seal=None),
    "a digest for a seal": lambda p: beside(p, seal=hashlib.sha256(b"").hexdigest()),
    "not the file beside it": lambda p: p.with_suffix(".json").unlink(),
    "a list for it": lambda p: p.with_suffix(".json").write_text("[]"),
    "half a module": lambda p: (p / "module.mlir").write_text((p / "module.mlir").read_text()[:200]),
    "no plan": lambda p: (p / "plan.json").unlink(),
    "bytes": lambda p: (p / "kernels.cu").write_bytes(b"\xff\xfe"),
    "a link to another": lambda p: (shutil.move(p, p.with_name("other")), p.symlink_to(p.with_name("nowhere"))),
}


def changed(path: Path, change: Callable[[dict], object]) -> None:
    plan = json.loads((path / "plan.json").read_text())
    change(plan)
    (path / "plan.json").write_text(json.dumps(plan, indent=1) + "\n")


def beside(path: Path, **other: object) -> None:
    about = json.loads(path.with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps(about | other))


@pytest.mark.parametrize("case", POISON)
def test_a_poisoned_entry_is_made_anew(case: str, folder: Path) -> None:
    made()
    POISON[case](entry(folder))
    assert made()[1], "it was used"
    assert not made()[1], "and the new one is kept"


def test_an_entry_under_another_key(folder: Path) -> None:
    """Whole and sealed, but made of something else."""
    made()
    wanted = entry(folder)
    weft.compile("naive", settings=SIZES | {"k": 4}, target="cpu")
    (other,) = (path for path in (folder / "programs").iterdir() if path.is_dir() and path != wanted)
    for suffix in ("", ".json"):
        target = wanted.with_suffix(suffix)
        shutil.rmtree(target) if target.is_dir() else target.unlink()
        shutil.move(other.with_suffix(suffix), target)
    assert made()[1]


def test_an_entry_of_another_user(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has another key makes other seals, and a key that others could read is replaced."""
    made()
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("XDG_STATE_HOME", str(tmp_path / "theirs"))
        assert made()[1]
    assert made()[1]
    cache._key.cache_clear()
    key = tmp_path / "state" / "weft" / "cache.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert not made()[1]
    key.chmod(0o644)
    cache._key.cache_clear()
    assert made()[1]


@posix
@pytest.mark.parametrize("inner", ["", "programs"])
def test_a_folder_that_others_write_to(inner: str, folder: Path) -> None:
    made()
    (folder / inner).chmod(0o777)
    with pytest.raises(WeftError, match=r"W0749: the cache folder .* others may write it") as caught:
        made()
    assert "chmod 700" in str(caught.value.diagnostics[0].hint)


@posix
@pytest.mark.parametrize("inner", ["", "programs"])
def test_a_folder_of_somebody_else(inner: str, folder: Path) -> None:
    if os.geteuid():
        pytest.skip("only root gives a folder away")
    made()
    os.chown(folder / inner, OF_NOBODY, OF_NOBODY)
    with pytest.raises(WeftError, match=rf"W0749: .*user {OF_NOBODY} owns it"):
        made()


@posix
def test_links(folder: Path, tmp_path: Path) -> None:
    """A link of one's own to a folder of one's own is fine; one of somebody else's is not, wherever it leads."""
    (tmp_path / "elsewhere").mkdir(0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    assert [made()[1], made()[1]] == [True, False]
    if not os.geteuid():
        os.lchown(folder, OF_NOBODY, OF_NOBODY)
        with pytest.raises(WeftError, match=r"W0749: .*link"):
            made()
    folder.unlink()
    (tmp_path / "elsewhere").chmod(0o777)
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WeftError, match="W0749"):
        made()


@posix
def test_a_folder_is_made_for_its_owner_alone(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made()
    assert [path.stat().st_mode & 0o777 for path in (folder, folder / "programs")] == [0o700, 0o700]
    monkeypatch.delenv("WEFT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    older = tmp_path / "home" / "weft" / "kernels"
    older.mkdir(parents=True)
    older.chmod(0o775)  # as an older version has left it
    made()
    assert older.stat().st_mode & 0o777 == 0o700


@posix
def test_the_key_of_somebody_else(folder: Path, tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root gives a file away")
    made()
    cache._key.cache_clear()
    os.chown(tmp_path / "state" / "weft" / "cache.key", OF_NOBODY, OF_NOBODY)
    with pytest.raises(WeftError, match="W0749: the key of the cache"):
        made()
    cache._key.cache_clear()


def test_nowhere_to_keep_it(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key nothing is kept; without a folder, neither. Both stop nobody."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert [made()[1], made()[1]] == [True, True]
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "file"))
    assert [made()[1], made()[1]] == [True, True]


def test_cubins(folder: Path) -> None:
    """Of a text: a file under its own digest, as older versions named it, is not loaded; nor is that of another text."""
    compiles: list[str] = []

    def cubin(text: str) -> bytes:
        cupy_device._memory.clear()
        made = cupy_device.cached(text, ("-o",), "13", lambda: compiles.append(text) or text.encode())
        return made.read_bytes()

    assert [cubin("one"), cubin("one"), cubin("two")] == [b"one", b"one", b"two"] and compiles == ["one", "two"]
    one = next(path for path in folder.iterdir() if path.read_bytes() == b"one")
    key = one.name.partition(".")[0]
    evil = b"evil"
    for raw in (b"two", one.read_bytes()[:2], b"", evil):
        one.write_bytes(raw)
        (folder / f"{key}.{hashlib.sha256(evil).hexdigest()}.cubin").write_bytes(evil)
        assert cubin("one") == b"one" and compiles.pop() == "one"
        assert cubin("one") == b"one" and compiles == ["one", "two"]


@pytest.mark.parametrize("change", ["older", "longer", "renamed", "grammar"])
def test_an_edited_source_is_another_one(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an older source has compared, proven or compiled is not found, even if the newest of its files has not changed."""
    monkeypatch.setattr(of_weft, "__file__", str(tmp_path / "source.py"))
    for number, name in enumerate(("source.py", "room/a.py", "room/b.py", "weft.lark")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("a = 1\n")
        os.utime(tmp_path / name, (1000 + number, 1000 + number))
    before, one = of_weft.source.__wrapped__(), tmp_path / "room/a.py"
    assert of_weft.source.__wrapped__() == before
    match change:
        case "older":
            one.write_text("a = 2\n")
            os.utime(one, (500, 500))
        case "longer":
            one.write_text("a = 12\n")
            os.utime(one, (1001, 1001))
        case "renamed":
            one.rename(tmp_path / "room/c.py")
        case _:
            os.utime(tmp_path / "weft.lark", (600, 600))
    assert of_weft.source.__wrapped__() != before


def test_a_seal_costs_next_to_nothing(folder: Path) -> None:
    text = "x" * 200_000
    cache.seal("warm")
    began = time.process_time()
    for _ in range(20):
        cache.place("programs")
        cache.is_sealed(b"", "key", text, text)
    assert (time.process_time() - began) / 20 < 0.005
