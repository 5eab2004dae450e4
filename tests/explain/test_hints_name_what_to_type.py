"""Hints name what to type, in backquotes: the hints of all diagnostics, read from Weft's source.

A hint is an argument for a parameter `hint`, a value of a name that is passed so, a result of a function named for hints, or
the second of two texts that a function gives as reason and way out. What a hint takes over from another place (a call, an
attribute) is read there.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from places import ROOT

EXCEPTIONS = {
    "leave this statement out, or write it in another way": "the process was ended within it: the message shows the statement",
}
"""Hints that name nothing to type, with the reason."""

FROM_TEXTS = {"quoted", "did_you_mean", "forms"}
"""Functions with texts in backquotes as result."""
OF_HINTS = ("hint", "way_out", "_lost")

Names = Mapping[str, list[ast.expr]]


def texts(node: ast.expr | None, names: Names, seen: frozenset[str] = frozenset()) -> Iterator[str]:
    """The texts that an expression may give, `?` for each part that is computed elsewhere; none where all of it is."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(next(texts(part, names, seen), "") for part in parts)
        case ast.FormattedValue(value=ast.Call(func=ast.Name(id=name))) if name in FROM_TEXTS:
            yield "`?`"
        case ast.FormattedValue(value=value):
            own = "`?`" if "`" in ast.unparse(value) else "?"
            yield max(texts(value, names, seen), key=lambda text: text.count("`"), default=own)
        case ast.IfExp(body=first, orelse=second) | ast.BoolOp(values=[first, second]):
            yield from texts(first, names, seen)
            yield from texts(second, names, seen)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield "".join(next(texts(side, names, seen), "") for side in (left, right))
        case ast.Name(id=name) if name not in seen:
            for value in names.get(name, []):
                yield from texts(value, names, seen | {name})
        case ast.Call(func=ast.Attribute(value=ast.Name() as table, attr="get"), args=[_, *default]):
            yield from texts(table, names, seen)
            for value in default:
                yield from texts(value, names, seen)
        case ast.Call(func=ast.Name(id=name)) if name in FROM_TEXTS:
            yield "`?`"
        case ast.Subscript(value=ast.Name() as table):
            yield from texts(table, names, seen)
        case ast.Dict(values=values):
            for value in values:
                yield from texts(value, names, seen)
        case _:
            pass


def assigned(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """What each name of a file is set to, anywhere in it."""
    out: defaultdict[str, list[ast.expr]] = defaultdict(list)
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    pair = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
                    for one, of in zip(target.elts, value.elts, strict=False) if pair else [(target, value)]:
                        if isinstance(one, ast.Name):
                            out[one.id].append(of)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                out[name].append(value)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                out[name].append(value)
    return out


def parameters(trees: Mapping[Path, ast.Module]) -> dict[tuple[Path | None, str], int]:
    """The position of `hint` in calls of a function or class: by file, and for all files where it is the same in all."""
    found: dict[tuple[Path | None, str], int] = {}
    everywhere: defaultdict[str, set[int]] = defaultdict(set)
    for path, tree in trees.items():
        for node in ast.walk(tree):
            order: list[str] = []
            if isinstance(node, ast.FunctionDef):
                order = [each.arg for each in (*node.args.posonlyargs, *node.args.args) if each.arg not in ("self", "cls")]
            elif isinstance(node, ast.ClassDef):
                order = [s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                place = order.index("hint") if "hint" in order else -1
                found[path, node.name] = place
                everywhere[node.name].add(place)
    return found | {(None, name): max(places) for name, places in everywhere.items() if len(places - {-1}) == 1}


def hints(trees: Mapping[Path, ast.Module]) -> Iterator[tuple[str, str]]:
    """Each hint: its place, and a text of it."""
    places = parameters(trees)
    for path, tree in trees.items():
        names = assigned(tree)
        for node in ast.walk(tree):
            passed: list[ast.expr] = []
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                place = places.get((path, name), places.get((None, name), -1))
                passed = [each.value for each in node.keywords if each.arg == "hint"]
                if place >= 0 and not any(isinstance(each, ast.Starred) for each in node.args[: place + 1]):
                    passed += node.args[place : place + 1]
            elif isinstance(node, ast.FunctionDef):
                results = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value is not None]
                if any(word in node.name for word in OF_HINTS):
                    passed = results
                elif node.returns is not None and "tuple[str, str]" in ast.unparse(node.returns):
                    passed = [each.elts[1] for each in results if isinstance(each, ast.Tuple) and len(each.elts) == 2]
            for value in passed:
                yield from ((f"{path}:{value.lineno}", text) for text in texts(value, names) if text)


def unnamed(trees: Mapping[Path, ast.Module]) -> list[str]:
    """The hints without anything in backquotes."""
    return sorted({f"{place}: {text}" for place, text in hints(trees) if "`" not in text and text not in EXCEPTIONS})


def test_each_hint_names_what_to_type() -> None:
    trees = {path.relative_to(ROOT): ast.parse(path.read_text()) for path in sorted((ROOT / "weft").rglob("*.py"))}
    found = [text for _, text in hints(trees)]
    assert len(found) > 500, "they are not found any more"
    assert set(EXCEPTIONS) <= set(found), "an exception that is none any more"
    assert not unnamed(trees), "name the statement, flag or value, in backquotes:\n" + "\n".join(unnamed(trees))


def test_a_hint_without_anything_to_type_is_found() -> None:
    text = """
WAYS = {"tile": "take smaller tiles", "map": "`map` it"}
def fail(code, message, hint=None): ...
def first(): raise fail("W1", "wrong", "take smaller tiles")
def second(many):
    hint = f"write {many}" if many else "`launch` it"
    raise fail("W1", "wrong", hint=hint)
def third(name): raise fail("W1", "wrong", WAYS[name])
def fourth() -> tuple[str, str]: return "wrong", "do otherwise"
def right(names): raise fail("W1", "wrong", f"name one: {quoted(names)}")
"""
    found = [line.partition(": ")[2] for line in unnamed({Path("a.py"): ast.parse(text)})]
    assert found == ["take smaller tiles", "write ?", "take smaller tiles", "do otherwise"]
