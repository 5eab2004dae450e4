"""`SimDevice` as the plan runner sees it."""

from __future__ import annotations

import numpy as np
import pytest

from weft.dsl.diagnostics import WeftError
from weft.runtime.devices.device import Device, DeviceView
from weft.runtime.plan.plan import KernelEntry, Param
from weft.runtime.simulator.device import SimDevice

TEXT = """
module attributes {gpu.container_module} { gpu.module @m {
  gpu.func @double(%A: memref<4xf32, strided<[2], offset: ?>>, %B: memref<4xf32>, %f: f32) kernel {
    %t = gpu.thread_id x
    %x = memref.load %A[%t] : memref<4xf32, strided<[2], offset: ?>>
    %y = arith.mulf %x, %f : f32
    memref.store %y, %B[%t] : memref<4xf32>
    gpu.return
  }
} }
"""
KERNEL = KernelEntry("double", "m::double", (Param("A", "f32", (4,), (2,)), Param("B", "f32", (4,), (1,)), Param("f", "f32")))


def view(memory, name: str, offset: int = 0, stride: int = 1) -> DeviceView:
    return DeviceView(memory, name, "f32", offset, (4,), (stride,))


def test_a_plan_in_small() -> None:
    device: Device = SimDevice()
    device.load(TEXT, [KERNEL])
    stream = device.create_stream()
    a, b = device.alloc("a", "f32", 9), device.alloc("b", "f32", 8)
    device.upload(a, np.arange(9, dtype=np.float32), stream)
    args = [view(a, "a", 1, 2), view(b, "b", 4), np.float32(2)]
    report = device.launch(KERNEL, (1, 1, 1), (4, 1, 1), args, stream)
    assert report is not None and report.clean
    out = np.zeros(8, np.float32)
    device.download(b, out, stream)
    assert out[4:].tolist() == [2, 6, 10, 14] and np.isnan(out[:4]).all(), "what nobody wrote is poison"
    device.copy(view(b, "b", 0), view(b, "b", 4), stream)
    device.download(b, out, stream)
    assert out.tolist() == [2, 6, 10, 14] * 2
    event = device.create_event()
    device.record(event, stream)
    device.wait(stream, event)
    device.synchronize()
    device.destroy_event(event)
    device.free(a)
    device.free(b)
    device.destroy_stream(stream)
    assert isinstance(device, SimDevice) and not any(device.alive.values())


def test_what_was_never_uploaded_copied_or_poisoned_counts_as_unwritten() -> None:
    device = SimDevice()
    device.load(TEXT, [KERNEL])
    stream = device.create_stream()
    a, b, c = (device.alloc(name, "f32", 8) for name in "abc")
    device.copy(view(b, "b"), view(a, "a"), stream)  # copies garbage: still garbage
    device.upload(c, np.zeros(8, np.float32), stream)
    device.poison(c, 0xFF, stream)
    for source in (a, b, c):
        target = device.alloc("t", "f32", 4)
        args = [view(source, source.name, 0, 2), view(target, "t"), np.float32(1)]
        report = device.launch(KERNEL, (1, 1, 1), (4, 1, 1), args, stream)
        (fault,) = report.faults
        assert (fault.kind, fault.buffer) == ("uninitialized read", source.name) and report.fault_count == 4
        assert target.written.all()
    aliased = [view(a, "a", 0, 2), view(a, "a", 1), np.float32(1)]
    (race,) = device.launch(KERNEL, (1, 1, 1), (4, 1, 1), aliased, stream).races
    assert race.kind == "WAR" and race.buffer == "a"


@pytest.mark.parametrize(
    ("code", "act"),
    [
        ("W0758", lambda d, m: (d.free(m), d.free(m))),
        ("W0758", lambda d, m: (d.free(m), d.upload(m, np.zeros(8, np.float32), None))),
        ("W0752", lambda d, m: d.copy(view(m, "a", 6), view(m, "a"), None)),
        ("W0759", lambda d, m: d.load(TEXT, [KernelEntry("k", "m::other", ())])),
        ("W0759", lambda d, m: d.load("module {", [KERNEL])),
        ("W0759", lambda d, m: d.launch(KERNEL, (1, 1, 1), (1, 1, 1), [], None)),
    ],
)
def test_refusals(code: str, act) -> None:
    device = SimDevice()
    with pytest.raises(WeftError) as caught:
        act(device, device.alloc("a", "f32", 8))
    assert [d.code for d in caught.value.diagnostics] == [code]
