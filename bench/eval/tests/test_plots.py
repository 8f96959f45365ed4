from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import pytest

from mnemic.errors import InvalidInput
from mnemic_eval.plots import PALETTE, Axis, Bars, Line, bar_chart, line_chart

SVG = "{http://www.w3.org/2000/svg}"
DARK = "#0d1117"


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in parsed(svg).iter(f"{SVG}text")]


def luminance(colour: str) -> float:
    """WCAG 2.2, relative luminance."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", PALETTE)
@pytest.mark.parametrize("ground", ["#ffffff", DARK])
def test_every_colour_can_be_seen_on_light_and_dark_pages(colour: str, ground: str) -> None:
    low, high = sorted((luminance(colour), luminance(ground)))
    assert (high + 0.05) / (low + 0.05) >= 3


def test_a_line_chart_says_its_title_and_every_number_in_words() -> None:
    svg = line_chart(
        [Line(name="search", points=((1_000, 2.5), (10_000, 4.25)))], title="Growth", x="memories", y="milliseconds"
    )
    root = parsed(svg)
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title desc"
    assert root.findtext(f"{SVG}title") == "Growth"
    assert root.findtext(f"{SVG}desc") == "milliseconds over memories. search: 1,000 → 2.5, 10,000 → 4.25."
    assert {"search", "memories", "milliseconds"} <= set(texts(svg))


def test_a_higher_value_stands_higher_and_further_right() -> None:
    svg = line_chart([Line(name="a", points=((1, 1), (2, 5)))], title="t", x="x", y="y")
    points = parsed(svg).find(f"{SVG}polyline")
    assert points is not None
    (left, low), (right, high) = (map(float, pair.split(",")) for pair in points.attrib["points"].split())
    assert right > left
    assert high < low


def test_a_log_axis_gives_each_power_of_ten_the_same_room() -> None:
    axis = Axis(1, 1_000, 0, 300, log=True)
    assert [axis.px(value) for value in (1, 10, 100, 1_000)] == pytest.approx([0, 100, 200, 300])
    assert axis.ticks == [1, 10, 100, 1_000]


def test_bars_are_as_long_as_their_values() -> None:
    svg = bar_chart(
        [Bars(label="full", values={"test": 80.0}), Bars(label="alone", values={"test": 40.0})],
        title="t",
        x="%",
        most=100,
    )
    widths = [float(each.attrib["width"]) for each in parsed(svg).iter(f"{SVG}rect")]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.2)


def test_an_interval_is_drawn_and_counts_for_the_end_of_the_axis() -> None:
    svg = bar_chart([Bars(label="a", values={"v": 1.0}, intervals={"v": (0.5, 3.0)})], title="t", x="x")
    assert sum(each.get("class") == "axis" for each in parsed(svg).iter(f"{SVG}path")) == 1
    assert "3" in texts(svg)


def test_two_series_have_a_legend_and_differ_by_more_than_colour() -> None:
    svg = bar_chart([Bars(label="a", values={"dev": 1.0, "test": 2.0})], title="t", x="x")
    assert {"dev", "test"} <= set(texts(svg))
    patterns = {each.get("id"): len(each) for each in parsed(svg).iter(f"{SVG}pattern")}
    assert patterns["fill0"] == 1
    assert patterns["fill1"] == 2


def test_text_cannot_end_its_element() -> None:
    svg = bar_chart([Bars(label="</text><script>", values={"<b>": 1.0})], title="a & b", x="<x>")
    assert "<script>" not in svg
    assert "</text><script>" in texts(svg)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(InvalidInput, match="plot:value"):
        line_chart([Line(name="a", points=((1, value),))], title="t", x="x", y="y")


def test_a_log_axis_refuses_zero() -> None:
    with pytest.raises(InvalidInput, match="plot:value"):
        line_chart([Line(name="a", points=((0, 1), (1, 1)))], title="t", x="x", y="y", log_x=True)


def test_bars_refuse_what_is_negative_or_beyond_the_axis() -> None:
    for value, most in ((-1.0, None), (101.0, 100.0)):
        with pytest.raises(InvalidInput, match="plot:value"):
            bar_chart([Bars(label="a", values={"v": value})], title="t", x="x", most=most)


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(InvalidInput, match="plot:empty"):
        line_chart([], title="t", x="x", y="y")
    with pytest.raises(InvalidInput, match="plot:empty"):
        bar_chart([], title="t", x="x")


def test_one_point_and_equal_values_have_axes_too() -> None:
    assert "polyline" in line_chart([Line(name="a", points=((5, 0),))], title="t", x="x", y="y")
