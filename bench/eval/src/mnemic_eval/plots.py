"""Line and bar charts as SVG text, for reports, without a library, a script or an embedded font.

A chart can be read without seeing it (`title`, and `desc` with every number), without colours (dashes, marks and
hatching differ as well), and on light and dark pages: the ground is transparent, letters follow the reader's colour
scheme, and each colour of `PALETTE` keeps a contrast of 3:1 (WCAG 2.2, 1.4.11) with white and with a dark page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType

from mnemic.errors import InvalidInput

PALETTE = ("#0b84d8", "#c2620a", "#159a72", "#b453a4", "#8a7a00", "#d04a4a")
DASHES = ("none", "7 3", "2 3", "9 3 2 3", "4 4", "1 4")
WIDTH, HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 76, 40, 44, 66
_ROW, _GAP = 16, 10
_SVG = "http://www.w3.org/2000/svg"
_STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#24292f}.title{font-weight:600}"
    ".axis{stroke:#57606a}.grid{stroke:#57606a;stroke-opacity:.25}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.axis{stroke:#9198a1}.grid{stroke:#9198a1}}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a chart: its label in the legend, and its points as (x, y)."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """The bars of one row: a value for each series, with its interval if known."""

    label: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Axis:
    """Scale from the values `low` to `high` to the positions `start` to `end`, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def px(self, value: float) -> float:
        """Return the position of `value`."""
        scale: Callable[[float], float] = math.log10 if self.log else float
        share = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))
        return self.start + share * (self.end - self.start)

    @property
    def ticks(self) -> list[float]:
        """Return round values from one end to the other, inclusive."""
        if self.log:
            return [10.0**power for power in range(round(math.log10(self.low)), round(math.log10(self.high)) + 1)]
        step = _step(self.high - self.low)
        return [round(self.low + number * step, 10) for number in range(round((self.high - self.low) / step) + 1)]


def line_chart(lines: Sequence[Line], *, title: str, x: str, y: str, log_x: bool = False, log_y: bool = False) -> str:
    """`lines` over two labelled axes. A linear y axis begins at zero.

    Raises InvalidInput (`plot:empty`; `plot:value` for what is not finite, or not above zero on a log axis).
    """
    points = [point for line in lines for point in line.points]
    if not points:
        raise InvalidInput("plot:empty")
    across = _axis([point[0] for point in points], _LEFT, WIDTH - _RIGHT, log=log_x)
    up = _axis([point[1] for point in points], HEIGHT - _BOTTOM, _TOP, log=log_y, zero=True)
    body = [*_frame(across, up), *_labels(x, y)]
    for place, line in enumerate(lines):
        body += _line(place, [(across.px(one), up.px(other)) for one, other in line.points])
    body += _legend([line.name for line in lines], _LEFT, HEIGHT - 8, marks=True)
    description = "; ".join(
        f"{line.name}: " + ", ".join(f"{_number(one)} → {_number(other)}" for one, other in line.points)
        for line in lines
    )
    return _svg(HEIGHT, title, f"{y} over {x}. {description}.", body)


