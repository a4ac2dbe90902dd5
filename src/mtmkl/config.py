"""Where the configuration lives, in a checkout and in an installed package."""

from pathlib import Path


def config_dir() -> Path:
    """Return the folder that holds ``datasets.yaml``, ``papers/`` and ``published/``.

    Raises
    ------
    FileNotFoundError
        If neither the installed package nor the checkout has it.
    """
    package = Path(__file__).resolve().parent
    for candidate in (package / "config", package.parents[1] / "config"):
        if (candidate / "datasets.yaml").is_file():
            return candidate
    raise FileNotFoundError(
        "config/datasets.yaml not found: install mtmkl from a checkout or a wheel"
    )
