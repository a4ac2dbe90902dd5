"""Numbers that the page of a comparison computes in a browser, against the library."""

import html
import json
import re
from urllib.parse import urlencode

import demsar2006
import numpy as np
import pandas as pd
import pytest
from browser import NEEDED, SCHEMES, WIDTHS, look, opened
from made_scores import made_context
from scipy import stats

from mtmkl_suite.config.load import load_paper
from mtmkl_suite.documents import config_dir
from mtmkl_suite.judge.comparison import pairwise_table, ranking_matrix, seconds_matrix
from mtmkl_suite.judge.sample import read_scores
from mtmkl_suite.papers.comparison.figures import pareto_front
from mtmkl_suite.report.context import read_overlaps
from mtmkl_suite.report.pages.comparison_page import comparison_page
from mtmkl_suite.report.pages.comparison_parts import part_of_scores, parts_of_run
from mtmkl_suite.run.folders import PublishedFolder
from mtmkl_suite.statistics import pairs as pair_tests
from mtmkl_suite.statistics.matrix_tests import compare_matrix
from mtmkl_suite.statistics.pairs import holm
from mtmkl_suite.statistics.score_tables import ScoreMatrix, read_matrix

pytestmark = NEEDED

RECORD = config_dir().parent / "figures" / "comparison"
TOLERANCE = {"abs": 1e-9, "rel": 1e-9, "nan_ok": True}

MOST = 50
"""Changes of the address before the browser throttles them."""

HELP = """
const all = (selector) => [...document.querySelectorAll(selector)];
const go = (address) => {
  history.replaceState(null, "", `#${address}`);
  dispatchEvent(new HashChangeEvent("hashchange"));
};
const pressed = () => all("#presets [aria-pressed=true]").map(
  (each) => each.textContent);
const press = (word) => all("#presets button").find(
  (each) => each.textContent.startsWith(word)).click();
let answers = {};
"""

# Goes to each address, and writes down what then stands in the tables.
READ = """
const cells = (name) => all(`#${name} tbody tr`).map(
  (row) => [...row.cells].map((cell) => cell.dataset.sort));
answers = ADDRESSES.map((address) => {
  go(address);
  return {
    hash: location.hash,
    sections: all("main section").filter((each) => !each.hidden).map((each) => each.id),
    ranks: cells("ranks-table"), pairs: cells("pairs-table"),
    front: all("#cost-figure .mark.strong").map((each) => each.dataset.value),
    answer: document.getElementById("answer").textContent,
    probabilities: document.getElementById("probabilities").textContent,
  };
});
"""

TELL = """
document.body.innerHTML = "";
document.body.append(Object.assign(document.createElement("pre"),
  {id: "found", textContent: JSON.stringify(answers)}));
"""

# Arrows within a figure and a table, the pointer, a heading, a box and a filter.
USE = """
const line = () => document.getElementById("value").textContent;
const type = (key) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", {key, bubbles: true}));
const move = (kind, mark) => mark.dispatchEvent(new MouseEvent(kind, {bubbles: true}));
all("#ranks-figure .mark")[0].focus();
type("ArrowDown");
answers.method = line();
all("#matrix .mark")[0].focus();
type("ArrowDown");
answers.below = line();
answers.stops = all("#matrix .mark").filter((mark) => mark.tabIndex === 0).length;
const cell = all("#matrix .mark")[1];
move("mouseover", cell);
answers.hover = line();
move("mouseout", cell);
answers.off = line();
move("mouseover", cell);
type("Escape");
answers.escaped = line();
const heading = all("#pairs-table th button").find(
  (each) => each.textContent.startsWith("First −"));
heading.click();
answers.sorted = all("#pairs-table tbody tr").map((row) => row.cells[2].dataset.sort);
answers.aria = heading.parentElement.getAttribute("aria-sort");
const filter = all("#pairs-filter select")[1];
filter.value = "iris";
filter.dispatchEvent(new Event("change"));
answers.changed = all("#pairs-table tbody tr").map(
  (row) => [row.cells[0].textContent, row.cells[1].textContent]);
filter.value = "";
filter.dispatchEvent(new Event("change"));
all("#form label").find((each) => each.textContent === " iris").click();
answers.hash = location.hash;
answers.caution = document.getElementById("caution").hidden;
answers.without = all("#pairs-table tbody tr").map((row) => [...row.cells].map(
  (each) => each.dataset.sort).slice(0, 7));
"""


