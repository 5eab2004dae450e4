"""The picture of a timeline, and its rows in a terminal: what is drawn where, and that all of it can be read."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from runtime_programs import whole

from weft.runtime.plan.plan import AnyStep, Copy, Launch
from weft.runtime.trace.svg import CHARACTER, LEFT, RIGHT, clipped, picture, ticks
from weft.runtime.trace.text import SHOWN, plain
from weft.runtime.trace.timeline import Timed, Timeline, timeline

SVG = "{http://www.w3.org/2000/svg}"


def do(kernel: str, stream: int, after: tuple[int, ...] = ()) -> Launch:
    return Launch(kernel=kernel, grid=(1, 1, 1), block=(1, 1, 1), stream=stream, after=after)


def three(*, counted: bool = False) -> Timeline:
    """Two launches side by side, and a third that waits for both."""
    steps = [do("left", 0), do("right", 1), do("sum", 1, (0,))]
    times = [(0.0, 10e-6), (2e-6, 12e-6), (13e-6, 20e-6)]
    timed = [Timed(step.kernel, n, step.stream, *times[n]) for n, step in enumerate(steps)]
    return timeline(steps, timed, "GPU", "f", counted=counted)


def many(count: int, streams: int, *, counted: bool = False) -> Timeline:
    """A graph of launches and copies; every step waits for its stream, and some for others."""
    draw = random.Random(count)
    steps: list[AnyStep] = []
    timed: list[Timed] = []
    free = [0.0] * streams
    for number in range(count):
        stream = draw.randrange(streams)
        after = tuple(n for n in {draw.randrange(number) for _ in range(2)} if steps[n].stream != stream) if number % 3 == 2 else ()
        copy = draw.random() < 0.2
        view = whole("x", 8)
        steps.append(Copy(source=view, target=view, stream=stream, after=after) if copy else do(f"kernel_{number}", stream, after))
        begin = max([free[stream], *(timed[n].end for n in after)])
        free[stream] = begin + draw.random() * 50e-6
        timed.append(Timed("x → x" if copy else f"kernel_{number}", number, stream, begin, free[stream]))
    return timeline(steps, sorted(timed, key=lambda t: t.begin), "GPU", "f", counted=counted)


def drawn(shown: Timeline, tag: str, kind: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(picture(shown))
    return [e for e in root.iter(SVG + tag) if e.get("class") == kind]


def spans(shown: Timeline, kind: str) -> list[tuple[float, float]]:
    """Left and right of bars or shades; those of the legend have no title."""
    bars = [e for e in drawn(shown, "rect", kind) if e.find(SVG + "title") is not None]
    return [(float(e.attrib["x"]), float(e.attrib["x"]) + float(e.attrib["width"])) for e in bars]


def text(element: ElementTree.Element) -> str:
    return "".join(element.itertext())


def test_three_steps() -> None:
    shown = three()
    left, right, last = spans(shown, "l")
    assert left[0] == LEFT and left[1] < last[0] and right[0] < left[1] < right[1] < last[0]
    assert spans(shown, "o") == [(pytest.approx(right[0]), pytest.approx(left[1], abs=2))]
    assert [text(e) for e in drawn(shown, "text", "n")] == ["left", "right", "sum"]
    assert [text(e) for e in drawn(shown, "text", "r")] == ["stream 0", "stream 1"]
    assert [text(e) for e in drawn(shown, "text", "k")] == ["0 µs", "5", "10", "15", "20"]
    titles = [text(e) for e in drawn(shown, "rect", "l")][:3]
    assert titles[1] == "right: step 1 on stream 1, 2.000 µs to 12.000 µs, 10.000 µs"
    assert [text(e) for e in drawn(shown, "path", "w")] == ["sum (step 2) waits for left (step 0)", ""]
    caption = picture(shown)
    assert "makespan 20.0 µs · one after the other 27.0 µs, 1.35× · overlap 40%: two or more streams busy for 8.00 µs" in caption
    assert "By the device's events: a bar begins when" in caption


def test_three_steps_that_nothing_timed() -> None:
    shown = three(counted=True)
    left, right, last = spans(shown, "l")
    assert left == right and last[0] > left[1] and spans(shown, "o") == [(LEFT, last[0])]
    assert [text(e) for e in drawn(shown, "text", "k")] == ["0 steps", "1", "2"]
    assert "the simulator has no clock" in picture(shown)
    assert not re.search(r"\d (ns|µs|ms|s)\b", picture(shown))


@pytest.mark.parametrize("counted", [False, True])
def test_two_hundred_steps_on_eight_streams(counted: bool) -> None:
    shown = many(200, 8, counted=counted)
    root = ElementTree.fromstring(picture(shown))
    width = float(root.attrib["width"])
    bars = sorted([*spans(shown, "l"), *spans(shown, "m")])
    assert len(bars) == 200 and all(LEFT <= left < right <= width - RIGHT + 1 for left, right in bars)
    assert len(drawn(shown, "path", "w")) == len(shown.waits) + 1 > 40
    names = drawn(shown, "text", "n")
    assert len(names) > 100
    for name in names:
        middle, half = float(name.attrib["x"]), len(text(name)) * CHARACTER / 2
        assert any(left <= middle - half and middle + half <= right for left, right in bars)


def test_bars_of_a_stream_stay_apart() -> None:
    shown = many(200, 8)
    rows: dict[str, list[tuple[float, float]]] = {}
    for kind in "lm":
        for bar in drawn(shown, "rect", kind):
            if bar.find(SVG + "title") is not None:
                left = float(bar.attrib["x"])
                rows.setdefault(bar.attrib["y"], []).append((left, left + float(bar.attrib["width"])))
    assert len(rows) == 8
    for bars in map(sorted, rows.values()):
        assert all(right <= left + 1.1 for (_, right), (left, _) in pairwise(bars))


def test_it_is_the_same_every_time() -> None:
    assert picture(many(30, 3)) == picture(many(30, 3))


def test_light_and_dark() -> None:
    """Every colour that is set for light is set for dark, too, or stays readable: bars' letters are white on both."""
    style = re.search(r"<style>(.*?)</style>", picture(three()))
    assert style is not None
    light, dark = style[1].split("@media (prefers-color-scheme:dark)")
    coloured = {kind for rule in re.findall(r"([.\w,]+)\{[^}]*(?:fill|stroke):#", light) for kind in rule.split(",")}
    again = {kind for rule in re.findall(r"([.\w,]+)\{", dark) for kind in rule.split(",")}
    assert coloured - again == {".n"}