def bar_chart(rows: Sequence[Bars], *, title: str, x: str, most: float | None = None) -> str:
    """Horizontal bars from zero, a row of them for each of `rows`, with their intervals; `most` ends the axis.

    Raises InvalidInput (`plot:empty`; `plot:value` for what is negative, not finite, or beyond `most`).
    """
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    ends = [end for row in rows for end in (*row.values.values(), *(i[1] for i in row.intervals.values()))]
    if not names:
        raise InvalidInput("plot:empty")
    if min(ends) < 0 or (most is not None and max(ends) > most):
        raise InvalidInput("plot:value")
    left = min(WIDTH // 2, 24 + 7 * max(len(row.label) for row in rows))
    high = _TOP + len(rows) * (len(names) * _ROW + _GAP)
    across = _axis([*ends, most or 0.0], left, WIDTH - _RIGHT - 10, zero=True)
    body = [*_upright(across, _TOP, high), *_across_label(x, high + 38)]
    for place, row in enumerate(rows):
        body += _bars(row, names, across, _TOP + place * (len(names) * _ROW + _GAP) + _GAP / 2)
    if len(names) > 1:
        body += _legend(names, left, high + 60, marks=False)
    description = "; ".join(
        f"{row.label}: " + ", ".join(f"{name} {_number(value)}" for name, value in row.values.items()) for row in rows
    )
    return _svg(high + (70 if len(names) > 1 else 48), title, f"{x}. {description}.", body)


def _svg(height: float, title: str, line: str, body: Sequence[str]) -> str:
    return "\n".join(
        (
            f'<svg xmlns="{_SVG}" viewBox="0 0 {WIDTH} {height:g}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(line)}</desc>',
            f"<style>{_STYLE}</style>",
            *_hatches(),
            _text(WIDTH / 2, 22, title, anchor="middle", name="title"),
            *body,
            "</svg>\n",
        )
    )


def _hatches() -> Iterator[str]:
    """Yield a pattern for each series, so that bars differ by more than their colour."""
    yield "<defs>"
    for place, colour in enumerate(PALETTE):
        turned = f' patternTransform="rotate({45 * place})"' if place else ""
        stripe = '<path d="M0 0V6" stroke="#fff" stroke-opacity=".45" stroke-width="3"/>' if place else ""
        yield (
            f'<pattern id="fill{place}" width="6" height="6" patternUnits="userSpaceOnUse"{turned}>'
            f'<path d="M0 0H6V6H0Z" fill="{colour}"/>{stripe}</pattern>'
        )
    yield "</defs>"


def _axis(values: Sequence[float], start: float, end: float, *, log: bool = False, zero: bool = False) -> Axis:
    if not all(map(math.isfinite, values)) or (log and min(values) <= 0):
        raise InvalidInput("plot:value")
    if log:
        first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return Axis(10.0**first, 10.0 ** max(last, first + 1), start, end, log=True)
    low, high = min(values), max(values)
    if zero:
        low, high = min(0.0, low), max(0.0, high)
    if high <= low:
        high = low + 1
    step = _step(high - low)
    return Axis(step * math.floor(low / step), step * math.ceil(high / step - 1e-9), start, end)


def _step(span: float) -> float:
    """Return 1, 2 or 5 times a power of ten, so that `span` has about five such steps."""
    size = 10.0 ** math.floor(math.log10(span / 5))
    return size * next(factor for factor in (1, 2, 5, 10) if span / 5 <= factor * size * 1.000_001)


def _frame(across: Axis, up: Axis) -> Iterator[str]:
    yield from _upright(across, up.end, up.start)
    for tick in up.ticks:
        yield f'<path class="grid" d="M{across.start:g} {up.px(tick):.1f}H{across.end:g}"/>'
        yield _text(across.start - 8, up.px(tick) + 4, _number(tick), anchor="end")
    yield f'<path class="axis" fill="none" d="M{across.start:g} {up.end:g}V{up.start:g}H{across.end:g}"/>'


def _upright(across: Axis, top: float, bottom: float) -> Iterator[str]:
    for tick in across.ticks:
        yield f'<path class="grid" d="M{across.px(tick):.1f} {top:g}V{bottom:g}"/>'
        yield _text(across.px(tick), bottom + 18, _number(tick), anchor="middle")


def _labels(x: str, y: str) -> Iterator[str]:
    yield from _across_label(x, HEIGHT - 28)
    middle = (HEIGHT + _TOP - _BOTTOM) / 2
    yield f'<g transform="rotate(-90 16 {middle:g})">{_text(16, middle, y, anchor="middle")}</g>'


def _across_label(x: str, height: float) -> Iterator[str]:
    yield _text(WIDTH / 2, height, x, anchor="middle")


def _line(place: int, points: Sequence[tuple[float, float]]) -> Iterator[str]:
    colour = PALETTE[place % len(PALETTE)]
    path = " ".join(f"{one:.1f},{other:.1f}" for one, other in points)
    yield (
        f'<polyline fill="none" stroke="{colour}" stroke-width="2"'
        f' stroke-dasharray="{DASHES[place % len(DASHES)]}" points="{path}"/>'
    )
    yield from (_mark(place, one, other) for one, other in points)


def _mark(place: int, x: float, y: float) -> str:
    """Return a dot, a square, a triangle or a diamond."""
    colour = PALETTE[place % len(PALETTE)]
    shapes = (
        "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
        "m-3-3h6v6h-6z",
        "m0-4l4 7h-8z",
        "m0-4.5l4 4.5l-4 4.5l-4-4.5z",
    )
    return f'<path fill="{colour}" d="M{x:.1f} {y:.1f}{shapes[place % len(shapes)]}"/>'


def _bars(row: Bars, names: Sequence[str], across: Axis, top: float) -> Iterator[str]:
    yield _text(across.start - 8, top + len(names) * _ROW / 2 + 4, row.label, anchor="end")
    for place, name in enumerate(names):
        value, height = row.values.get(name), top + place * _ROW
        if value is None:
            continue
        width = across.px(value) - across.start
        yield (
            f'<rect x="{across.start:g}" y="{height:g}" width="{width:.1f}" height="{_ROW - 2}"'
            f' fill="url(#fill{place % len(PALETTE)})"/>'
        )
        low, high = row.intervals.get(name, (value, value))
        if high > low:
            middle = height + _ROW / 2 - 1
            yield f'<path class="axis" stroke-width="2" d="M{across.px(low):.1f} {middle:g}H{across.px(high):.1f}"/>'
        yield _text(max(across.px(high), across.px(value)) + 5, height + _ROW - 4, _number(value))


def _legend(names: Sequence[str], left: float, y: float, *, marks: bool) -> Iterator[str]:
    for place, name in enumerate(names):
        if marks:
            yield _mark(place, left, y - 4)
        else:
            fill = f"url(#fill{place % len(PALETTE)})"
            yield f'<rect x="{left - 5:g}" y="{y - 10:g}" width="10" height="10" fill="{fill}"/>'
        yield _text(left + 9, y, name)
        left += 36 + 7 * len(name)


def _text(x: float, y: float, text: str, *, anchor: str = "start", name: str | None = None) -> str:
    style = f' class="{name}"' if name else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(text)}</text>'


def _number(value: float) -> str:
    """Return `value` in few digits: 12,000, 62.5, 0.004."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
