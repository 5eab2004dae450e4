"""What a cubin says of its kernels beside their instructions: how many blocks a cluster has.

A cubin is an ELF file (System V ABI); the section `.nv.info.` of a kernel is a list of attributes: a format, a number, and a value,
or how many bytes of one follow.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

INFO = ".nv.info."
SIZED = 4
"""The format of attributes whose bytes follow."""
CTA_PER_CLUSTER = 0x3D
"""The attribute that has a cluster's blocks along x, y, z."""


def clusters(cubin: bytes) -> dict[str, tuple[int, int, int]]:
    """Of kernels that run in clusters, how many blocks one has along x, y, z."""
    found: dict[str, tuple[int, int, int]] = {}
    for name, content in _sections(cubin):
        for attribute, value in _attributes(content) if name.startswith(INFO) else ():
            if attribute == CTA_PER_CLUSTER:
                x, y, z = struct.unpack("<III", value)
                found[name.removeprefix(INFO)] = x, y, z
    return found


def _sections(elf: bytes) -> Iterator[tuple[str, bytes]]:
    (start,), (each, count, named) = struct.unpack_from("<Q", elf, 0x28), struct.unpack_from("<HHH", elf, 0x3A)
    places: list[tuple[int, int, int]] = []
    for number in range(count):
        name, _, _, _, offset, size = struct.unpack_from("<IIQQQQ", elf, start + number * each)
        places.append((name, offset, size))
    for name, offset, size in places:
        at = places[named][1] + name
        yield elf[at : elf.index(b"\0", at)].decode(), elf[offset : offset + size]


def _attributes(content: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(content):
        kind, attribute, size = struct.unpack_from("<BBH", content, at)
        at += 4
        if kind == SIZED:
            yield attribute, content[at : at + size]
            at += size