@pytest.mark.parametrize("counted", [False, True])
def test_nothing_at_all(counted: bool) -> None:
    shown = timeline([], [], "GPU", "f", counted=counted)
    assert "Nothing was launched or copied." in picture(shown)
    ElementTree.fromstring(picture(shown))
    assert [line.split() for line in plain(shown, 60)] == [["0", "0", "steps"] if counted else ["0", "0.00", "ns"]]


def test_steps_that_take_no_time() -> None:
    shown = timeline([do("a", 0), do("b", 1)], [Timed("a", 0, 0, 1.0, 1.0), Timed("b", 1, 1, 1.0, 1.0)], "GPU", "f", counted=False)
    assert [right - left for left, right in spans(shown, "l")] == [1, 1]
    assert [line.split()[:2] for line in plain(shown, 60)][:2] == [["stream", "0"], ["stream", "1"]]


def test_names_that_are_no_xml() -> None:
    shown = timeline([do("k", 0)], [Timed('<a & "b">\x00\ud800', 0, 0, 0.0, 1.0)], "<GPU>", "f", counted=False)
    root = ElementTree.fromstring(picture(shown).encode())
    assert "@f on <GPU>" in text(root) and '<a & "b">\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}' in text(root)


@pytest.mark.parametrize(
    ("name", "room", "kept"),
    [("relu", 4, "relu"), ("conv2d_17", 7, "con…_17"), ("conv2d_17", 3, "c…7"), ("conv2d_17", 2, ""), ("x", 0, ""), ("x", -3, "")],
)
def test_names_are_cut_in_the_middle(name: str, room: int, kept: str) -> None:
    assert clipped(name, room) == kept


@pytest.mark.parametrize(
    ("span", "most", "whole_steps", "found"),
    [
        (20, 9, False, [0, 5, 10, 15, 20]),
        (20, 10, False, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20]),
        (0.7, 4, False, [0, 0.2, 0.4, 0.6]),
        (999, 5, False, [0, 200, 400, 600, 800]),
        (2, 9, True, [0, 1, 2]),
        (46, 9, True, [0, 10, 20, 30, 40]),
        (0, 9, False, [0]),
    ],
)
def test_ticks(span: float, most: int, whole_steps: bool, found: list[float]) -> None:
    assert ticks(span, most, whole=whole_steps) == pytest.approx(found)


def test_ticks_are_round_and_not_too_many() -> None:
    draw = random.Random(0)
    for _ in range(300):
        span, most = 10 ** draw.uniform(-9, 9), draw.randrange(2, 30)
        found = ticks(span, most)
        assert 2 <= len(found) <= most + 1 and found[0] == 0 and found[-1] <= span * (1 + 1e-6)


# ---- in a terminal ---------------------------------------------------------------------------------------------------------


def test_rows() -> None:
    assert plain(three(), 50) == [
        "stream 0  ███████ left ███████",
        "stream 1      ██████ right ███████  ▓▓▓▓ sum ▓▓▓▓▓",
        "overlap       ━━━━━━━━━━━━━━━━",
        "          0                                20.0 µs",
    ]


@pytest.mark.parametrize("width", [20, 40, 76, 200])
@pytest.mark.parametrize(("count", "streams"), [(3, 2), (200, 8), (300, 40)])
def test_rows_keep_to_the_width(width: int, count: int, streams: int) -> None:
    shown = many(count, streams)
    lines = plain(shown, width)
    assert all(len(line) <= width for line in lines) and len(lines) <= SHOWN + 3
    assert ("streams more" in "".join(lines)) is (len(shown.streams) > SHOWN)
    for line in lines[: min(len(shown.streams), SHOWN)]:
        assert re.search("[█▓]", line)


def test_a_single_stream_has_no_overlap_to_show() -> None:
    shown = timeline([do("k", 0)], [Timed("k", 0, 0, 0.0, 1e-3)], "GPU", "f", counted=False)
    assert plain(shown, 40) == [f"stream 0  {'█' * 13} k {'█' * 14}", "          0                      1.00 ms"]
