"""Reports for people, rendered from the JSON data of `bench.run` and of the sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_NOT_MEASURED = "-"


def set_table(result: Mapping[str, Any]) -> str:
    """Return the report of any set."""
    if "overall" in result:
        return recall_table(result)
    return halves_table(result) if "dev" in result and "test" in result else figures_table(result)


def figures_table(result: Mapping[str, Any]) -> str:
    """Return a line per figure of a set that has no halves: shares in per cent, counts as they are."""
    rows = [["", "", "n"]]
    for name, part in result.items():
        if name != "settings":
            rows += _figure_rows(name, part)
    return "\n".join([*_grid(rows), "", *_conditions(result["settings"])])


def _figure_rows(name: str, part: Any) -> Iterator[list[str]]:
    if not isinstance(part, Mapping):
        yield [name, _percent(part) if part is None or isinstance(part, float) else str(part), ""]
    elif part.keys() == {"share", "n"}:
        yield [name, *_count_cells(part)]
    else:
        for inner, one in part.items():
            yield from _figure_rows(f"{name}: {inner}", one)


def halves_table(result: Mapping[str, Any]) -> str:
    """Return a line per figure and per part of it, in per cent, for `dev` and `test`, with how many were counted."""
    halves = [result[split] for split in ("dev", "test")]
    names = [name for name, value in halves[0].items() if value is None or isinstance(value, float)]
    body = [[name, *(cell for half in halves for cell in (_percent(half[name]), ""))] for name in names]
    entities = [half.get("by_entity", {}) for half in halves]
    body += [
        [f"by_entity: {entity}", *(cell for half in entities for cell in _count_cells(half.get(entity)))]
        for entity in sorted(entities[0].keys() | entities[1].keys())
    ]
    return "\n".join([*_grid([["", "dev", "n", "test", "n"], *body]), "", *_conditions(result["settings"])])


def _count_cells(part: Mapping[str, Any] | None) -> tuple[str, str]:
    return (_percent(part["share"]), str(part["n"])) if part else (_NOT_MEASURED, "0")


def recall_table(result: Mapping[str, Any]) -> str:
    """Return the figures of a set in per cent, a line per part and category, each with its 95 % interval."""
    names = figures_of(result["overall"])
    ablation = _ablation_rows(result["ablation"], names) if "ablation" in result else []
    pinned = ["", *_recall_rows(result["standing"])] if "standing" in result else []
    known = ["", *_known_rows(result["known"])] if "known" in result else []
    parts = [*_recall_rows(result), *pinned, *known, *ablation]
    return "\n".join([*parts, "", *_conditions(result["settings"])])


def _known_rows(known: Mapping[str, Any]) -> list[str]:
    """Return rows of abstention accuracy, by half."""
    names = ("auc", "auc_adversarial", "own_abstained", "others_abstained", "adversarial_abstained")
    rows = [[split, *(_percent(half.get(name)) for name in names)] for split, half in known.items()]
    return _grid([["is anything known?", *(name.replace("_", " ") for name in names)], *rows])


def figures_of(part: Mapping[str, Any]) -> list[str]:
    """Return the names of the figures in one part of a result."""
    return [name for name in part if name not in {"questions", "ci95"}]


def _recall_rows(result: Mapping[str, Any]) -> list[str]:
    names = figures_of(result["overall"])
    rows = [("overall", result["overall"]), *sorted(result["categories"].items())]
    for split in ("dev", "test"):
        rows += [
            (split, result[split]),
            *((f"{split}: {name}", part) for name, part in result[split]["categories"].items()),
        ]
    body = [
        [label, str(part["questions"]), *(_share(part, name) for name in names)]
        for label, part in rows
        if part["questions"]
    ]
    return _grid([["", "questions", *names], *body])


def _ablation_rows(ablation: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return a line per variant: the figures on dev and test in per cent, and the median search time."""
    head = ["variant", *(f"{split} {name}" for split in ("dev", "test") for name in names), "search ms"]
    body = [
        [
            variant,
            *(_percent(part[split][name]) for split in ("dev", "test") for name in names),
            _ms(part["search_p50_ms"]),
        ]
        for variant, part in ablation.items()
    ]
    return ["", *_grid([head, *body])]


def bench_table(result: Mapping[str, Any]) -> str:
    """Return the figures of a bench, milliseconds unless a unit is named."""
    parts = (f"{part} {point}" for part in ("embed", "overhead") for point in ("p50", "p95"))
    lines = _grid([["milliseconds", "p50", "p95", "p99", *parts, "CPU", "by its floor"], *_call_rows(result)])
    kinds = [*_grid([["each kind, milliseconds", "store", "p50", "p95", "budget p95"], *_kind_rows(result)]), ""]
    return "\n".join([*lines, "", *kinds, *_single_figures(result), "", *_conditions(result["settings"])])


