"""A ring whose blocks go through several tiles: barriers are taken on where the tile before left off."""

from __future__ import annotations

from hopper import Product


def persistent(product: Product, tiles: int, count: str = "") -> str:
    """A ring in a loop over tiles, in both roles. `count`: how many there are, as index arithmetic on `%bx`; else `tiles`."""
    text = product.ring().replace("%k, %S", "%it, %S")
    inner = "%base = arith.muli %tile, %steps : index\n%it = arith.addi %base, %k : index\n"
    load, use = text.split("} else {")
    load = load.replace("scf.for %k = %c0 to %steps step %c1 {", "scf.for %k = %c0 to %steps step %c1 {\n" + inner)
    outer = "scf.for %tile = %c0 to %tiles step %c1 {\n"
    load = load.replace("scf.for %k = ", outer + "scf.for %k = ") + "}\n"
    use = use.replace("iter_args(%acc = %zero) -> !acc {", "iter_args(%acc = %zero) -> !acc {\n" + inner)
    use = use.replace("%sum = scf.for", outer + "%sum = scf.for").replace("      gpu.return", "      }\n      gpu.return")
    number = count or f"%tiles = arith.constant {tiles} : index\n"
    return f"{load}}} else {{{use}".replace("%group = arith.divui", number + "      %group = arith.divui")
