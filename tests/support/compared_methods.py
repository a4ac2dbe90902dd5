"""Three methods on six data sets and one of images, with known means and seconds."""

from configured import artefact_of, of, paper_of
from made_scores import made_context, made_row

from mtmkl_suite.config.models import Comparison

NAMES = {"Alone": ["alone"], "Ours": ["ours", "ours_images"], "Linear": ["linear"]}
# Accuracy in per cent of Alone, Ours and Linear, with 10 % and with 50 %.
MEANS = {
    "A": ((60.0, 64.0, 50.0), (80.0, 82.0, 60.0)),
    "B": ((61.0, 66.0, 51.0), (81.0, 84.0, 61.0)),
    "C": ((62.0, 65.0, 52.0), (82.0, 83.0, 62.0)),
    "D": ((63.0, 70.0, 53.0), (83.0, 85.0, 63.0)),
    "E": ((64.0, 66.0, 54.0), (84.0, 84.1, 64.0)),
    "F": ((65.0, 71.0, 66.0), (85.0, 87.0, 86.0)),
    "Images": ((70.0, 75.0, None), (90.0, 91.0, None)),
}
SECONDS = {"Alone": 2.0, "Ours": 8.0, "Linear": 0.5}
SIZES = (10, 50)
COMPARISON = of(Comparison, {
    "control": "Alone",
    "scale": 100,
    "unit": "points",
    "rope": 0.5,
    "main": "all sizes",
    "pairs": ["Alone", "Ours"],
    "columns": {"Alone": "alone", "Ours": NAMES["Ours"], "Linear": "linear"},
    "rows": {
        name: {
            "experiment": name.lower(), "metric": "accuracy",
            "properties": ["few", *(["images"] if name == "Images" else [])],
        }
        for name in MEANS
    },
    "blocks": {
        "10 %": {"train_size": 10}, "50 %": {"train_size": 50}, "all sizes": {},
    },
})  # fmt: skip


def artefact(layout, **more):
    about = {"layout": layout, "title": "Compared", "comparison": COMPARISON}
    return artefact_of({**about, **more})


DECISIONS = artefact(
    "decisions",
    settings=[
        {"label": "Few samples", "property": "few", "block": "10 %"},
        {"label": "Images", "property": "images", "block": "all sizes"},
        {"label": "Noise", "property": "noise", "block": "all sizes"},
    ],
)
UNPUBLISHED = [
    DECISIONS,
    *map(artefact, ("method_scores", "method_ranks", "method_pairs", "left_out")),
    artefact("method_posteriors"),
    artefact("baselines", baselines=["Linear"], proposed=["Ours"]),
]


def score_rows(name):
    experiment, rows = name.lower(), []
    for size, values in zip(SIZES, MEANS[name], strict=True):
        for label, value in zip(NAMES, values, strict=True):
            if value is None:
                continue
            method = NAMES[label][-1 if name == "Images" else 0]
            at = {"dataset": experiment, "train_size": size}
            rows += [
                made_row(
                    experiment, method, "accuracy", (value + spread) / 100,
                    repeat=repeat, fit_seconds=SECONDS[label], **at,
                )
                for repeat, spread in enumerate((-0.2, 0.2))
            ]  # fmt: skip
    return rows


def context(names=tuple(MEANS), tier="paper"):
    config = {
        "tier": tier,
        "experiments": {
            name: {
                "datasets": {"name": name},
                "methods": [
                    {"method": each}
                    for each in ("alone", "ours", "ours_images", "linear")
                    if (name, each) != ("images", "linear")
                ],
            }
            for name in map(str.lower, MEANS)
        },
        "artefacts": {
            f"figure_{what}_classification": {
                "kind": "figure",
                "comparison": COMPARISON,
            }
            for what in ("ranks", "differences", "cost", "sizes")
        },
    }
    rows = [row for name in names for row in score_rows(name)]
    return made_context(paper_of(config), rows, origin="original")
