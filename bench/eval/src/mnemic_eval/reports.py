"""Report of a set as files: a Markdown page with the command and its conditions, and charts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic_eval.outcome import SPLITS
from mnemic_eval.plots import Bars, bar_chart
from mnemic_eval.tables import figures_of, set_table

PAGE, DATA = "report.md", "result.json"


def write_report(result: Mapping[str, Any], folder: Path, command: str) -> list[Path]:
    """Write `report.md`, the charts it shows and `result.json` into `folder`, which is made; the files written.

    `result` is what the runner of a set returned, `command` what printed it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = str(result["settings"]["set"])
    charts = dict(_charts(result, name)) if "overall" in result else {}
    texts = {
        **charts,
        PAGE: _page(result, name, command, list(charts)),
        DATA: json.dumps(result, indent=1, ensure_ascii=False) + "\n",
    }
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    return [folder / file for file in texts]


def _page(result: Mapping[str, Any], name: str, command: str, charts: Sequence[str]) -> str:
    lines = [f"# {name}", "", "```", command, "```", ""]
    lines += [line for chart in charts for line in (f"![{_words(chart)}]({chart})", "")]
    return "\n".join([*lines, "```", set_table(result), "```", ""])


def _words(file: str) -> str:
    return file.removesuffix(".svg").replace("-", " ")


def _charts(result: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    """Yield a chart of the categories for each figure of the set, and one of the ablation."""
    figures = figures_of(result["overall"])
    for figure in figures:
        rows = [_halves("all", result, figure)]
        rows += [_halves(category, _category(result, category), figure) for category in result["categories"]]
        title = f"{name}: {figure}, per cent with 95 % intervals"
        yield f"{name}-{_file(figure)}.svg", bar_chart(rows, title=title, x="per cent", most=100)
    if "ablation" in result:
        figure = figures[min(1, len(figures) - 1)]
        rows = [_halves(variant, part, figure) for variant, part in result["ablation"].items()]
        title = f"{name}: {figure} of the ranking and its parts, per cent"
        yield f"{name}-ablation.svg", bar_chart(rows, title=title, x="per cent", most=100)


def _file(figure: str) -> str:
    return figure.replace("@", "-at-").replace("_", "-")


def _category(result: Mapping[str, Any], category: str) -> dict[str, Any]:
    return {split: result[split]["categories"].get(category, {}) for split in SPLITS}


def _halves(label: str, parts: Mapping[str, Mapping[str, Any]], figure: str) -> Bars:
    known = {split: parts[split] for split in SPLITS if parts[split].get(figure) is not None}
    return Bars(
        label=label,
        values={split: round(100 * part[figure], 1) for split, part in known.items()},
        intervals={
            split: (100 * part["ci95"][figure][0], 100 * part["ci95"][figure][1])
            for split, part in known.items()
            if "ci95" in part
        },
    )
