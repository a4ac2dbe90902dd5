"""Figures and the page of benchmarks."""

import json
from pathlib import Path
from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555")
STYLES = ("-", "--", ":", "-.")
COLUMNS_OF_PANELS = 3
VALUES = {"seconds": "seconds", "peak_mb": "peak of memory, MB"}


def draw(table: Any, path: Path) -> None:
    """Draw seconds against size, one panel per series, ours in the first colour.

    Peaks of memory have panels of their own where all of them were measured.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot, rc_context

    names = list(dict.fromkeys(row["series"] for row in table.rows))
    if not names:
        return
    baselines = list(dict.fromkeys(row["baseline"] for row in table.rows))
    measured = [v for v in VALUES if all(row[v] != "" for row in table.rows)]
    panels = [(value, name) for value in measured for name in names]
    n_columns = min(len(names), COLUMNS_OF_PANELS + (len(measured) > 1))
    n_rows = -(-len(panels) // n_columns)
    with rc_context({"svg.hashsalt": "mtmkl", "font.size": 8, "svg.fonttype": "none"}):
        figure, axes = pyplot.subplots(
            n_rows,
            n_columns,
            figsize=(3.1 * n_columns, 2.5 * n_rows + 0.6 + 0.1 * len(baselines)),
            squeeze=False,
            layout="constrained",
        )
        for axis, (value, name) in zip(axes.flat, panels, strict=False):
            rows = [row for row in table.rows if row["series"] == name]
            for baseline in baselines:
                own = [row for row in rows if row["baseline"] == baseline]
                axis.plot(
                    [row["size"] for row in own],
                    [row[value] for row in own],
                    STYLES[baselines.index(baseline) // len(COLOURS) % len(STYLES)],
                    marker="o" if baselines.index(baseline) == 0 else "s",
                    markersize=3.5,
                    color=COLOURS[baselines.index(baseline) % len(COLOURS)],
                    label=baseline,
                )
            axis.set_title(name, fontsize=8)
            axis.set_xlabel(rows[0]["axis"])
            axis.set_ylabel(VALUES[value])
            axis.set_yscale("log")
            if all(isinstance(row["size"], int) for row in rows):
                axis.set_xscale("log")
            else:
                axis.tick_params(axis="x", labelrotation=30)
        for axis in list(axes.flat)[len(panels) :]:
            axis.axis("off")
        handles = {
            label: line
            for axis in axes.flat
            for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            handles.values(),
            handles,
            loc="outside lower center",
            ncols=4,
            frameon=False,
        )
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        pyplot.close(figure)


def write_page(folder: Path, provenance: Any, quick: bool) -> None:
    """Write README.md: the ratios at the largest sizes, and the figures."""
    import csv

    lines = [
        "# Benchmarks",
        "",
        "Written by `make benchmark`. How these numbers come about, and what they "
        "leave out: [docs/benchmarks.md](../../docs/benchmarks.md).",
        "",
    ]
    if quick:
        lines += ["**A quick run, of small sizes: these are no measurements.**", ""]
    packages = ", ".join(f"{k} {v}" for k, v in provenance["packages"].items())
    lines += [
        f"Commit {str(provenance['commit'])[:12]}, {provenance['cores']} cores of "
        f"{provenance['system']}, Python {provenance['python']}, {packages}.",
        "",
    ]
    # The table of the paper tier has another command.
    for path in sorted(folder.glob("*.json")):
        about = json.loads(path.read_text(encoding="utf-8"))
        with path.with_suffix(".csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        lines += [f"## {about['title']}", "", f"![{about['title']}]({path.stem}.svg)"]
        lines += [
            "",
            "| problem | size | solver | seconds | ratio to ours | solver alone "
            "| error | slope | peak MB | |",
            "|---|---|---|---|---|---|---|---|---|---|",
        ]
        for row in _last(rows):
            lines.append(
                f"| {row['series']} | {row['axis']} {row['size']} | "
                f"{row['baseline']} | {row['seconds']} | {row['ratio']} | "
                f"{row['ratio_alone']} | {row['error']} | {row['slope']} | "
                f"{row['peak_mb']} | {row['remark']} |"
            )
        if about["left_out"]:
            lines += ["", "Left out:", ""]
            lines += [f"- {what}" for what in about["left_out"]]
        lines.append("")
    (folder / "README.md").write_text("\n".join(lines), encoding="utf-8")


def _last(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the rows of each baseline at its largest size in each series."""
    last = {(row["series"], row["baseline"]): row for row in rows}
    return [row for row in rows if last[row["series"], row["baseline"]] is row]
