"""The published record of a paper, as it is in a checkout of the repository."""

from pathlib import Path

from mtmkl.documents import ConfigError, config_dir


def published_folder(paper: str) -> Path:
    """Return the folder of a paper's published record."""
    figures = config_dir().parent / "figures"
    folder = figures / paper
    if (folder / "scores.csv.gz").is_file():
        return folder
    known = published_papers()
    if not known:
        raise ConfigError(
            f"{figures} does not exist: published records are in the repository and "
            "not in the package, so run this in a checkout"
        )
    raise ConfigError(
        f"paper {paper!r} has no published record; published: {', '.join(known)}"
    )


def published_papers() -> list[str]:
    """Return the ids of the papers with a published record, none outside a checkout."""
    found = (config_dir().parent / "figures").glob("*/scores.csv.gz")
    return sorted(path.parent.name for path in found)
