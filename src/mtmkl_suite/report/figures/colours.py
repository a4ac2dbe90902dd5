"""One colour and one marker per method, the same in every figure of a paper."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mtmkl_suite.config.models import Method

STYLE = Path(__file__).with_name("style.mplstyle")

PALETTE = (
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#8c564b", "#6a3d9a",
    "#b2182b", "#4d9221", "#01665e", "#c51b7d", "#7f7f00", "#35478c", "#56b4e9",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
CONTROL_COLOURS = ("#8a8a8a", "#b8b8b8")


@dataclass(frozen=True)
class MethodStyle:
    """How a method is drawn.

    Attributes
    ----------
    colour : str
        ``#rrggbb``.
    marker : str
        Of matplotlib.
    """

    colour: str
    marker: str


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw and save under the project's style, whatever the user's settings are."""
    import matplotlib as mpl
    from matplotlib import style

    with style.context(["default", str(STYLE)]), mpl.rc_context({"backend": "agg"}):
        yield


def method_styles(methods: Mapping[str, Method]) -> dict[str, MethodStyle]:
    """Return the style of every method of a paper.

    ``methods``: ``methods`` of the paper's configuration; their order decides, so that
    a new method at the end changes no colour. Controls are grey.
    """
    styles = {}
    rivals = controls = 0
    for name, method in methods.items():
        if method.is_control:
            colour = CONTROL_COLOURS[controls % len(CONTROL_COLOURS)]
            marker = MARKERS[controls % len(MARKERS)]
            controls += 1
        else:
            colour = PALETTE[rivals % len(PALETTE)]
            marker = MARKERS[rivals % len(MARKERS)]
            rivals += 1
        styles[name] = MethodStyle(colour, marker)
    return styles


def shades(colour: str, count: int) -> list[str]:
    """Return a method's colour from light to full, for one curve a number of tasks."""
    from matplotlib.colors import to_hex, to_rgb

    if count == 1:
        return [to_hex(colour)]
    strengths = [0.35 + 0.65 * k / (count - 1) for k in range(count)]
    red, green, blue = to_rgb(colour)
    return [
        to_hex((1 - s * (1 - red), 1 - s * (1 - green), 1 - s * (1 - blue)))
        for s in strengths
    ]


def levels(colour: str, count: int) -> list[str]:
    """Return colours of one curve per level of a setting, dark blue to yellow-green."""
    import matplotlib as mpl
    from matplotlib.colors import to_hex

    if count == 1:
        return [to_hex(colour)]
    scale = mpl.colormaps["viridis"]
    return [to_hex(scale(0.9 * k / (count - 1))) for k in range(count)]