def _kind_rows(result: Mapping[str, Any]) -> Iterator[list[str]]:
    for store, verbs in result.get("kinds", {}).items():
        for name, figures in verbs.items():
            times = (_ms(figures[column]) for column in ("p50_ms", "p95_ms", "budget_p95_ms"))
            yield [name if figures["p95_ms"] <= figures["budget_p95_ms"] else f"{name} (over)", store, *times]


def _call_rows(result: Mapping[str, Any]) -> Iterator[list[str]]:
    shared = result.get("shared", {})
    calls = {
        f"write at {result['write']['rows']:,} memories": result["write"],
        f"search at {result['search']['rows']:,} memories": result["search"],
        f"injection at {result['injection']['rows']:,} memories": result["injection"],
        "context of what was found": result["context"],
        f"write, {shared.get('other_rows', 0):,} rows of others": shared.get("write"),
        f"search, {shared.get('other_rows', 0):,} rows of others": shared.get("search"),
        "embedder alone": result["floor"]["embed"],
        "bare commit": result["floor"]["commit"],
        f"one pass over {result['search']['rows']:,} vectors": result["floor"]["scan"],
    }
    columns = ["p50_ms", "p95_ms", "p99_ms", "embed_p50_ms", "embed_p95_ms", "overhead_p50_ms", "overhead_p95_ms"]
    columns += ["cpu_ms", "times_floor"]
    for label, figures in calls.items():
        if figures:
            yield [label, *(_ms(figures.get(column)) for column in columns)]


def _single_figures(result: Mapping[str, Any]) -> Iterator[str]:
    if shared := result.get("shared"):
        yield f"search p95 among {shared['other_users']} other users / alone: {shared['search_p95_ratio']:.2f}"
    if batch := result["import"]:
        yield (
            f"batch import: {batch['memories_per_s']:.0f} memories/s, embedder alone "
            f"{batch['embedder_alone_per_s']:.0f}/s: {batch['share_of_embedder']:.0%} of it"
        )
    if cold := result.get("cold_start"):
        yield from _start_figures(cold)
    weight, memory = result["footprint"], result["memory"]
    yield (
        f"default install: {weight['install_mb']:.0f} MB ({weight['bytecode_mb']:.0f} of it compiled), "
        f"{weight['direct']} direct dependencies, {weight['distributions']} distributions in all"
    )
    yield (
        f"a memory on disk: {memory['bytes_per_memory']:,} bytes (file {memory['file_mb']} MB); "
        f"peak memory of the bench: {memory['peak_rss_mb']:.0f} MB"
    )
    yield f"how the timed writes ended: {_counts(result['write']['outcomes'])}"


def _start_figures(cold: Mapping[str, Any]) -> Iterator[str]:
    yield (
        f"mnemic --help: {cold['help_ms']:.0f} ms at best, median {cold['help_p50_ms']:.0f} "
        f"(python itself {cold['python_ms']:.0f}); import mnemic: {cold['import_ms']:.0f} ms"
    )
    yield (
        f"first search of a new process: {cold['first_search_ms']:.0f} ms at best, "
        f"median {cold['first_search_p50_ms']:.0f}, {cold['first_search_peak_mb']:.0f} MB"
    )


def _conditions(settings: Mapping[str, Any]) -> Iterator[str]:
    machine = settings["machine"]
    yield (
        f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, load {machine['load_1min']}; "
        f"{settings['measured_at']}; seed {settings['seed']}; embedder {settings['embedder']}"
    )
    yield ", ".join(f"{name} {version}" for name, version in settings["versions"].items())
    if "options" in settings:
        yield f"file system {settings['file_system']}; {_counts(settings['options'])}"
        yield f"load when it ended: {settings['load_1min_after']}; with other work on the machine, all times grow"
    if "messages" in settings:
        unread = _counts(settings.get("unread", {})) or "none"
        yield (
            f"{settings['messages']} messages told, refused: {_counts(settings['refused']) or 'none'}; "
            f"could not be read: {unread}; search p95 {settings['search']['p95_ms']} ms"
        )


def _counts(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _share(part: Mapping[str, Any], name: str) -> str:
    low, high = part["ci95"][name]
    return f"{100 * part[name]:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def _percent(value: float | None) -> str:
    return _NOT_MEASURED if value is None else f"{100 * value:.1f}"


def _ms(value: float | None) -> str:
    return _NOT_MEASURED if value is None else f"{value:.2f}"


def _grid(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return lines with columns as wide as their widest cell: the first left-aligned, the others right-aligned."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