PRESETS = """
const first = all("#answer p");
answers.first = [first[0].textContent, first[1].textContent];
answers.start = pressed();
const before = history.length;
press("at most 20");
press("many tasks");
all("#pairs-table th button")[2].click();
answers.entries = history.length - before;
answers.pressed = pressed();
answers.chosen = document.getElementById("chosen").textContent;
answers.hash = location.hash;
press("many tasks");
answers.less = pressed();
press("as planned");
answers.hash = location.hash;
const link = all("#answer a[href='#pairs']")[0];
answers.link = [link.textContent, link.nextSibling.textContent];
link.click();
answers.pairs = location.hash;
answers.shown = all("#pairs-table tbody tr").length;
"""


def answered(page, addresses, folder):
    """Return what a page shows at each address."""
    if len(addresses) > MOST:
        rest = answered(page, addresses[MOST:], folder)
        return answered(page, addresses[:MOST], folder) + rest
    return told(page, READ.replace("ADDRESSES", json.dumps(addresses)), folder)


def told(page, script, folder):
    """Return what a script on a page finds: its ``answers``."""
    script = HELP + script + TELL
    path = folder / "page.html"
    path.write_text(page.replace("</body>", f"<script>{script}</script></body>"))
    text, errors = opened(path)
    assert errors == []
    (found,) = re.findall(r'<pre id="found">(.+?)</pre>', text, re.DOTALL)
    return json.loads(html.unescape(found))


def number(text):
    return float(text.replace("NaN", "nan").replace("Infinity", "inf"))


def page_of(found):
    return comparison_page([part_of_scores(found)], title="x", source="x")


@pytest.fixture(scope="module")
def context():
    scores = read_scores(RECORD / "scores.csv.gz")
    return made_context(
        load_paper(config_dir() / "papers" / "comparison", "paper"),
        scores[~scores["metric"].str.startswith("validation_")],
        overlaps=read_overlaps(RECORD / "overlaps.csv"),
    )


@pytest.fixture(scope="module")
def parts(context):
    return parts_of_run(context, PublishedFolder(RECORD))


@pytest.fixture(scope="module")
def page(parts):
    return comparison_page(parts, title="All methods", source="The record.")


def random_choice(parts, rng):
    """Return a part, and names for the address; sets and methods fit each other."""
    part = parts[rng.integers(len(parts))]
    metric = part["metrics"][rng.integers(len(part["metrics"]))]
    some = {}
    for key, least, most in (("sizes", 1, 3), ("datasets", 2, 16), ("methods", 3, 9)):
        n = rng.integers(least, min(most, len(part[key])) + 1)
        chosen = sorted(rng.choice(len(part[key]), n, replace=False))
        some[key] = [part[key][k] for k in chosen]
    control = some["methods"][rng.integers(len(some["methods"]))]
    return part, metric, some, control


def address_of(part, metric, some, control):
    named = {"part": part["title"], "metric": metric["label"], "control": control}
    return urlencode(named | some, doseq=True)


def reference_matrices(context, part, metric, some):
    """Return scores and seconds by the functions that tables are made of."""
    kind, _, more = part["title"].lower().partition(" with ")
    artefact = f"table_{more or 'ranks'}_{kind}"
    comparison = context.config.artefacts[artefact].comparison
    scores = context.scores
    if not metric["higher"]:
        # A ranking takes what is better if larger: the loss with the other sign.
        (name,) = set(metric["of"])
        scores = scores[scores["metric"] == name]
        scores = scores.assign(metric="accuracy", value=-scores["value"].astype(float))
        metric = metric | {"of": ["accuracy"] * len(metric["of"])}
    rows = {
        name: comparison.rows[name].model_copy(update={"metric": of})
        for name, of in zip(part["datasets"], metric["of"], strict=True)
        if name in some["datasets"]
    }
    sizes = [float(size.removesuffix(" %")) for size in some["sizes"]]
    columns = {name: comparison.columns[name] for name in some["methods"]}
    methods = {each for names in columns.values() for each in np.atleast_1d(names)}
    scores = scores[scores["method"].isin(methods)]
    blocks = {"chosen": {"train_size": sizes}}
    update = {"rows": rows, "columns": columns, "blocks": blocks}
    chosen = comparison.model_copy(update={**update, "scale": metric["scale"]})
    values = ranking_matrix(scores, chosen, "chosen").dropna()
    seconds = seconds_matrix(scores, chosen, "chosen").loc[values.index]
    return values if metric["higher"] else -values, seconds


