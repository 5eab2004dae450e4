"""Objects that claim to be arrays, and are not, or not in order: a diagnostic for each, never a traceback. And calls in forks."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import weft
from weft.runtime.call import arrays


class Interface:
    """`__cuda_array_interface__` is, or raises, what is given."""

    def __init__(self, found: object) -> None:
        self._found = found

    @property
    def __cuda_array_interface__(self) -> object:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


class Exchange:
    """DLPack: a device and a capsule, or what they raise."""

    def __init__(self, device: object = (1, 0), capsule: object = None) -> None:
        self._device, self._capsule = device, capsule

    def __dlpack_device__(self) -> object:
        if isinstance(self._device, Exception):
            raise self._device
        return self._device

    def __dlpack__(self, **_: object) -> object:
        if isinstance(self._capsule, Exception):
            raise self._capsule
        return self._capsule


class WithoutDevice:
    def __dlpack__(self) -> object:
        return None


GOOD: dict[str, Any] = {"data": (4096, False), "typestr": "<f4", "shape": (6, 6), "version": 3}


def but(**other: object) -> Interface:
    return Interface({**GOOD, **other})


BROKEN: dict[str, object] = {
    "raises": Interface(KeyError("shape")),
    "raises nothing more": Interface(ValueError()),
    "a list": Interface([GOOD]),
    "empty": Interface({}),
    "no address": but(data=(None, False)),
    "data of one": but(data=(4096,)),
    "no data": but(data=None),
    "address below 0": but(data=(-1, False)),
    "type of no type": but(typestr=4),
    "type of another width": but(typestr="<q9"),
    "no shape": but(shape=None),
    "shape of floats": but(shape=(6.0, 6)),
    "shape below 0": but(shape=(-6, 6)),
    "more than there is": but(shape=(1 << 62, 1 << 62)),
    "too few strides": but(strides=(4,)),
    "strides of text": but(strides=("24", "4")),
    "later version": but(version=9),
    "version of text": but(version="three"),
    "masked": but(mask=object()),
    "no device": Exchange(None),
    "half a device": Exchange((1,)),
    "device of text": Exchange(("cpu", 0)),
    "device raises": Exchange(RuntimeError("lost")),
    "unknown device": Exchange((77, 0)),
    "capsule raises": Exchange(capsule=KeyError("capsule")),
    "no capsule": Exchange(capsule=None),
    "capsule of a number": Exchange(capsule=3),
    "without a device": WithoutDevice(),
    "a generator": np.random.default_rng(),
    "a type": np.dtype("f4"),
    "a class": np.ndarray,
    "masked, of NumPy": np.ma.masked_greater(np.ones((6, 6), np.float32), 0.5),
    "nothing": None,
}


@pytest.fixture(scope="module")
def kernel() -> weft.Kernel:
    return weft.compile("shared", settings=dict.fromkeys("mnk", 6), target="cpu")


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_array_is_refused(name: str, kernel: weft.Kernel) -> None:
    right = np.ones((6, 6), np.float32)
    for given in ((BROKEN[name], right), (right, BROKEN[name])):
        with pytest.raises(weft.WeftError) as caught:
            kernel(*given)
        assert [found.code for found in caught.value.diagnostics] == ["W0740"]
    with pytest.raises(weft.WeftError) as caught:
        kernel(right, right, out=BROKEN[name] if BROKEN[name] is not None else [None])
    assert caught.value.diagnostics[0].code == "W0740"


def test_strides_and_addresses_of_the_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "_device_at", lambda address: 0)
    address, layout, *_ = arrays.FOREIGN.read(but(shape=[np.int64(6), 6], strides=[-24, 4], data=[4096, True]))
    assert address == 4096 and not arrays.ArrayLayout(*layout).row_major and not arrays.ArrayLayout(*layout).writable
    assert arrays.ArrayLayout(*arrays.FOREIGN.read(but(strides=(24, 4)))[1]).row_major
    assert arrays.FOREIGN.read(but(data=(0, False), shape=(0, 6)))[0] == 0


FORKED = """
import os, signal, threading, time
import numpy as np, weft
k = weft.compile("shared", settings={"m": "?", "n": "?", "k": "?"}, target="cpu")
a, stop = np.ones((300, 300), np.float32), []
k(a, a)
other = threading.Thread(target=lambda: [k(a, a) for _ in iter(lambda: bool(stop), True)])
other.start()
for _ in range(4):
    time.sleep(0.05)
    if (child := os.fork()) == 0:
        os._exit(0 if np.array_equal(k(a, a), np.full((300, 300), 300, np.float32)) else 1)
    for _ in range(200):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.05)
    else:
        os.kill(child, signal.SIGKILL)
        status = "hangs"
    print(status)
stop.append(1)
other.join()
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="processes cannot be forked here")
def test_a_process_forked_during_a_call_of_another_thread_can_call() -> None:
    ran = subprocess.run([sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=120)
    assert ran.stdout.split() == ["0"] * 4, ran.stderr
