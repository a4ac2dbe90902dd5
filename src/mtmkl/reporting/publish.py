"""Copy a finished paper tier into ``figures/``, and write its gallery."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mtmkl.files import write_text

RECORD = (
    "scores.csv.gz",
    "statistics.csv",
    "verdicts.csv",
    "claims.csv",
    "provenance.json",
)
"""Files beside the artefacts that other programs read."""

_ENDINGS = {"figure": ("svg", "pdf", "csv"), "table": ("csv", "md", "tex")}


def publish(
    configs: Sequence[Mapping[str, Any]], results: Path, figures: Path, *, tier: str
) -> None:
    """Copy artefacts and record of each paper to ``figures/<id>``.

    Parameters
    ----------
    configs : sequence of mapping
        The papers' configurations, their tier resolved.
    results : Path
        ``results/<tier>``.
    figures : Path
        Target; ``README.md`` in it becomes the gallery of all papers there.
    tier : {"quick", "paper"}

    Raises
    ------
    ValueError
        If the tier is not the paper tier: reduced runs are not published.
    FileNotFoundError
        If a file has not been made; nothing is copied then.
    """
    if tier != "paper":
        raise ValueError(
            f"only the paper tier is published, not {tier!r}: add --config tier=paper"
        )
    copies: list[tuple[Path, Path]] = []
    for config in configs:
        paper = config["paper"]["id"]
        names = [
            f"artefacts/{name}.{ending}"
            for name, artefact in config["artefacts"].items()
            for ending in _ENDINGS[artefact["kind"]]
        ]
        for name in (*RECORD, *names):
            source = results / paper / name
            if not source.is_file():
                raise FileNotFoundError(f"{source} has not been made")
            copies.append((source, figures / paper / Path(name).name))
    for source, target in copies:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    for config in configs:
        folder = figures / config["paper"]["id"]
        write_text(folder / "README.md", paper_gallery(config, folder))
    write_text(figures / "README.md", _index(figures))


def paper_gallery(config: Mapping[str, Any], folder: Path) -> str:
    """Return the Markdown page of a paper's published artefacts.

    Parameters
    ----------
    config : mapping
        The paper's configuration.
    folder : Path
        Where its artefacts have been copied to.
    """
    paper = config["paper"]
    verdicts = pd.read_csv(folder / "verdicts.csv")
    claims = pd.read_csv(folder / "claims.csv")
    lines = [
        f"# {paper['title']}",
        "",
        f"{paper['authors']} ({paper['year']}), {paper['venue']}. Paper tier; numbers, "
        "rules and data in [verdicts.csv](verdicts.csv), "
        "[claims.csv](claims.csv), [statistics.csv](statistics.csv), "
        "[scores.csv.gz](scores.csv.gz), [provenance.json](provenance.json).",
        "",
        f"Published cells: {_counts(verdicts['verdict'])}. "
        f"Claims: {_counts(claims['verdict'])}.",
        "",
        "| claim | section | verdict | evidence |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {row.claim} | {row.section} | {row.verdict} | {row.note} |"
        for row in claims.itertuples()
    ]
    for name, artefact in config["artefacts"].items():
        lines += ["", f"## {_heading(name)}: {artefact['title']}", ""]
        if artefact["kind"] == "figure":
            lines.append(f"![{artefact['title']}]({name}.svg)")
            lines.append("")
            lines.append(f"[pdf]({name}.pdf) · [numbers]({name}.csv)")
        else:
            lines.append((folder / f"{name}.md").read_text(encoding="utf-8").strip())
            lines.append("")
            lines.append(f"[csv]({name}.csv) · [tex]({name}.tex)")
    return "\n".join(lines) + "\n"


def _index(figures: Path) -> str:
    lines = [
        "# Gallery",
        "",
        "What the last full run of the paper tier has made, one folder a paper, "
        "written by `make publish`. The rules behind the verdicts: "
        "[docs/verdicts.md](../docs/verdicts.md).",
        "",
        "| paper | printed numbers | claims |",
        "|---|---|---|",
    ]
    for page in sorted(figures.glob("*/README.md")):
        title = page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        verdicts = pd.read_csv(page.parent / "verdicts.csv")["verdict"]
        claims = pd.read_csv(page.parent / "claims.csv")["verdict"]
        link = f"[{page.parent.name}]({page.parent.name}/README.md)"
        lines.append(f"| {link}: {title} | {_counts(verdicts)} | {_counts(claims)} |")
    return "\n".join(lines) + "\n"


def _counts(verdicts: pd.Series) -> str:
    counts = verdicts.value_counts(sort=False)
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def _heading(name: str) -> str:
    kind, _, number = name.partition("_")
    return f"{kind.capitalize()} {number}"