@pytest.fixture
def unsampled(monkeypatch):
    """Leave out what is sampled, and not in the page: it would take all the time."""
    monkeypatch.setattr(pair_tests, "_interval", lambda *_: (np.nan, np.nan))
    monkeypatch.setattr(pair_tests, "_posterior", lambda *_: (np.nan,) * 3)


@pytest.mark.usefixtures("unsampled")
@pytest.mark.parametrize("n", [10, pytest.param(100, marks=pytest.mark.nightly)])
def test_random_choices_give_what_the_library_gives(context, parts, page, tmp_path, n):
    rng = np.random.default_rng(28)
    chosen, matrices = [], []
    while len(chosen) < n:
        choice = random_choice(parts, rng)
        values, seconds = reference_matrices(context, *choice[:3])
        if len(values) > 1:
            chosen.append(choice)
            matrices.append((values, seconds))
    found = answered(page, [address_of(*choice) for choice in chosen], tmp_path)
    for (_, metric, _, control), (values, seconds), shown in zip(
        chosen, matrices, found, strict=True
    ):
        scores = ScoreMatrix(values, metric["label"], metric["higher"])
        check(shown, compare_matrix(scores, control=control), seconds)
    assert {len(values) >= 5 for values, _ in matrices} == {True, False}


def check(shown, found, seconds=None):
    """Hold what is shown over data sets to the library."""
    values, methods = found.scores.values, found.methods
    *tests, (_, critical, *_) = shown["ranks"][len(methods) :]
    assert number(critical) == pytest.approx(found.critical_difference, **TOLERANCE)
    over_all = found.overall()[["statistic", "p"]].to_numpy()[:-1]
    shown_tests = [[number(row[1]), number(row[3])] for row in tests]
    assert shown_tests == [pytest.approx(row, **TOLERANCE) for row in over_all.tolist()]
    table = methods.join(found.against_control[["z", "p_holm"]])
    if seconds is not None:
        table.insert(3, "seconds", seconds.mean())
    for row, (name, *wanted) in zip(shown["ranks"], table.itertuples(), strict=False):
        assert row[0] == name
        assert list(map(number, row[1:])) == pytest.approx(wanted, **TOLERANCE)
    columns = ["mean_difference", "wins", "p_wilcoxon", "p_wilcoxon_holm"]
    for row, pair in zip(shown["pairs"], found.pairs.to_dict("records"), strict=True):
        assert row[:2] == [pair["first"], pair["second"]]
        mean, low, *others = map(number, row[2:7])
        wanted = [pair[name] for name in columns]
        assert [mean, *others] == pytest.approx(wanted, **TOLERANCE)
        if found.n >= 5:
            d = values[pair["first"]] - values[pair["second"]]
            interval = stats.ttest_1samp(d, 0).confidence_interval()
            assert low == pytest.approx(interval.low, abs=1e-9, rel=1e-9)
    if seconds is not None:
        score = values.mean() if found.scores.higher_better else -values.mean()
        front = pareto_front(seconds.mean(), score)
        assert [text.partition(":")[0] for text in shown["front"]] == front


def test_one_data_set_is_tested_over_its_repeats(context, parts, page, tmp_path):
    part = parts[0]
    four = part["methods"][:4]
    columns = context.config.artefacts["table_ranks_classification"].comparison.columns
    names = {columns[name][0]: name for name in four}
    for sizes in (["10 %"], ["10 %", "50 %"]):
        some = {"sizes": sizes, "datasets": ["Landmine"], "methods": four}
        addressed = address_of(part, part["metrics"][1], some, four[1])
        (shown,) = answered(page, [addressed], tmp_path)
        percent = [float(size.removesuffix(" %")) for size in sizes]
        scores = context.scores[context.scores["train_size"].isin(percent)]
        table = pairwise_table(
            scores.assign(value=100 * scores["value"].astype(float)),
            "on_landmine",
            "accuracy",
            methods=list(names),
            overlaps=context.overlaps,
            rope=0.5,
        )
        adjusted = holm(table["p_corrected"])
        by_pair = {
            frozenset(names[each] for each in (row.first, row.second)): (row, p)
            for row, p in zip(table.itertuples(), adjusted, strict=True)
        }
        assert len(shown["pairs"]) == len(table) == 6
        for first, second, *numbers in shown["pairs"]:
            row, p = by_pair[frozenset((first, second))]
            turned = names[row.first] != first
            low = -row.interval_high if turned else row.interval_low
            three = [row.p_first_better, row.p_equivalent, row.p_second_better]
            wanted = [
                (-1) ** turned * row.mean_difference, low,
                row.losses if turned else row.wins, row.p_corrected, p,
                *(three[::-1] if turned else three),
            ]  # fmt: skip
            assert list(map(number, numbers)) == pytest.approx(wanted, **TOLERANCE)
        assert "correlated Bayesian t-test" in shown["probabilities"]


