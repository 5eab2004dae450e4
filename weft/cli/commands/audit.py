"""`weft audit BUNDLE`: is a bundle proven, and what its module makes?"""

from __future__ import annotations

import json
from pathlib import Path

import rich_click as click

from .schedules import PATH, json_option


@click.command(short_help="Prove a bundle again, and emit it again.")
@click.argument("bundle", type=PATH, metavar="BUNDLE")
@json_option
def audit(bundle: Path, as_json: bool) -> int:
    """Prove the kernels of a bundle's module again, emit its text and its plan from the module again, and compare.

    Nothing is run. What the bundle computes, and who has written it, this does not tell.
    """
    from ...auditing import UNKNOWN, audit_bundle
    from ...dsl.diagnostics import count
    from ...output.console import emit, progress, say, show
    from ...runtime.files.bundle import CUDA, MODULE, PLAN

    with progress(f"weft audit {bundle}"):
        found = audit_bundle(bundle)
    if as_json:
        emit(json.dumps(found.to_json(), indent=2))
        return 0 if found.ok else 1
    if found.diagnostics:
        show(found.diagnostics)
    kernels = () if found.verdict is None else found.verdict.kernels
    proven = found.verdict is not None and found.verdict.ok
    say(f"{'✓' if proven else '✗'} {MODULE}: {count(len(kernels), 'launch')} {'race-free' if proven else 'not proven'}")
    inside, indices = found.indices
    if inside < indices:
        say(
            f"  {inside} of {indices} indices of loads and stores shown inside of the buffer: the simulator tells of the rest"
        )
    for name in (CUDA, PLAN):
        if found.verdict is not None:
            say(f"✗ {name}: not what {MODULE} makes" if name in found.different else f"✓ {name}: what {MODULE} makes")
    for kernel in found.unproven:
        say(f"the bundle says that it was built without a proof of {kernel}")
    if found.unchecked is not None:
        say(f"the bundle says that its kernels were not compared with the payload: {found.unchecked}")
    say(f"not known: {UNKNOWN}")
    return 0 if found.ok else 1
