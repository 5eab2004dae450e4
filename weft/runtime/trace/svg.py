"""A timeline as a picture: a self-contained SVG, a row per stream, light or dark as its viewer
prefers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import ceil, floor, log10
from xml.sax.saxutils import escape

from ...dsl.diagnostics import count
from .timeline import Timed, Timeline

LEFT, RIGHT, TOP, BOTTOM = 92, 28, 88, 74
NARROW, WIDE = 840, 3000
"""Limits of the plot's width, in pixels; between them, the bars of the fullest stream have a width
of `ROOM` on average."""
ROOM = 44
CHARACTER = 6.65
"""Width of a character in a bar, in a monospaced font."""
TICK = 90
"""Approximate distance between two ticks."""
STYLE = (
    ".g{fill:#fff}.t,.s,.r,.k{font-family:ui-sans-serif,Helvetica,Arial,sans-serif;fill:#222}.t{font-size:16px;font-weight:600}"
    ".s{font-size:12px;fill:#555}.r{font-size:12px;text-anchor:end}.k{font-size:11px;fill:#555;text-anchor:middle}"
    ".n{font-family:ui-monospace,Menlo,DejaVu Sans"
    " Mono,monospace;font-size:11px;fill:#fff;text-anchor:middle;pointer-events:none}"
    ".a{stroke:#e3e5e8}.w{fill:none;stroke:#c2410c;stroke-width:1.3;opacity:.65}.h{fill:#c2410c}.b{fill:#f6f7f8}"
    ".o{fill:#f2a900;opacity:.2}.l{fill:#3b66b5}.m{fill:#2b7a5b}"
    "@media (prefers-color-scheme:dark){.g{fill:#15171c}.t,.r{fill:#e8e8ea}.s,.k{fill:#a3a9b3}.a{stroke:#343841}.b{fill:#1d2026}"
    ".w{stroke:#fb923c}.h{fill:#fb923c}.o{fill:#fbbf24;opacity:.18}.l{fill:#4472c8}.m{fill:#2f8765}}"
)
HEAD = (
    '<defs><marker id="head" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
    '<path class="h" d="M0 0L6 3L0 6z"/></marker></defs>'
)


def picture(shown: Timeline) -> str:
    """The picture: bars, ticks, dependences across streams, and spans in which at least two streams
    are busy."""
    fullest = shown.end if shown.counted else max(Counter(bar.stream for bar in shown.bars).values(), default=0)
    return _Picture(shown, min(max(NARROW, ROOM * int(fullest)), WIDE)).text()


class _Picture:
    def __init__(self, shown: Timeline, plot: int) -> None:
        self.shown = shown
        self.plot = plot
        self.row = 32 if len(shown.streams) <= 16 else 24
        self.bar = self.row - 10
        self.height = TOP + self.row * len(shown.streams) + BOTTOM
        self.width = LEFT + plot + RIGHT
        self.row_of: Mapping[int, int] = {stream: number for number, stream in enumerate(shown.streams)}
        self.span = shown.end - shown.begin

    def text(self) -> str:
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}"'
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            f"<title>{_plain(self._title())}</title>",
            f"<desc>{_plain('; '.join(self.shown.summary()))}</desc>",
            f"<style>{STYLE}</style>",
            HEAD,
            f'<rect class="g" width="{self.width}" height="{self.height}"/>',
            *self._caption(),
            *self._rows(),
            *self._axis(),
            *self._bars(),
            *self._waits(),
            *self._names(),
            *self._legend(),
        ]
        return "\n".join([*parts, "</svg>", ""])

    def _title(self) -> str:
        shown = self.shown
        steps, streams = count(len(shown.bars), "step"), count(len(shown.streams), "stream")
        return f"@{shown.entry} on {shown.device}: {steps} on {streams}"

    def _caption(self) -> Iterator[str]:
        yield f'<text class="t" x="16" y="26">{_plain(self._title())}</text>'
        if not self.shown.bars:
            yield '<text class="s" x="16" y="46">Nothing was launched or copied.</text>'
            return
        yield f'<text class="s" x="16" y="46">{_plain(" · ".join(self.shown.summary()))}</text>'
        yield f'<text class="s" x="16" y="64">{_plain(self.shown.note)}</text>'

    # ---- places ----------------------------------------------------------------------------------

    def x(self, time: float) -> float:
        return LEFT + (time - self.shown.begin) / self.span * self.plot if self.span > 0 else LEFT

    def y(self, stream: int) -> float:
        """The middle of a stream's row."""
        return TOP + self.row_of[stream] * self.row + self.row / 2

    # ---- what is drawn ---------------------------------------------------------------------------

    def _rows(self) -> Iterator[str]:
        bottom = TOP + self.row * len(self.row_of)
        for stream, number in self.row_of.items():
            top = TOP + number * self.row + 2
            yield f'<rect class="b" x="{LEFT}" y="{top}" width="{self.plot}" height="{self.row - 4}"/>'
            yield f'<text class="r" x="{LEFT - 10}" y="{_short(self.y(stream) + 4)}">stream {stream}</text>'
        for begin, end in self.shown.shared:
            x, width = self.x(begin), self.x(end) - self.x(begin)
            text = f"{self._exact(begin)} to {self._exact(end)}: at least two streams are busy"
            yield (
                f'<rect class="o" x="{_short(x)}" y="{TOP - 8}" width="{_short(width)}" height="{bottom - TOP + 16}">'
                f"<title>{_plain(text)}</title></rect>"
            )

    def _axis(self) -> Iterator[str]:
        factor, unit = self.shown.unit
        bottom = TOP + self.row * len(self.row_of)
        for tick in ticks(self.span * factor, max(2, self.plot // TICK), whole=self.shown.counted):
            x = _short(self.x(self.shown.begin + tick / factor))
            yield f'<line class="a" x1="{x}" y1="{TOP - 8}" x2="{x}" y2="{bottom + 10}"/>'
            yield f'<text class="k" x="{x}" y="{bottom + 23}">{tick:.10g}{"" if tick else " " + unit}</text>'

    def _place(self, bar: Timed) -> tuple[float, float]:
        """Position and drawn width of a bar: neighbors are separated, and no bar is too short to be
        visible."""
        x, width = self.x(bar.begin), self.x(bar.end) - self.x(bar.begin)
        apart = min(16.0, width / 5) if self.shown.counted else 1.5 if width > 5 else 0.0
        return x, max(width - apart, 1.0)

    def _bars(self) -> Iterator[str]:
        for bar in self.shown.bars:
            x, width = self._place(bar)
            top = _short(self.y(bar.stream) - self.bar / 2)
            kind = "l" if bar.step in self.shown.launches else "m"
            about = f"{bar.name}: step {bar.step} on stream {bar.stream}, {self._exact(bar.begin)} to {self._exact(bar.end)}"
            if not self.shown.counted:
                about += f", {(bar.end - bar.begin) * self.shown.unit[0]:.3f} {self.shown.unit[1]}"
            yield (
                f'<rect class="{kind}" x="{_short(x)}" y="{top}" width="{_short(width)}" height="{self.bar}" '
                f'rx="{2 if width > 6 else 0}"><title>{_plain(about)}</title></rect>'
            )

    def _names(self) -> Iterator[str]:
        """The bars' names, above the lines, which would otherwise cross them."""
        for bar in self.shown.bars:
            x, width = self._place(bar)
            if name := clipped(bar.name, int((width - 6) / CHARACTER)):
                yield f'<text class="n" x="{_short(x + width / 2)}" y="{_short(self.y(bar.stream) + 4)}">{_plain(name)}</text>'

    def _exact(self, time: float) -> str:
        """A time in the axis's unit, with all digits that a clock may provide."""
        factor, unit = self.shown.unit
        since = time - self.shown.begin
        return f"{since:.0f}" if self.shown.counted else f"{since * factor:.3f} {unit}"

    def _waits(self) -> Iterator[str]:
        by_step = {bar.step: bar for bar in self.shown.bars}
        for first, second in self.shown.waits:
            source, target = by_step[first], by_step[second]
            x1, x2 = sum(self._place(source)), self.x(target.begin)
            y1, y2 = self.y(source.stream), self.y(target.stream)
            bow = min(max((x2 - x1) / 2, 14), 70)
            points = map(_short, (x1, y1, x1 + bow, y1, x2 - bow, y2, x2, y2))
            curve = "M{} {}C{} {} {} {} {} {}".format(*points)
            text = f"{target.name} (step {second}) waits for {source.name} (step {first})"
            yield f'<path class="w" marker-end="url(#head)" d="{curve}"><title>{_plain(text)}</title></path>'

    def _legend(self) -> Iterator[str]:
        y = self.height - 22
        x = LEFT
        kinds = {bar.step in self.shown.launches for bar in self.shown.bars}
        entries = [("l", "launch")] if True in kinds else []
        entries += [("m", "copy or other work on memory")] if False in kinds else []
        entries += [("o", "two or more streams busy")] if self.shown.shared else []
        for kind, word in entries:
            yield f'<rect class="{kind}" x="{x}" y="{y - 10}" width="14" height="12"/>'
            yield f'<text class="s" x="{x + 20}" y="{y}">{word}</text>'
            x += 44 + ceil(6.3 * len(word))
        if self.shown.waits:
            yield f'<path class="w" marker-end="url(#head)" d="M{x} {y - 4}h22"/>'
            yield f'<text class="s" x="{x + 28}" y="{y}">waits for an event</text>'


def ticks(span: float, most: int, *, whole: bool = False) -> list[float]:
    """At most `most` multiples of 1, 2 or 5 times a power of ten, from 0 on, within the span;
    `whole`: of integers."""
    if span <= 0:
        return [0.0]
    raw = span / most
    power = 10.0 ** floor(log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw * (1 - 1e-9))
    step = max(step, 1.0) if whole else step
    return [round(n * step, 12) for n in range(floor(span / step * (1 + 1e-9)) + 1)]


def clipped(name: str, room: int) -> str:
    """A name shortened to `room` characters in its middle, since names differ at their ends; empty
    below three."""
    if len(name) <= room:
        return name
    if room < 3:
        return ""
    tail = (room - 1) // 2
    return f"{name[: room - 1 - tail].rstrip()}…{name[-tail:].lstrip()}"


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _plain(text: str) -> str:
    """Text fit for XML, without control characters and surrogate halves."""
    return escape("".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text))