@pytest.mark.usefixtures("unsampled")
@pytest.mark.parametrize("n", [4, 10, 14, 60])
def test_scores_with_ties_zeros_and_gaps_in_repeats(n, tmp_path):
    rng = np.random.default_rng(n)
    rows = [
        (f"set {chr(97 + d // 26)}{chr(97 + d % 26)}", method, repeat,
         round(base + rng.integers(0, 4) / 20, 2))
        for d, base in enumerate(rng.uniform(0.3, 0.6, n).round(2))
        for method in "abcd"
        for repeat in range(3)
        if rng.random() > 0.05 or repeat == 0
    ]  # fmt: skip
    path = tmp_path / "scores.csv"
    columns = ["dataset", "method", "repeat", "rmse"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    found = compare_matrix(read_matrix(path, score="rmse"), control="b", rope=0.01)
    fewer = urlencode({"methods": ["a", "b", "c"], "control": "c"}, doseq=True)
    shown = answered(page_of(found), ["", fewer], tmp_path)
    check(shown[0], found)
    # Without a method its gaps count no more.
    kept = read_matrix(path, score="rmse", where={"method": ["a", "b", "c"]})
    check(shown[1], compare_matrix(kept, control="c"))
    assert "cost" not in shown[0]["sections"]


def test_probabilities_are_those_given_for_the_choice(tmp_path):
    values = demsar2006.as_ranked()
    found = compare_matrix(ScoreMatrix(values, "AUC", True), rope=0.01)
    fewer = {"datasets": list(values.index[1:]), "methods": list(values.columns)}
    addresses = ["", urlencode(fewer, doseq=True)]
    first, other = answered(page_of(found), addresses, tmp_path)
    given = found.pairs[["p_first_better", "p_equivalent", "p_second_better"]]
    assert [[number(each) for each in row[7:10]] for row in first["pairs"]] == [
        pytest.approx(row, **TOLERANCE) for row in given.to_numpy().tolist()
    ]
    assert "14 data sets" in first["probabilities"]
    # They belong to that choice: for another the page says which has some.
    assert {len(row) for row in other["pairs"]} == {8}
    assert "not computed here" in other["probabilities"]


def test_the_address_keeps_the_choice_and_which_pairs_are_shown(parts, page, tmp_path):
    rng = np.random.default_rng(1)
    addresses = [address_of(*random_choice(parts, rng)) for _ in range(5)]
    name = parts[0]["start"]["datasets"][0]
    others = ["part=none&methods=nobody", "", f"pairs={name}", "pairs=apart"]
    once = answered(page, [*addresses, *others, "pairs=nothing"], tmp_path)
    again = answered(page, [each["hash"][1:] for each in once[:5]], tmp_path)
    assert again == once[:5]
    nobody, every, without, apart, unknown = once[5:]
    assert "Choose at least two methods" in nobody["answer"]
    assert nobody["sections"] == []
    assert (without["hash"], apart["hash"]) == (f"#pairs={name}", "#pairs=apart")
    assert len(apart["pairs"]) <= len(without["pairs"]) < len(every["pairs"])
    # What is no data set is no filter.
    assert unknown["pairs"] == every["pairs"]


def test_keys_pointer_order_and_filter(tmp_path):
    # Without ties, of which the library's test is slow.
    noise = np.random.default_rng(0).normal(0, 1e-4, (14, 4))
    values = demsar2006.as_ranked() + noise
    values.loc["iris"] = [0.5, 0.9, 0.6, 0.7]
    found = compare_matrix(ScoreMatrix(values, "AUC", True))
    shown = told(page_of(found), USE, tmp_path)
    first, second = found.methods.index[:2]
    assert shown["method"].startswith(f"{second}: mean rank ")
    assert shown["below"].startswith(f"{second} against {first}: ")
    assert shown["hover"].startswith(f"{first} against {second}: ")
    assert shown["off"] == shown["escaped"] == ""
    assert shown["stops"] == 1
    differences = list(map(number, shown["sorted"]))
    assert differences == sorted(differences)
    assert shown["aria"] == "ascending"
    # What the filter lists is what the library finds without the set.
    rest = ScoreMatrix(values.drop(index="iris"), "AUC", True)
    without = compare_matrix(rest).pairs.set_index(["first", "second"])
    changed = []
    for row in found.pairs.to_dict("records"):
        pair = (row["first"], row["second"])
        turned = pair not in without.index
        other = without.loc[pair[::-1] if turned else pair]
        sides = np.sign([row["mean_difference"], other["mean_difference"]])
        is_reversed = sides[0] * sides[1] * (-1) ** turned < 0
        told_apart = [each["p_wilcoxon_holm"] < 0.05 for each in (row, other)]
        if is_reversed or told_apart[0] != told_apart[1]:
            changed.append(list(pair))
    assert sorted(shown["changed"]) == sorted(changed)
    assert changed
    # Without its box the page says the same.
    assert "iris" not in shown["hash"]
    assert not shown["caution"]
    rows = {(row[0], row[1]): number(row[6]) for row in shown["without"]}
    for pair, row in without.iterrows():
        assert rows[pair] == pytest.approx(row["p_wilcoxon_holm"], **TOLERANCE)


@pytest.fixture(scope="module")
def pressed(page, tmp_path_factory):
    """Return what stands on the page before and after some presets are pressed."""
    return told(page, PRESETS, tmp_path_factory.mktemp("pressed"))


def test_presets_together_choose_what_they_share(pressed, parts):
    found = pressed
    assert found["start"] == ["as planned"]
    # Back undoes a choice, but no order of a table.
    assert found["entries"] == 2
    few, many = (
        next(each for each in parts[0]["presets"] if each["label"].startswith(word))
        for word in ("at most 20", "many tasks")
    )
    # With its size: samples are those for training.
    named = f"{few['label']}, with 10 % for training"
    assert found["pressed"] == [named, many["label"]]
    assert found["less"] == [named]
    shared = [name for name in few["datasets"] if name in many["datasets"]]
    assert f"{len(shared)} data sets ({', '.join(shared)})" in found["chosen"]
    assert f"{parts[0]['sizes'][few['sizes'][0]]} for training" in found["chosen"]
    assert found["hash"] == ""
    # The link of a data set lists as many pairs as it says.
    name, count = found["link"]
    assert found["pairs"] == "#" + urlencode({"pairs": name})
    assert f" ({found['shown']})" in count


def test_what_is_used_today_is_held_against_the_papers(pressed, parts, context):
    title = "Classification with baselines"
    part = next(each for each in parts if each["title"] == title)
    name = "table_baselines_classification"
    comparison = context.config.artefacts[name].comparison
    values = ranking_matrix(context.scores, comparison, comparison.main)
    values = values.loc[part["start"]["datasets"], part["start"]["methods"]]
    groups = [
        values[[name for name in values if name in part[group]]]
        for group in ("proposed", "today")
    ]
    papers, today = (group.max(axis=1) for group in groups)
    gains, rope = papers - today, comparison.rope
    above, below = gains[gains > rope], gains[gains < -rope]
    best = [group[group.mean().idxmax()] for group in groups]
    interval = stats.ttest_1samp(best[0] - best[1], 0).confidence_interval()
    first, second = pressed["first"]
    assert first == (
        "Do the papers' methods beat today's? The papers' best wins on "
        f"{len(above)} of {len(values)} data sets, today's best on {len(below)}; "
        f"{len(values) - len(above) - len(below)} are ties (within {rope:g} points)."
    )
    ends = re.search(r"95 % interval (\S+) to ([\d.]+)", second).groups()
    assert [number(end.replace("\u2212", "-")) for end in ends] == pytest.approx(
        [interval.low, interval.high], abs=0.005
    )
    sides = re.match(
        "The papers' methods win on (.+?)\\. Today's win on (.+?)\\. ", second
    )
    for told_sets, sets in zip(sides.groups(), (above, below), strict=True):
        assert [n for n in values.index if f"{n} (" in told_sets] == list(sets.index)


STATE = """
const lines = () => all("#answer p").map((each) => each.textContent);
const rows = () => all("#pairs-table tbody tr").length;
const link = (word) => all("#answer a").find((each) => each.textContent.includes(word));
const begun = location.hash;
document.querySelector(".skip").click();
answers.skipped = [location.hash === begun, document.activeElement.id];
link("Heart").click();
answers.focus = document.activeElement === all("#pairs-filter select")[1];
link("pairs").click();
answers.decided = [location.hash, link("pairs").textContent, rows()];
const control = all("#pairs-filter select")[0];
control.value = [...control.options].find((each) => each.text === "Whom").value;
control.dispatchEvent(new Event("change"));
answers.hash = location.hash;
answers.narrowed = rows();
go("");
go(answers.hash.slice(1));
answers.again = rows();
press("many tasks");
answers.disabled = all("#presets button:disabled").map((each) => each.textContent);
go("datasets=Transcription+starts");
answers.dead = lines();
all("#answer button")[0].click();
answers.left = [!document.getElementById("ranks").hidden,
  all("#form input:checked").length, document.activeElement.id];
go("datasets=Heart");
link("with baselines").click();
answers.there = document.getElementById("chosen").textContent;
"""


def test_no_choice_is_lost_and_none_is_a_dead_end(page, parts, tmp_path):
    found = told(page, STATE, tmp_path)
    assert found["skipped"] == [True, "answers"]
    assert found["focus"]
    hash_, text, shown = found["decided"]
    assert hash_ == "#pairs=decided"
    given = parts[0]["given"][-1]["pairs"]
    assert shown == sum(max(row[2:5]) > 0.99 for row in given)
    assert text == f"{shown} of {len(given)} pairs"
    assert found["hash"] == "#pairs=decided&with=Whom"
    assert found["again"] == found["narrowed"] < shown
    assert found["disabled"] == ["unrelated tasks"]
    nothing, why = found["dead"]
    assert nothing == "Nothing is left to compare."
    assert why.startswith("16 of the 24 chosen methods have no scores on Transcription")
    assert why.endswith("Untick these 16")
    answered_, ticked, focus = found["left"]
    assert answered_
    # Eight methods, three sizes and the data set.
    assert (ticked, focus) == (12, "answers")
    # The other part has the same data sets.
    assert found["there"].startswith("Classification with baselines; 24 methods; as")
    assert "1 data set (Heart)" in found["there"]


COLLISIONS = """
const probe = (doc) => {
  const marks = [...doc.querySelectorAll("#cost-figure .name, #cost-figure .dot")];
  const labels = marks.filter((each) => each.matches(".name"));
  const collide = (one, two) => {
    const [a, b] = [one.getBBox(), two.getBBox()];
    return a.x + 1 < b.x + b.width && b.x + 1 < a.x + a.width
      && a.y + 3 < b.y + b.height && b.y + 3 < a.y + a.height;
  };
  return {labels: labels.length, dots: marks.length - labels.length,
    faults: labels.flatMap((one) => marks.filter(
      (two) => one !== two && collide(one, two)).map((two) => two.textContent))};
};
"""


@pytest.fixture(scope="module")
def pages(page, tmp_path_factory):
    rng = np.random.default_rng(3)
    named = "a method with a name that is quite a bit longer"
    rows = [
        (f"number {letter}{more}", f"{named}, {m}", repeat,
         70 + m + rng.normal(0, 2) - 30 * (m == 4), 10.0 ** (m - 2))
        for letter in "abcdefghij"
        for more in "xyz"
        for m in range(5)
        for repeat in range(10)
    ]  # fmt: skip
    path = tmp_path_factory.mktemp("made") / "scores.csv"
    columns = ["dataset", "method", "repeat", "accuracy", "seconds"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    repeated = compare_matrix(read_matrix(path, score="accuracy"))
    wide = ScoreMatrix(demsar2006.table(), "AUC", True)
    return {
        "record.html": page,
        "repeated.html": page_of(repeated),
        "wide.html": page_of(compare_matrix(wide, control="C4.5")),
    }


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_page_is_sound_at_all_widths(pages, tmp_path, scheme):
    assert max(len(text.encode()) for text in pages.values()) < 1e6
    # They ask for nothing: there is no address but those within the page.
    asking = re.compile(r"""(?:src|href)=(?!["']?#)|url\(|@import|fetch\(|import\(""")
    assert [name for name, text in pages.items() if asking.search(text)] == []
    found, errors = look(tmp_path, pages, scheme)
    assert errors == []
    assert len(found) == len(WIDTHS) * len(pages)
    assert {name: one["faults"] for name, one in found.items() if one["faults"]} == {}


def test_labels_of_the_cost_figure_do_not_collide(pages, tmp_path):
    found, errors = look(tmp_path, pages, "light", probe=COLLISIONS)
    assert errors == []
    assert {name: one["faults"] for name, one in found.items() if one["faults"]} == {}
    assert {one["dots"] for name, one in found.items() if "record" in name} == {24}
    assert all(one["labels"] >= 20 for name, one in found.items() if "record" in name)
