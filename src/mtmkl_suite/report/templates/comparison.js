"use strict";
(() => {
  const PAGE = JSON.parse(document.getElementById("data").textContent);
  const LEVEL = 0.05, MIN_UNITS = 5, EXACT_UNITS = 50, PERMUTED_UNITS = 13, MOST_OPEN = 40;
  const range = (n) => [...Array(n).keys()];
  const sum = (values) => values.reduce((total, each) => total + each, 0);
  const mean = (values) => sum(values) / values.length;
  const deviation = (values) => {
    const centre = mean(values);
    return Math.sqrt(sum(values.map((each) => (each - centre) ** 2)) / (values.length - 1));
  };
  const sorted = (values, key) => [...values].sort((a, b) => key(a) - key(b));
  const median = (values) => sorted(values, (each) => each)[values.length >> 1];

  const decimals = (size, figures) => Math.min(8, Math.max(0, figures - 1 - Math.floor(Math.log10(size))));

  // ---- Distributions: incomplete gamma and beta functions, by series and fractions.

  const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028,
    771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
  const logGamma = (x) => {  // x >= 0.5
    const t = x + 6.5;
    const series = LANCZOS.reduce((total, each, k) => total + (k ? each / (x - 1 + k) : each), 0);
    return Math.log(2 * Math.PI) / 2 + (x - 0.5) * Math.log(t) - t + Math.log(series);
  };

  // Lentz's method for b0 + a1 / (b1 + a2 / (b2 + …)).
  const fraction = (b0, term) => {
    const tiny = 1e-300;
    let value = b0 || tiny, c = value, d = 0;
    for (let k = 1; k < 10000; k++) {
      const [a, b] = term(k);
      d = 1 / (b + a * d || tiny);
      c = b + a / c || tiny;
      value *= c * d;
      if (Math.abs(c * d - 1) < 1e-16) break;
    }
    return value;
  };

  // Q(a, x), the upper tail of the gamma distribution.
  const gammaTail = (a, x) => {
    if (x <= 0) return 1;
    const front = Math.exp(a * Math.log(x) - x - logGamma(a));
    if (x < a + 1) {
      let term = 1 / a, total = term;
      for (let k = 1; term > total * 1e-17; k++) total += term *= x / (a + k);
      return 1 - front * total;
    }
    return front / fraction(x + 1 - a, (k) => [k * (a - k), x + 2 * k + 1 - a]);
  };

  // I_x(a, b), with 1 − x given by itself: it may be small.
  const beta = (x, rest, a, b) => {
    if (x <= 0) return 0;
    if (rest <= 0) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - beta(rest, x, b, a);
    const front = Math.exp(a * Math.log(x) + b * Math.log(rest)
      + logGamma(a + b) - logGamma(a) - logGamma(b)) / a;
    return front / fraction(1, (k) => {
      const m = k >> 1;
      return [k % 2 ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), 1];
    });
  };
  const chi2Tail = (x, df) => gammaTail(df / 2, x / 2);
  const normalTail = (z) => (z < 0 ? 1 - normalTail(-z) : gammaTail(0.5, z * z / 2) / 2);
  const fTail = (f, df1, df2) => {
    const all = df2 + df1 * f;
    return f === Infinity ? 0 : beta(df2 / all, df1 * f / all, df2 / 2, df1 / 2);
  };
  const tTail = (t, df) => {
    if (t < 0) return 1 - tTail(-t, df);
    const all = df + t * t;
    return t === Infinity ? 0 : beta(df / all, t * t / all, df / 2, 0.5) / 2;
  };
  const quantiles = new Map();
  const tQuantile = (tail, df) => {
    const key = `${tail} ${df}`;
    if (!quantiles.has(key)) quantiles.set(key, findQuantile(tail, df));
    return quantiles.get(key);
  };
  const findQuantile = (tail, df) => {
    let low = 0, high = 1;
    while (tTail(high, df) > tail) high *= 2;
    while (true) {
      const middle = (low + high) / 2;
      if (middle <= low || middle >= high) return middle;
      if (tTail(middle, df) > tail) low = middle; else high = middle;
    }
  };

  // ---- Ties, as mtmkl.statistics.ties has them.

  const ROUNDING = 1e-12;
  const scaleOf = (values) => values.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
  const roundingOf = (value, scale) => ROUNDING * Math.max(Math.abs(value), Math.min(scale, 1));
  const equated = (values, rounding) => {
    const found = [];
    sorted(range(values.length), (k) => values[k]).forEach((k, at, order) => {
      const last = order[at - 1];
      const isTied = at && values[k] - values[last] < Math.max(rounding[k], rounding[last]);
      found[k] = isTied ? found[last] : values[k];
    });
    return found;
  };
  const withoutRounding = (rows) => {
    const scale = scaleOf(rows.flat());
    return rows.map((row) => equated(row, row.map((each) => roundingOf(each, scale))));
  };

  // Of each couple of columns, from rows without rounding.
  const differencesOf = (rows, couples) => {
    const scale = scaleOf(rows.flat());
    return couples.map(([i, j]) => {
      const found = rows.map((row) => row[i] - row[j]);
      const rounding = rows.map((row, k) => found[k]
        && Math.max(roundingOf(row[i], scale), roundingOf(row[j], scale)));
      const sizes = equated(found.map(Math.abs), rounding);
      return {d: sizes.map((size, k) => Math.sign(found[k]) * size), rounding};
    });
  };
  const meanDifference = ({d, rounding}) => (Math.abs(mean(d)) < mean(rounding) ? 0 : mean(d));

  // ---- Tests, as mtmkl.statistics has them.

  // Ranks of numbers, smallest first; equal ones share the mean of theirs.
  const ranksOf = (values) => {
    const order = sorted(range(values.length), (k) => values[k]);
    const ranks = [];
    for (let start = 0, end; start < order.length; start = end) {
      for (end = start + 1; values[order[end]] === values[order[start]]; end++);
      for (const k of order.slice(start, end)) ranks[k] = (start + end + 1) / 2;
    }
    return ranks;
  };
  const ties = (ranks) => Object.values(ranks.reduce(
    (found, each) => ({...found, [each]: (found[each] || 0) + 1}), {}));

  // Rows are data sets. Also Iman and Davenport's refinement.
  const friedman = (rows) => {
    const n = rows.length, k = rows[0].length;
    const sums = range(k).map((j) => sum(rows.map((row) => row[j])));
    const tied = sum(rows.map((row) => sum(ties(row).map((t) => t * (t * t - 1)))));
    const unanimous = rows.every((row) => row.every((rank, j) => rank === rows[0][j]));
    const factorial = (m) => range(m).reduce((total, each) => total * (each + 1), 1);
    const orders = ties(rows[0]).reduce((left, t) => left / factorial(t), factorial(k));
    const df = [k - 1, (k - 1) * (n - 1)], ratio = (chi2) => (n - 1) * chi2 / (n * (k - 1) - chi2);
    const plain = 12 / (k * n * (k + 1)) * sum(sums.map((s) => s * s)) - 3 * n * (k + 1);
    const plainF = n * (k - 1) - plain <= 1e-12 * n * k ? Infinity : ratio(plain);
    if (unanimous && orders < 1.5) return {df, plain, plainF, chi2: 0, p: 1, f: 0, pF: 1};
    const chi2 = plain / (1 - tied / (k * (k * k - 1) * n));
    const f = unanimous ? Infinity : ratio(chi2);
    const pF = unanimous ? Math.round(orders) ** (1 - n) : fTail(f, ...df);
    return {df, plain, plainF, chi2, p: chi2Tail(chi2, k - 1), f, pF};
  };

  const holm = (ps) => {
    const order = sorted(range(ps.length), (k) => ps[k]);
    const corrected = [];
    let least = 0;
    order.forEach((k, place) => {
      least = Math.max(least, ps[k] * (ps.length - place));
      corrected[k] = Math.min(1, least);
    });
    return corrected;
  };

  // In how many ways signs give each sum of doubled ranks.
  const waysOf = (doubled) => {
    const ways = new Float64Array(sum(doubled) + 1);
    ways[0] = 1;
    let top = 0;
    for (const rank of doubled) {
      top += rank;
      for (let total = top; total >= rank; total--) ways[total] += ways[total - rank];
    }
    return ways;
  };
  const untied = new Map();
  const wilcoxon = (differences) => {
    const d = differences.filter((each) => each !== 0);
    if (!d.length) return 1;
    const n = d.length, ranks = ranksOf(d.map(Math.abs)), found = ties(ranks);
    const plus = sum(ranks.filter((_, k) => d[k] > 0));
    const clean = n === differences.length && found.length === n;
    if (clean ? n <= EXACT_UNITS : differences.length <= PERMUTED_UNITS) {
      if (clean && !untied.has(n)) untied.set(n, waysOf(range(n).map((k) => 2 * k + 2)));
      const ways = clean ? untied.get(n) : waysOf(ranks.map((each) => 2 * each));
      const below = sum(ways.slice(0, 2 * plus + 1)), above = sum(ways.slice(2 * plus));
      return Math.min(1, 2 * Math.min(below, above) / 2 ** n);
    }
    const square = n * (n + 1) * (2 * n + 1) - sum(found.map((t) => t ** 3 - t)) / 2;
    const off = plus - n * (n + 1) / 4;
    return Math.min(1, 2 * normalTail(Math.abs(off) / Math.sqrt(square / 24)));
  };

  // Student's t of differences whose mean varies by S² (1 / n + ratio).
  const student = ({d, rounding, ratio}) => {
    const centre = meanDifference({d, rounding});
    const spread = d.every((each) => each === d[0]) ? 0 : deviation(d);
    const width = spread * Math.sqrt(1 / d.length + ratio);
    const half = tQuantile(LEVEL / 2, d.length - 1) * width;
    return {centre, width, interval: [centre - half, centre + half],
      p: spread ? 2 * tTail(Math.abs(centre / width), d.length - 1) : centre ? NaN : 1};
  };

  // ---- From a choice to its answers.

  // The chosen scores on a data set: rows are repeats, by size; only those that all
  // chosen methods have count.
  const sharedOf = (part, choice, dataset) => {
    const {of, scale} = part.metrics[choice.metric];
    const scores = of[dataset] && part.scores[of[dataset]][dataset];
    if (!scores || !choice.methods.length || choice.methods.some((m) => !scores[m])) return [];
    return choice.sizes.flatMap((size) => {
      const columns = choice.methods.map((m) => scores[m][size]);
      return range(Math.max(...columns.map((each) => each.length))).map((repeat) => (
        {repeat, values: columns.map((each) => each[repeat] ?? null)}));
    }).filter(({values}) => !values.includes(null))
      .map(({repeat, values}) => ({repeat, values: values.map((each) => each * scale)}));
  };
  const lacking = (part, choice, dataset) => {
    const {of} = part.metrics[choice.metric], scores = (of[dataset] && part.scores[of[dataset]][dataset]) || [];
    return choice.methods.filter((m) => !scores[m] || choice.sizes.some((size) => !scores[m][size]?.length));
  };
  const meansOf = (rows) => rows[0].values.map((_, m) => mean(rows.map((row) => row.values[m])));
  const byRepeat = (rows) => {
    const repeats = [...new Set(rows.map((row) => row.repeat))];
    return repeats.map((each) => meansOf(rows.filter((row) => row.repeat === each)));
  };
  // c of repeats that share samples, see mtmkl_suite.judge.overlap.
  const ratioOf = (part, choice, dataset) => {
    const found = choice.sizes.map((size) => part.overlaps?.[dataset][size]);
    if (!found.length || found.includes(null) || found.includes(undefined)) return Infinity;
    const pool = Math.max(...found.map(([share]) => share));
    const within = sum(found.map(([, rest]) => rest)) / sum(found.map(([, , splits]) => splits)) ** 2;
    return pool === 0 ? 0 : pool / (1 - pool + within);
  };

  const rankRows = (values, higher) => values.map(
    (row) => ranksOf(row.map((each) => (higher ? -each : each))));
  const meanRanks = (rows) => rows[0].map((_, m) => mean(rows.map((row) => row[m])));

  // The test of each pair's differences, over data sets (ratio null) or over repeats that
  // share samples; p after Holm is over all pairs.
  const testsOf = (differences, ratio) => {
    const tests = differences.map((each) => ({...each, ratio: ratio ?? 0, p: NaN, pHolm: NaN}));
    if (tests[0].d.length < MIN_UNITS || ratio === Infinity) return tests;
    for (const test of tests) test.p = ratio === null ? wilcoxon(test.d) : student(test).p;
    const known = tests.filter((test) => !Number.isNaN(test.p));
    holm(known.map((test) => test.p)).forEach((p, k) => { known[k].pHolm = p; });
    return tests;
  };

  const frontOf = (seconds, losses) => {
    const order = range(losses.length).sort((a, b) => seconds[a] - seconds[b] || losses[a] - losses[b]);
    let least = Infinity;
    return order.filter((m) => losses[m] < least && ((least = losses[m]), true));
  };

  const answersOf = (part, choice) => {
    const metric = part.metrics[choice.metric], {higher, rope} = metric;
    const rowsOf = new Map(choice.datasets.map((each) => [each, sharedOf(part, choice, each)]));
    const used = choice.datasets.filter((each) => rowsOf.get(each).length);
    const lost = choice.datasets.filter((each) => !used.includes(each));
    const k = choice.methods.length, n = used.length;
    if (!n || k < 2) return {used, lost, n, k, metric};
    const values = withoutRounding(used.map((each) => meansOf(rowsOf.get(each))));
    const ranks = rankRows(values, higher), rank = meanRanks(ranks);
    const [means] = withoutRounding([range(k).map((m) => mean(values.map((row) => row[m])))]);
    const order = sorted(range(k), (m) => rank[m]);
    const gain = (m, other) => (higher ? 1 : -1) * (means[m] - means[other]);
    const couples = order.flatMap((i, at) => order.slice(at + 1).map((j) => [i, j]));
    const single = n === 1;
    const repeats = single ? withoutRounding(byRepeat(rowsOf.get(used[0]))) : [];
    const ratio = single ? ratioOf(part, choice, used[0]) : null;
    const units = single ? repeats : values;
    const differences = differencesOf(units, couples), tests = testsOf(differences, ratio);
    const tested = units.length >= MIN_UNITS && ratio !== Infinity;
    // Leave one data set out: which means change sides, which tests their outcome.
    const without = single || n < 3 ? [] : used.map((_, at) => {
      const others = (_, each) => each !== at;
      const left = differences.map(({d, rounding}) => (
        {d: d.filter(others), rounding: rounding.filter(others)}));
      return {tests: testsOf(left, null), rank: meanRanks(ranks.filter(others))};
    });
    const side = (test) => Math.sign(meanDifference(test));
    const pairs = couples.map(([i, j], at) => {
      const {d, p, pHolm} = tests[at], sign = higher ? 1 : -1;
      const fit = tested ? student(tests[at]) : null, flat = fit && fit.width === 0;
      const pair = {i, j, d, p, pHolm, mean: meanDifference(tests[at]), n: d.length,
        wins: d.filter((each) => each * sign > 0).length,
        ties: d.filter((each) => each === 0).length,
        losses: d.filter((each) => each * sign < 0).length,
        interval: !fit || (flat && single && fit.centre) ? [NaN, NaN] : fit.interval,
        changes: without.flatMap((each, left) => {
          const other = each.tests[at], flips = side(other) * side(tests[at]) < 0;
          const decides = n > MIN_UNITS && (pHolm < LEVEL) !== (other.pHolm < LEVEL);
          const what = [flips && "reversed", decides && (pHolm < LEVEL ? "not significant" : "significant")].filter(Boolean);
          return what.length ? [{left, flips, decides, what: what.join(", ")}] : [];
        })};
      if (single && fit && ratio > 0 && !flat) {
        const first = tTail((rope - sign * fit.centre) / fit.width, d.length - 1);
        const second = tTail((rope + sign * fit.centre) / fit.width, d.length - 1);
        pair.posterior = [first, rope ? 1 - first - second : NaN, rope ? second : 1 - first];
      }
      return pair;
    });
    const given = part.given.find(({of}) => of.metric === choice.metric
      && String(of.sizes) === String(choice.sizes)
      && String([...of.datasets].sort()) === String(used.map((d) => part.datasets[d]).sort()));
    const probabilities = new Map((given ? given.pairs : []).flatMap(
      ([first, second, better, equal, worse, words]) => [
        [`${first}|${second}`, {words, three: [better, equal, worse]}],
        [`${second}|${first}`, {words, three: [worse, equal, better]}]]));
    for (const pair of pairs) {
      const names = [pair.i, pair.j].map((m) => part.methods[choice.methods[m]]);
      const known = probabilities.get(names.join("|"));
      if (known) Object.assign(pair, {posterior: known.three, words: known.words});
    }
    const control = choice.methods.indexOf(choice.control);
    const others = order.filter((m) => m !== control);
    const z = others.map((m) => (rank[m] - rank[control]) / Math.sqrt(k * (k + 1) / (6 * n)));
    const pControl = z.map((each) => 2 * normalTail(Math.abs(each)));
    const pControlHolm = holm(pControl);
    const ofControl = new Map(control < 0 || single ? [] : others.map(
      (m, at) => [m, {z: z[at], p: pControl[at], pHolm: pControlHolm[at]}]));
    const times = part.seconds && used.map((d) => choice.methods.map(
      (m) => mean(choice.sizes.map((size) => part.seconds[d][m][size]))));
    const seconds = times && range(k).map((m) => mean(times.map((row) => row[m])));
    const known = seconds && seconds.every((each) => each > 0);
    const losses = means.map((each) => (higher ? -each : each));
    const sizes = sorted(pairs.map((pair) => Math.abs(pair.mean)).filter((each) => each > 0), (each) => each);
    return {
      // Decimals of differences and of means.
      digits: decimals(sizes[sizes.length >> 2] || 1, 2),
      places: decimals(Math.max(...means.map(Math.abs)) || 1, 4),
      used, lost, n, k, metric, values, ranks, rank, means, order, gain, single, ratio, pairs, without,
      control, ofControl, given, repeats,
      names: choice.methods.map((m) => part.methods[m]),
      best: range(k).map((m) => ranks.filter((row) => row[m] === Math.min(...row)).length),
      friedman: single || k < 3 ? null : friedman(ranks),
      critical: single ? NaN : PAGE.critical[k - 2] / Math.sqrt(n),
      seconds: known ? seconds : null,
      front: known ? frontOf(seconds, losses) : [],
    };
  };

  // ---- Numbers and words.

  // Twelve digits: what follows is rounding.
  const rounded = (value) => Number(value.toPrecision(12));
  const minus = (text) => text.replace("-", "\u2212");
  const fixed = (value, digits) => (Number.isFinite(value)
    ? minus(rounded(value).toFixed(digits).replace(/^-(0\.?0*)$/, "$1")) : "–");
  const short = (value, digits = 3) => (Number.isFinite(value)
    ? minus(Math.abs(value) < 1e-4 && value ? value.toExponential(digits - 1)
      : String(Number(value.toPrecision(digits)))) : value === Infinity ? "∞" : "–");
  const signed = (value, digits) => (value > 0 ? "+" : "") + (digits == null ? short(value) : fixed(value, digits));
  const chance = (p) => (Number.isNaN(p) || p == null ? "–" : p < 0.001 ? "< 0.001" : p.toFixed(3));
  const equals = (p) => (p < 0.001 ? "< 0.001" : `= ${p.toFixed(3)}`);
  const many = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
  const sized = ({rope, unit}) => `${rope} ${rope === 1 ? unit.replace(/s$/, "") : unit}`.trim();
  const listed = (names, most = 6) => names.slice(0, most).join(", ")
    + (names.length > most ? ` and ${names.length - most} more` : "");
  const intervalText = ([low, high], digits) => (Number.isNaN(low) ? "–" : `${fixed(low, digits)} to ${fixed(high, digits)}`);
  const scoreText = (found, m) => `${fixed(found.means[m], found.places)}${found.metric.unit ? ` ${found.metric.unit}` : ""}`;

  // The best method of the papers against the best of what is used today, set by set.
  const contestOf = (part, found) => {
    if (!found.pairs) return [];
    const {names, values, used, n, means, metric} = found, {rope, higher} = metric;
    const [papers, today] = [part.proposed, part.today].map(
      (group) => range(found.k).filter((m) => group.includes(names[m])));
    if (!papers.length || !today.length) return [];
    const sign = higher ? 1 : -1, above = [], below = [], scale = scaleOf(values.flat());
    const bestOf = (row, group) => group.reduce((best, m) => (sign * (row[m] - row[best]) > 0 ? m : best));
    values.forEach((row, at) => {
      const [ours, theirs] = [papers, today].map((group) => bestOf(row, group)), gain = sign * (row[ours] - row[theirs]);
      const rounding = Math.max(...[ours, theirs].map((m) => roundingOf(row[m], scale)));
      if (Math.abs(gain) > rope + rounding) {
        (gain > 0 ? above : below).push(`${part.datasets[used[at]]} (${names[gain > 0 ? ours : theirs]}, by ${fixed(Math.abs(gain), found.digits)})`);
      }
    });
    const [ours, theirs] = [papers, today].map((group) => bestOf(means, group));
    const absent = part.proposed.filter((name) => !names.includes(name)), first = bestOf(means, range(found.k));
    const neither = [ours, theirs].includes(first) ? "" : ` The best mean of all, ${scoreText(found, first)}, is that of ${names[first]}, which is neither.`;
    const {i, interval} = found.pairs.find((pair) => [ours, theirs].every((m) => [pair.i, pair.j].includes(m)));
    const turn = (i === ours ? 1 : -1) * sign, ends = interval.map((each) => each * turn).sort((a, b) => a - b);
    const within = Number.isNaN(ends[0]) ? "" : ` (95 % interval ${intervalText(ends, found.digits)}, not corrected for the choice of the two)`;
    const near = n - above.length - below.length, close = rope ? ` (within ${sized(metric)})` : "";
    const answer = n === 1 ? near ? `It is a tie on ${part.datasets[used[0]]}${close}` : `${above.length ? "They win" : "Today's best wins"} on ${above.concat(below)[0]}`
      : `The papers' best wins on ${above.length} of ${n} data sets, today's best on ${below.length}${near ? `; ${near} ${near > 1 ? "are ties" : "is a tie"}${close}` : ""}`;
    const won = [["The papers' methods", above], ["Today's", below]].filter(([, sets]) => n > 1 && sets.length)
      .map(([side, sets]) => `${side} win on ${listed(sets, 20)}. `).join("");
    const picked = n > 1 ? "for each data set after the fact, so no single method is shown to be enough" : "after the fact";
    return [`Do the papers' methods beat today's? ${answer}.`,
      `${won}The best of each side is picked ${picked}. A method counts if it ran on all of these data sets: ${papers.length} of the papers${absent.length ? ` (not ${listed(absent)})` : ""} and ${today.length} of today. The best means are ${scoreText(found, ours)} (${names[ours]}) and, of today, ${scoreText(found, theirs)} (${names[theirs]}): a difference of ${signed(sign * (means[ours] - means[theirs]), found.digits)}${within}.${neither}`];
  };
  const contestOfOthers = (part) => {
    const other = PAGE.parts.find((each) => each.today.length && each.title.startsWith(part.title) && each !== part);
    if (!other) return [];
    // Of a few chosen methods nothing would follow for the papers.
    const choice = {...choiceIn(other), methods: startOf(other).methods};
    const onclick = (event) => { event.preventDefault(); begin(choice); place("answers").focus(); };
    const link = html("a", {href: "#answers", onclick}, other.title);
    const found = answersOf(other, choice), lines = contestOf(other, found);
    if (!lines.length) return [["Do the papers' methods beat today's? Not computed for this choice; open it in ", link, ", with the same data sets."]];
    return [lines[0], [`${lines[1]} See `, link, isPlanned(current) ? "." : ", whose planned methods these are."]];
  };

  const isDecided = ({posterior}) => (posterior ?? []).some((each) => each > PAGE.certain);
  // How many pairs are decided, and for what; then the best mean against the control.
  const decisionsOf = (part, found) => {
    const {pairs, names, means, metric, control, digits} = found, sure = pairs.filter(isDecided);
    if (pairs.length === 1) return [`From all repeats, the pair is ${sure.length ? "" : "not "}decided with a probability above ${PAGE.certain}.`, ...sure.map(({words}) => words)];
    if (!sure.length) return [`From all repeats, none of ${pairs.length} pairs is decided with a probability above ${PAGE.certain}.`];
    const worse = ({i, j, posterior: [first, , second]}) => (first > PAGE.certain ? j : second > PAGE.certain ? i : -1);
    const better = sure.filter((pair) => worse(pair) >= 0), lost = (m) => better.filter((pair) => worse(pair) === m).length;
    const last = sorted(range(found.k), (m) => -lost(m)).slice(0, 2).filter(lost), most = sum(last.map(lost));
    const lines = [["From all repeats, ", linkTo("decided", `${sure.length} of ${pairs.length} pairs`),
      ` ${sure.length === 1 ? "is" : "are"} decided with a probability above ${PAGE.certain}: ${better.length} for a better method, ${sure.length - better.length} for equivalence.${
        found.k > 6 && 2 * most > sure.length ? ` In ${most} of them the worse method is ${last.map((m) => names[m]).join(" or ")}.` : ""}`]];
    const best = range(found.k).reduce((first, m) => (found.gain(m, first) > 0 ? m : first));
    if (control < 0 || control === best) return [...lines, ...sorted(sure, (pair) => -Math.max(...pair.posterior)).slice(0, 3).map(({words}) => words)];
    const {i, posterior} = pairs.find((pair) => [pair.i, pair.j].includes(best) && [pair.i, pair.j].includes(control));
    const [first, equal, second] = i === best ? posterior : [...posterior].reverse(), gain = found.gain(best, control);
    const apart = `${signed(gain, digits)}${metric.unit && ` ${metric.unit}`}`, told = `${names[best]} has the best mean, ${scoreText(found, best)}`;
    if (!(equal > PAGE.certain && gain > metric.rope)) {
      return [...lines, `${told}. Against ${names[control]} the mean difference is ${apart}; P(better) ${chance(first)}, P(equal) ${chance(equal)}, P(worse) ${chance(second)}.`];
    }
    const sign = metric.higher ? 1 : -1, gains = found.values.map((row) => sign * (row[best] - row[control]));
    const largest = sorted(range(found.n), (at) => -gains[at]).slice(0, 2).map((at) => `${part.datasets[found.used[at]]} (${signed(gains[at], digits)})`);
    return [...lines, `${told}, but it and ${names[control]} are equivalent (within ${sized(metric)}) on a typical data set, with probability ${chance(equal)}; the mean difference, ${apart}, comes from ${largest.join(" and ")}.`];
  };

  const sentencesOf = (part, found) => {
    const {names, order, n, k, single, used} = found;
    const sets = used.map((each) => part.datasets[each]);
    if (k < 2) return ["Choose at least two methods."];
    if (part.sizes.length && !current.sizes.length) return ["Choose at least one size of the training sets."];
    if (!used.length && !found.lost.length) return ["Choose at least one data set."];
    const lost = new Map();
    for (const each of found.lost) {
      const methods = lacking(part, current, each), key = String(methods);
      lost.set(key, {methods, sets: [...(lost.get(key)?.sets ?? []), part.datasets[each]]});
    }
    const namesOf = (methods) => listed(methods.map((m) => part.methods[m]), 3);
    if (n === 0) return ["Nothing is left to compare.", ...[...lost.values()].map(({methods, sets}) => (methods.length
      ? [`${methods.length} of the ${k} chosen methods ${methods.length === 1 ? "has" : "have"} no scores on ${listed(sets, 20)}: ${namesOf(methods)}. `,
        ...(k - methods.length > 1 ? [html("button", {type: "button", onclick: () => {
          begin({...current, methods: current.methods.filter((m) => !methods.includes(m))});
          place("answers").focus();
        }}, `Untick ${methods.length === 1 ? "it" : `these ${methods.length}`}`)] : [])]
      : `On ${listed(sets, 20)} the chosen methods have no repeat in common.`))];
    const leftOut = `Left out, for lack of scores ${[...lost.values()].map(
      ({methods, sets}) => `of ${namesOf(methods) || "all in one repeat"}: ${listed(sets, 20)}`).join("; ")}.`;
    const first = order[0], lines = contestOf(part, found);
    if (!part.today.length) lines.push(...contestOfOthers(part));
    if (single) {
      lines.push(`On ${sets[0]} ${names[first]} has the best mean, ${scoreText(found, first)}, of ${many(k, "method")}.`);
      lines.push(found.ratio === Infinity
        ? "One data set, and it is not known how its repeats share samples: differences are described, not tested."
        : found.repeats.length < MIN_UNITS
          ? `${many(found.repeats.length, "repeat")} are too few for tests.`
          : "Units are repeats of one data set: intervals, p and probabilities are of the t-test that is corrected for the samples they share, and say nothing of other data sets.");
    } else {
      lines.push(`${names[first]} has the best mean rank, ${found.rank[first].toFixed(2)}, among ${many(k, "method")} on ${many(n, "data set")}.`);
      const near = order.filter((m) => m !== first && found.rank[m] - found.rank[first] < found.critical);
      lines.push(`Nemenyi's critical difference is ${found.critical.toFixed(2)}: ${near.length
        ? `${near.length === k - 1 ? k === 2 ? "the other is" : "all others are" : `${near.length} of the others ${near.length > 1 ? "are" : "is"}`} within it` : "all others are further off"}.`);
      const changed = found.without.flatMap(({rank}, at) => {
        const top = order.reduce((best, m) => (rank[m] < rank[best] ? m : best), first);
        return top === first ? [] : [`${sets[at]} (then ${names[top]})`];
      });
      if (found.without.length) {
        lines.push(changed.length ? `Another method is first if one data set is left out: ${listed(changed)}.`
          : "It stays first whichever data set is left out.");
      }
      const changing = (kind, linked) => used.flatMap((_, at) => {
        const count = found.pairs.filter(({changes}) => changes.some((each) => each.left === at && each[kind])).length;
        const told = found.pairs.length > 1 ? ` (${count})` : "";
        return count ? [", ", linked ? linkTo(sets[at], sets[at]) : sets[at], told] : [];
      }).slice(1);
      const flips = changing("flips", true), decides = changing("decides", !flips.length), one = found.pairs.length === 1;
      const fewer = 2 ** (2 - n) * found.pairs.length;
      if (isApart(found) && n <= EXACT_UNITS && fewer >= LEVEL) {
        lines.push(`With any data set left out ${one ? "the pair cannot" : "no pair can"} be significant: the smallest p ${one ? "" : "after Holm "}is ${short(Math.min(1, fewer), 2)}.`);
      } else if (n > MIN_UNITS) {
        lines.push(decides.length ? [`${one ? "The pair becomes or stops" : "Pairs that become or stop"} being significant if one data set is left out: `, ...decides, "."]
          : `${one ? "The pair does not become or stop" : "No pair becomes or stops"} being significant when a data set is left out.`);
      }
      if (flips.length) {
        const never = n >= MIN_UNITS && found.pairs.every(({pHolm, changes}) => !(pHolm < LEVEL && changes.some((each) => each.flips)));
        lines.push([`The sign of the mean difference${never ? `, ${one ? "which is not significant" : "never significant in these pairs"},` : ""} flips if one data set is left out${one ? "" : " (number of pairs)"}: `, ...flips, "."]);
      }
      if (found.friedman) {
        const {f, pF, df} = found.friedman;
        lines.push(`${pF < LEVEL ? "The methods differ" : "No difference is shown"}: Iman and Davenport's F(${df.join(", ")}) = ${short(f)}, p ${equals(pF)}.`);
      }
      if (found.ofControl.size) {
        const name = names[found.control], sides = {better: [], worse: []};
        for (const [m, {z, pHolm}] of found.ofControl) if (pHolm < LEVEL) sides[z > 0 ? "worse" : "better"].push(names[m]);
        const told = Object.entries(sides).filter(([, each]) => each.length)
          .map(([word, each]) => `${word} than ${name}: ${listed(each)}`);
        const rest = k - 1 - sides.better.length - sides.worse.length;
        if (rest) told.push(`${many(rest, "method")} not significantly different from ${name}`);
        lines.push(`By mean ranks, with Holm's correction, ${told.join("; ")}.`);
      }
    }
    const tests = found.pairs.filter((pair) => !Number.isNaN(pair.p));
    if (tests.length) {
      const apart = tests.filter((pair) => pair.pHolm < LEVEL).length, least = 2 ** (1 - n) * tests.length;
      const test = `${single ? "The corrected t-test" : "Wilcoxon's test"}${tests.length > 1 ? " with Holm's correction" : ""}`;
      if (single || n > EXACT_UNITS || least < LEVEL) {
        lines.push(tests.length === 1 ? `${test} finds ${apart ? "a" : "no"} significant difference of the pair at ${LEVEL}.`
          : `${test} finds ${apart} of ${tests.length} pairs significantly different at ${LEVEL}.`);
      } else {
        const {ofControl} = found, preset = part.presets.find((each) => each.methods && !each.datasets);
        const isSmaller = preset && preset.methods.length < k;
        lines.push([`With ${many(tests.length, "pair")} and ${many(n, "data set")} ${test} cannot find any difference: the smallest p, ${short(2 ** (1 - n), 2)}, ${tests.length > 1 ? `becomes ${short(Math.min(1, least), 2)}` : `is above ${LEVEL}`}.${
          ofControl.size ? ` The test of mean ranks against one method corrects for only ${many(ofControl.size, "comparison")}${[...ofControl.values()].some(({pHolm}) => pHolm < LEVEL) ? ", so it can" : ""}.` : ""} ${
          isSmaller ? "For pairs, use the set fixed in advance: " : k > 2 ? "Choose fewer methods before you look at results." : ""}`,
        ...(isSmaller ? [html("button", {type: "button", onclick: () => { begin(presetChoice(part, [preset])); place("answers").focus(); }}, preset.label), "."] : [])]);
      }
    } else if (!single) lines.push(`${many(n, "data set")} ${n === 1 ? "is" : "are"} too few for tests of pairs.`);
    if (found.given?.decides) lines.push(...decisionsOf(part, found));
    if (found.front.length) {
      const isUseless = (m) => found.means[m] < 0 && found.metric.of.some((name) => ["explained_variance", "r2"].includes(name));
      const told = found.front.map((m) => `${names[m]} (${short(found.seconds[m], 2)} s, ${scoreText(found, m)}${isUseless(m) ? ", worse than a constant" : ""})`);
      lines.push(found.front.length === 1 ? `The cheapest is the best: ${told[0]}.`
        : `Cheapest first, each of these scores better than every cheaper method: ${listed(told, 8)}.`);
    }
    if (current.control >= 0 && found.control < 0) lines.push(`${part.methods[current.control]} is not among the chosen methods, so nothing is compared against it.`);
    return lost.size ? [leftOut, ...lines] : lines;
  };

  // ---- The choice, and its address.

  const startOf = (part) => ({
    part, metric: part.start.metric, sizes: [...part.start.sizes],
    datasets: part.start.datasets.map((name) => part.datasets.indexOf(name)).sort((a, b) => a - b),
    methods: part.start.methods.map((name) => part.methods.indexOf(name)).sort((a, b) => a - b),
    control: part.methods.indexOf(part.control), sort: {}, pairs: "", with: -1,
  });
  const LISTS = ["sizes", "datasets", "methods"];
  // What several presets share.
  const presetChoice = (part, presets) => {
    const choice = startOf(part);
    presets.filter((each) => each.sizes).forEach(({sizes}, at) => {
      choice.sizes = at ? choice.sizes.filter((each) => sizes.includes(each)) : sizes;
    });
    for (const key of ["datasets", "methods"]) {
      for (const preset of presets) {
        if (preset[key]) choice[key] = choice[key].filter((each) => preset[key].includes(part[key][each]));
      }
    }
    return choice;
  };
  const isEmpty = (choice) => LISTS.some((key) => choice.part[key].length && !choice[key].length);
  // The presets that make a choice, null if none do.
  const pressedOf = (choice) => {
    const {presets} = choice.part;
    const sets = range(2 ** presets.length).map((bits) => presets.filter((_, at) => (bits >> at) & 1));
    const made = (set) => LISTS.every((key) => String(presetChoice(choice.part, set)[key]) === String(choice[key]));
    if (isEmpty(choice)) return null;
    return sorted(sets.filter(made), (set) => set.length)[0] ?? null;
  };

  const isPlanned = ({part, methods}) => String(methods) === String(startOf(part).methods);
  // The same presets in another part, or else the same sizes, data sets and methods; and the
  // same score: as far as the part has them.
  const choiceIn = (part) => {
    const from = current.part, pressed = pressedOf(current)?.map(({label}) => label), {label} = from.metrics[current.metric];
    const choice = presetChoice(part, part.presets.filter((each) => pressed?.includes(each.label)));
    const metric = part.metrics.findIndex((each) => each.label === label);
    if (metric >= 0) choice.metric = metric;
    if (pressed) return choice;
    for (const key of LISTS) {
      const names = current[key].map((each) => from[key][each]);
      const found = range(part[key].length).filter((each) => names.includes(part[key][each]));
      if (key !== "methods" ? found.length : found.length > 1 && !isPlanned(current)) choice[key] = found;
    }
    return choice;
  };

  const addressOf = (choice) => {
    const {part} = choice, start = startOf(part), address = new URLSearchParams();
    if (part !== PAGE.parts[0]) address.set("part", part.title);
    if (choice.metric !== start.metric) address.set("metric", part.metrics[choice.metric].label);
    for (const key of LISTS) {
      if (String(choice[key]) !== String(start[key])) {
        for (const each of choice[key]) address.append(key, part[key][each]);
        if (!choice[key].length) address.append(key, "");
      }
    }
    if (choice.control !== start.control) address.set("control", part.methods[choice.control] ?? "");
    if (choice.pairs) address.set("pairs", choice.pairs);
    if (choice.with >= 0) address.set("with", part.methods[choice.with]);
    for (const [table, order] of Object.entries(choice.sort)) address.set(`sort-${table}`, order);
    return String(address);
  };
  const choiceAt = (address) => {
    const given = new URLSearchParams(address);
    const part = PAGE.parts.find((each) => each.title === given.get("part")) ?? PAGE.parts[0];
    const choice = startOf(part);
    const metric = part.metrics.findIndex((each) => each.label === given.get("metric"));
    if (metric >= 0) choice.metric = metric;
    for (const key of LISTS) {
      if (!given.has(key)) continue;
      const wanted = given.getAll(key);
      choice[key] = range(part[key].length).filter((each) => wanted.includes(part[key][each]));
    }
    if (given.has("control")) choice.control = part.methods.indexOf(given.get("control"));
    choice.pairs = given.get("pairs") ?? "";
    choice.with = part.methods.indexOf(given.get("with"));
    for (const [key, value] of given) if (key.startsWith("sort-")) choice.sort[key.slice(5)] = value;
    return choice;
  };

  // ---- Elements.

  const SVG = "http://www.w3.org/2000/svg";
  const filled = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value === true) element.setAttribute(name, "");
      else if (value !== false && value != null) element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };
  const html = (tag, attributes = {}, ...children) => filled(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) => filled(document.createElementNS(SVG, tag), attributes, children);
  const text = (x, y, content, kind = "soft", anchor = "start") => (
    svg("text", {x, y, class: kind, "text-anchor": anchor}, content));
  const line = (kind, x1, y1, x2, y2) => svg("line", {class: kind, x1, y1, x2, y2});
  const hidden = (content) => html("span", {class: "hidden-text"}, content);
  // A table scrolls by itself where it is wide, and its caption stays.
  const scrolling = (kind, caption, heads, body) => html(
    "div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption},
    html("table", {class: kind}, html("caption", {}, html("span", {}, caption)),
      html("thead", {}, html("tr", {}, ...heads)), body));
  const drawing = (target, width, height, label, ...children) => {
    target.replaceChildren(svg("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, role: "group",
      "aria-label": `${label}; arrow keys go from method to method`}, ...children));
    explain([...target.querySelectorAll(".mark")]);
  };
  const place = (name) => document.getElementById(name);
  // Of a figure. In a window without any width, lengths would be negative.
  const roomOf = (target) => Math.max(240, target.clientWidth);
  const pen = document.createElement("canvas").getContext("2d");
  const widthOf = (text, weight = 400) => {
    pen.font = `${weight} 12px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  };
  const fitted = (text, width) => {
    if (widthOf(text, 700) <= width) return text;
    let kept = text.length;
    while (kept > 1 && widthOf(`${text.slice(0, kept)}…`, 700) > width) kept--;
    return `${text.slice(0, kept).trim()}…`;
  };

  // What stands behind a mark, by pointer and by keyboard: one stop for the Tab key, and
  // arrows within.
  const explain = (marks, columns = 1) => marks.forEach((mark, at) => {
    mark.setAttribute("tabindex", at ? -1 : 0);
    mark.addEventListener("keydown", (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns}[event.key];
      const next = marks[event.key === "Home" ? 0 : event.key === "End" ? marks.length - 1 : at + step];
      if (!next) return;
      event.preventDefault();
      mark.setAttribute("tabindex", -1);
      next.setAttribute("tabindex", 0);
      next.focus();
    });
  });
  for (const kind of ["mouseover", "mouseout", "focusin", "focusout"]) {
    addEventListener(kind, ({target}) => {
      const mark = target.closest?.("[data-value]"), isOver = kind === "mouseover" || kind === "focusin";
      if (mark) place("value").textContent = isOver ? mark.dataset.value : "";
    });
  }
  addEventListener("keydown", ({key}) => { if (key === "Escape") place("value").textContent = ""; });

  // A table whose columns sort it: [heading, value to sort by, text, is a number].
  const tableOf = (name, caption, columns, items, attributes = () => ({})) => {
    const heads = columns.map(([heading, , , numeric]) => html("th", {scope: "col", class: numeric && "right"},
      html("button", {type: "button", onclick: () => sortBy(heading)}, heading)));
    const rows = items.map((item) => html("tr", attributes(item), ...columns.map(([, value, text, numeric], at) => (
      html(at ? "td" : "th", {scope: !at && "row", class: numeric && "num", "data-sort": value(item)},
        text ? text(item) : String(value(item)))))));
    const body = html("tbody", {}, ...rows);
    const arrange = () => {
      const [heading, direction] = (current.sort[name] ?? "").split("~"), at = columns.findIndex(([each]) => each === heading);
      heads.forEach((head, each) => (each === at ? head.setAttribute("aria-sort", direction) : head.removeAttribute("aria-sort")));
      if (at < 0) return;
      const value = columns[at][1], keyed = items.map((item, k) => [value(item), rows[k]]);
      const isNone = (each) => Number.isNaN(each) || each == null;
      const sign = direction === "descending" ? -1 : 1;
      keyed.sort(([a], [b]) => isNone(a) - isNone(b) || sign * (typeof a === "string" ? a.localeCompare(b) : a - b) || 0);
      body.append(...keyed.map(([, row]) => row));
    };
    const sortBy = (heading) => {
      const up = current.sort[name] !== `${heading}~ascending`;
      current.sort[name] = `${heading}~${up ? "ascending" : "descending"}`;
      arrange();
      keepAddress();
    };
    arrange();
    return scrolling("sortable", caption, heads, body);
  };

  // ---- Figures.

  // Ticks at least a gap apart, the first ones first.
  const spaced = (ticks, scale, gap) => ticks.reduce((kept, each) => (
    kept.every((other) => Math.abs(scale(other) - scale(each)) >= gap) ? [...kept, each] : kept), []);
  const decades = (low, high) => range(24).map((k) => k - 9).flatMap((e) => [1, 2, 5].map((m) => Number(`${m}e${e}`)))
    .filter((each) => each >= low && each <= high)
    .sort((a, b) => String(b).startsWith("1") - String(a).startsWith("1") || b - a);
  // From zero, near it in proportion and far from it by the logarithm: no outlier crushes the rest.
  const soft = (unit) => (value) => Math.asinh(value / unit);
  const between = (f, low, high, from, to) => {
    const start = f(low), length = f(high) - start || 1;
    return (value) => from + (f(value) - start) / length * (to - from);
  };

  // Rows with a label, a dot on a common axis, and what lies behind it.
  const rowsFigure = (target, {rows, label, axis, ticks, tickText, title, lanes = [], band, ruler}) => {
    const width = roomOf(target), narrow = width < 560;
    const height = narrow ? 36 : 24, top = ruler ? 52 : 36;
    const longest = Math.max(...rows.map((row) => widthOf(row.label, 700)));
    const left = (narrow ? 8 : Math.min(longest + 14, 0.4 * width)) + 7 * lanes.length;
    const edge = narrow ? 7 * lanes.length - 5 : left;
    const x = axis(left + 8, width - 12), bottom = top + rows.length * height;
    const y = (at) => top + at * height + (narrow ? 25 : height / 2);
    const labelOf = (row, at) => {
      const from = top + at * height, room = narrow ? width : left - 7 * lanes.length - 12;
      const kind = row.strong ? "strong" : "", name = fitted(row.label, room);
      return narrow ? text(lanes.length ? 7 * lanes.length + 4 : 0, from + 13, name, kind)
        : text(left - 7 * lanes.length - 10, from + height / 2 + 4, name, kind, "end");
    };
    const marks = rows.map((row, at) => svg("g",
      {class: "mark", role: "img", "aria-label": row.value, "data-value": row.value},
      svg("rect", {class: "row", x: 0, y: top + at * height, width, height}), labelOf(row, at),
      ...(row.minor ?? []).map(([each, share]) => (
        line("minor", x(each), y(at) - 3 - 8 * share, x(each), y(at) + 3 + 8 * share))),
      ...(row.interval ? [line("interval", x(row.interval[0]), y(at), x(row.interval[1]), y(at))] : []),
      svg("circle", {class: row.strong ? "dot strong" : "dot", cx: x(row.x), cy: y(at), r: 4.5})));
    const widest = Math.max(...ticks.map((each) => widthOf(tickText(each))));
    drawing(target, width, bottom + 8, label,
      ...(band ? [svg("rect", {class: "band", x: x(band[0]), y: top,
        width: x(band[1]) - x(band[0]), height: bottom - top})] : []),
      ...spaced(ticks, x, widest + 14).flatMap((each) => [
        line(each === 0 ? "zero" : "grid", x(each), top - 4, x(each), bottom),
        text(x(each), top - 8, tickText(each), "soft", "middle")]),
      text(narrow ? 0 : left, ruler ? 12 : 10, title),
      ...(ruler ? [line("ruler", x(ruler[0]), 22, x(ruler[1]), 22), text(x(ruler[1]) + 6, 26, x(ruler[1]) + 6 + widthOf(ruler[2]) < width ? ruler[2] : "")] : []),
      ...lanes.map(([from, to], lane) => (
        line("lane", edge - 7 * lane, y(from) - 5, edge - 7 * lane, y(to) + 5))),
      ...marks);
  };

  const groupsOf = (values, critical) => {
    const groups = [];
    values.forEach((from, start) => {
      const end = values.filter((each) => each < from + critical).length - 1;
      if (end > start && end > (groups.at(-1)?.[1] ?? -1)) groups.push([start, end]);
    });
    return groups;
  };

  const sharesOf = (values) => [...new Set(values)].map(
    (each) => [each, values.filter((other) => other === each).length / values.length]);

  const drawRanks = (part, found) => {
    const {names, order, rank, ranks, used, k} = found;
    const all = found.critical > k - 1;
    rowsFigure(place("ranks-figure"), {
      label: "Mean ranks, best first",
      rows: order.map((m) => ({
        label: names[m], x: rank[m], minor: sharesOf(ranks.map((row) => row[m])), strong: m === found.control,
        value: `${names[m]}: mean rank ${rank[m].toFixed(2)}, mean ${scoreText(found, m)}; ${used.map(
          (d, row) => `${part.datasets[d]} ${ranks[row][m]}`).join(", ")}`})),
      axis: (from, to) => between((each) => each, 1, Math.max(k, 2), from, to),
      ticks: [1, k, ...range(k - 2).map((each) => each + 2)], tickText: String,
      title: "Mean rank, 1 is best; strokes: ranks on the data sets",
      lanes: groupsOf(order.map((m) => rank[m]), found.critical),
      ruler: [1, all ? k : 1 + found.critical, all ? "" : `critical difference ${found.critical.toFixed(2)}`],
    });
  };

  const drawDifferences = (found) => {
    const {names, control, gain, pairs, metric, digits} = found;
    const of = (m) => pairs.find(({i, j}) => (i === m && j === control) || (j === m && i === control));
    const sign = metric.higher ? 1 : -1;
    const rows = sorted(range(names.length).filter((m) => m !== control), (m) => -gain(m, control)).map((m) => {
      const pair = of(m), turn = (pair.i === m ? 1 : -1) * sign;
      const ends = pair.interval.map((each) => each * turn).sort((a, b) => a - b);
      const interval = Number.isNaN(ends[0]) ? null : ends, x = turn * pair.mean;
      const said = [signed(x, digits), interval && `95 % interval ${intervalText(interval, digits)}`,
        `p after Holm ${chance(pair.pHolm)}`].filter(Boolean).join(", ");
      return {label: names[m], x, interval, strong: pair.pHolm < LEVEL,
        value: `${names[m]} against ${names[control]}: ${said}`};
    });
    const ends = rows.flatMap((row) => row.interval ?? [row.x]).concat(0);
    const low = Math.min(...ends), high = Math.max(...ends);
    const unit = metric.rope || median(rows.map((row) => Math.abs(row.x)).filter((each) => each > 0)) || 1;
    const ticks = [0, ...decades(unit / 10, Math.max(-low, high)).flatMap((each) => [each, -each])]
      .filter((each) => each >= low && each <= high);
    rowsFigure(place("differences-figure"), {
      label: `Differences from ${names[control]}`, rows,
      axis: (from, to) => between(soft(unit), low, high, from, to), ticks, tickText: (each) => (each ? signed(each) : "0"),
      title: `${metric.unit || metric.label} better than ${names[control]} →`,
      band: metric.rope ? [Math.max(low, -metric.rope), Math.min(high, metric.rope)] : null,
    });
  };

  const drawCost = (found) => {
    const target = place("cost-figure"), {names, seconds, means, metric, front} = found;
    const width = roomOf(target), height = Math.max(300, Math.min(520, 0.62 * width));
    const best = metric.higher ? Math.max(...means) : Math.min(...means);
    const behind = means.map((each) => Math.abs(each - best)), most = Math.max(...behind);
    const unit = metric.rope || median(behind.filter((each) => each > 0)) || 1;
    const low = Math.min(...seconds), high = Math.max(...seconds);
    const x = between(Math.log, low / 1.3, high * 1.3, 46, width - 14);
    const y = between(soft(unit), 0, most || 1, 26, height - 46);
    const points = names.map((_, m) => [x(seconds[m]), y(behind[m])]);
    const corners = front.flatMap((m, at) => (at ? [[points[m][0], points[front[at - 1]][1]], points[m]] : [points[m]]));
    corners.push([width - 14, corners.at(-1)[1]]);
    const taken = points.map(([a, b]) => [a - 5, b - 5, a + 5, b + 5]);
    corners.slice(1).forEach(([a, b], at) => taken.push([corners[at][0] - 1, b - 1, a + 1, corners[at][1] + 1]));
    const free = (box) => box[0] >= 42 && box[2] <= width && box[1] >= 12 && box[3] <= height - 34
      && taken.every((other) => box[2] <= other[0] || other[2] <= box[0] || box[3] <= other[1] || other[3] <= box[1]);
    // The front first; a name where there is room for it, else its number in the table. On a
    // narrow page a name is too far from its dot.
    const labels = [];
    const queue = [...front, ...found.order.filter((m) => !front.includes(m))];
    for (const m of queue) {
      const [a, b] = points[m], number = `${found.order.indexOf(m) + 1}`;
      const spot = [...(width < 560 ? [] : [`${number} ${names[m]}`]), number].flatMap((name) => {
        const long = widthOf(name, front.includes(m) ? 700 : 400);
        return [[8, 4], [-8 - long, 4], [-long / 2, -9], [-long / 2, 17], [7, -6], [7, 14],
          [-7 - long, -6], [-7 - long, 14], [9, -17], [9, 25], [-9 - long, -17], [-9 - long, 25],
        ].map(([right, down]) => ({name, left: a + right, base: b + down, long}));
      }).find(({left, base, long}) => free([left - 1, base - 11, left + long + 1, base + 3]));
      if (!spot) continue;
      labels.push({m, ...spot});
      taken.push([spot.left - 1, spot.base - 11, spot.left + spot.long + 1, spot.base + 3]);
    }
    const kindOf = (m) => (front.includes(m) ? "strong" : "");
    drawing(target, width, height, "Score against seconds, cheapest first",
      ...spaced(decades(low / 1.3, high * 1.3), x, 44).flatMap((each) => [
        line("grid", x(each), 18, x(each), height - 32),
        text(x(each), height - 18, short(each), "soft", "middle")]),
      ...spaced([0, ...decades(unit / 10, most)], y, 22).flatMap((each) => [
        line("grid", 42, y(each), width - 14, y(each)),
        text(38, y(each) + 4, each ? minus(`-${short(each)}`) : "best", "soft", "end")]),
      text(0, 11, `${metric.unit || metric.label} behind the best mean, ${fixed(best, found.places)}`),
      text(width - 14, height - 3, "seconds to choose and fit, mean over data sets", "soft", "end"),
      svg("polyline", {class: "front", points: corners.join(" ")}),
      ...labels.map(({m, name, left, base}) => text(left, base, name, `name ${kindOf(m)}`)),
      ...sorted(range(names.length), (m) => seconds[m]).map((m) => {
        const value = `${names[m]}: ${short(seconds[m])} s, mean ${scoreText(found, m)}`
          + (front.includes(m) ? "; none is cheaper and better" : "");
        return svg("circle", {class: `mark dot ${kindOf(m)}`, cx: points[m][0], cy: points[m][1],
          r: 4.5, role: "img", "aria-label": value, "data-value": value});
      }));
  };

  // ---- Tables.

  const isApart = ({pairs}) => pairs.some(({pHolm}) => pHolm < LEVEL);
  const inUnit = ({metric}) => (metric.unit ? `, ${metric.unit}` : "");

  const rankTable = (found) => {
    const {names, rank, means, best, seconds, ofControl, single, order} = found;
    const columns = [["Method", (m) => names[m], (m) => `${order.indexOf(m) + 1} ${names[m]}`],
      [single ? "Rank" : "Mean rank", (m) => rank[m], (m) => fixed(rank[m], single ? 1 : 2), true],
      [`Mean${inUnit(found)}`, (m) => means[m], (m) => fixed(means[m], found.places), true]];
    if (!single) columns.push(["Best on (data sets)", (m) => best[m], null, true]);
    if (seconds) columns.push(["Seconds", (m) => seconds[m], (m) => short(seconds[m], 2), true]);
    if (ofControl.size) {
      const of = (m, name) => ofControl.get(m)?.[name] ?? NaN;
      columns.push(["z against the control", (m) => of(m, "z"), (m) => fixed(of(m, "z"), 2), true],
        ["p after Holm", (m) => of(m, "pHolm"), (m) => chance(of(m, "pHolm")), true]);
    }
    const caption = "Methods, best first" + (ofControl.size
      ? `; z is positive where the control, ${names[found.control]}, has the better mean rank` : "");
    return tableOf("ranks", caption, columns, order,
      (m) => ({class: ofControl.get(m)?.pHolm < LEVEL && "apart"}));
  };

  const testTable = ({friedman: test, critical}) => {
    const both = test && test.df.join(", "), rows = test ? [
      ["Iman–Davenport F", test.f, both, test.pF, "corrected for ties, preferred"],
      ["Friedman χ²", test.chi2, test.df[0], test.p, "corrected for ties"],
      ["Iman–Davenport F", test.plainF, both, NaN, "without correction for ties"],
      ["Friedman χ²", test.plain, test.df[0], NaN, "without correction for ties"]] : [];
    rows.push(["Nemenyi's critical difference of mean ranks", critical, "", NaN, `level ${LEVEL}`]);
    return tableOf("tests", "Do the methods differ at all?", [
      ["Test", (row) => row[0]], ["Statistic", (row) => row[1], (row) => short(row[1], 4), true],
      ["Degrees of freedom", (row) => row[2]],
      ["p", (row) => row[3], (row) => chance(row[3]), true], ["Note", (row) => row[4]]], rows);
  };

  const changesText = (part, found, changes) => changes.map(
    ({left, what}) => `${part.datasets[found.used[left]]} (${what})`).join(", ") || "–";

  const pairTable = (part, found, pairs) => {
    const {names, single, digits} = found;
    const columns = [["First", ({i}) => names[i]], ["Second", ({j}) => names[j]],
      [`First − second${inUnit(found)}`, (pair) => pair.mean, (pair) => signed(pair.mean, digits), true],
      ["95 % interval", (pair) => pair.interval[0], (pair) => intervalText(pair.interval, digits), true],
      ["Wins–ties–losses", (pair) => pair.wins, (pair) => `${pair.wins}–${pair.ties}–${pair.losses}`, true],
      [single ? "p, corrected t" : "p, Wilcoxon", (pair) => pair.p, (pair) => chance(pair.p), true],
      ["p after Holm", (pair) => pair.pHolm, (pair) => chance(pair.pHolm), true]];
    if (pairs.some((pair) => pair.posterior)) {
      ["P(first better)", "P(equal)", "P(second better)"].forEach((heading, at) => columns.push(
        [heading, (pair) => pair.posterior?.[at] ?? NaN, (pair) => chance(pair.posterior?.[at] ?? NaN), true]));
    }
    if (found.without.length) {
      columns.push(["Changes without", (pair) => pair.changes.length, (pair) => changesText(part, found, pair.changes)]);
    }
    if (pairs.some((pair) => pair.words)) columns.push(["In words", (pair) => pair.words ?? "–"]);
    return tableOf("pairs", `Pairs of methods; units are ${single ? "repeats" : "data sets"}${isApart(found) ? `; shaded: p after Holm below ${LEVEL}` : ""}`,
      columns, pairs, (pair) => ({class: pair.pHolm < LEVEL && "apart"}));
  };

  const matrixOf = (found) => {
    const {names, order, pairs, gain} = found;
    // Many columns fit a page with a decimal less; the line of values has three figures.
    const digits = Math.max(0, found.digits - (order.length > 16));
    const of = new Map(pairs.map((pair) => [`${pair.i} ${pair.j}`, pair]));
    const largest = soft(1)(Math.max(...pairs.map((pair) => Math.abs(pair.mean))) || 1);
    const rows = order.map((m, at) => html("tr", {}, html("th", {scope: "row"}, `${at + 1} ${names[m]}`), ...order.map((other) => {
      if (m === other) return html("td", {class: "mark", "data-value": names[m]}, "");
      const pair = of.get(`${m} ${other}`) ?? of.get(`${other} ${m}`), value = gain(m, other);
      const strength = Math.round(45 * soft(1)(Math.abs(value)) / largest);
      const said = `${names[m]} against ${names[other]}: ${signed(value)}, p after Holm ${chance(pair.pHolm)}`;
      return html("td", {class: "mark num", "data-value": said,
        style: `background: color-mix(in srgb, var(--${value > 0 ? "open" : "near"}) ${strength}%, transparent)`},
      fixed(value, digits) + (pair.pHolm < LEVEL ? "*" : ""));
    })));
    const heads = order.map((m, at) => html("th",
      {scope: "col", class: "num", title: names[m]}, `${at + 1}`, hidden(` ${names[m]}`)));
    const made = scrolling("grid",
      `By how much the method of a row is better than that of a column${isApart(found) ? `; a star: p after Holm below ${LEVEL}` : ""}`,
      [html("td"), ...heads], html("tbody", {}, ...rows));
    explain([...made.querySelectorAll(".mark")], order.length);
    return made;
  };

  const scoreTable = (part, found) => tableOf(
    "scores", `${found.metric.label}${inUnit(found)}: means over repeats and sizes`,
    [["Data set", (row) => part.datasets[found.used[row]]], ...found.names.map((name, m) => {
      const value = (row) => found.values[row][m];
      return [name, value, (row) => fixed(value(row), found.places), true];
    })], range(found.n));

  // ---- The page.

  let current = null;

  // Back returns to the choice before; a sorted or filtered table is none.
  const keepAddress = (write = "replaceState") => {
    const address = addressOf(current);
    // Browsers throttle pages that write their address too often.
    if (location.hash.slice(1) !== address) history[write](null, "", `#${address}`);
    const on = pressedOf(current);
    for (const button of place("presets").querySelectorAll("button")) {
      const {preset} = button, isOn = Boolean(on && (preset ? on.includes(preset) : !on.length));
      button.setAttribute("aria-pressed", isOn);
      // What would leave nothing cannot be added.
      button.disabled = Boolean(preset && on && !isOn && isEmpty(presetChoice(current.part, [...on, preset])));
    }
  };
  const isStart = (part) => ["metric", ...LISTS].every((key) => String(current[key]) === String(startOf(part)[key]));
  const change = (changed) => {
    Object.assign(current, changed);
    keepAddress("pushState");
    show();
  };

  // A link of an answer to the pairs that it counts; the filter that shows them has the focus.
  const linkTo = (pairs, text) => html("a", {href: "#pairs", onclick: (event) => {
    event.preventDefault();
    change({pairs, with: -1});
    place("pairs").scrollIntoView();
    place("pairs-filter").querySelectorAll("select")[1].focus({preventScroll: true});
  }}, text);

  const select = (label, options, chosen, changed) => html("label", {}, `${label} `, html("select", {
    onchange: (event) => changed(event.target.value)}, ...options.map(([value, text]) => (
    html("option", {value, selected: String(value) === String(chosen)}, text)))));

  const [PROPOSED, TODAY] = ["proposed", "today"].map((group) => PAGE.parts.flatMap((each) => each[group]));
  const kindOf = (name) => (PROPOSED.includes(name) ? "paper" : TODAY.includes(name) ? "today" : "");
  const KINDS = PROPOSED.length ? " (paper: proposed by one of the five papers; today: used today; the others: what the papers compare with)" : "";

  // Tasks and samples, the score if it is not the same on all sets, and what is lacking.
  const aboutOf = (part, at) => {
    const [{of}] = part.metrics, start = startOf(part), lacks = lacking(part, start, at).length;
    const score = new Set(of).size > 1 && part.metrics.find((each) => each.of.every((name) => name === of[at]))?.label;
    return [part.about[at], score, lacks && `no scores of ${lacks} of the planned methods`].filter(Boolean).join(", ");
  };

  const boxes = (key, title, noun) => {
    const {part} = current, names = part[key];
    if (names.length < 2) return "";
    const pick = (chosen) => {
      change({[key]: chosen});
      inputs.forEach((input, at) => { input.checked = chosen.includes(at); });
    };
    const inputs = names.map((_, at) => html("input", {type: "checkbox", checked: current[key].includes(at),
      onchange: () => pick(range(names.length).filter((each) => inputs[each].checked))}));
    const button = (word, rest, chosen) => html("button",
      {type: "button", onclick: () => pick(chosen)}, word, hidden(` ${rest}${noun}`));
    const notes = {datasets: names.map((_, at) => aboutOf(part, at)), methods: names.map(kindOf)}[key] ?? [];
    const every = html("span", {class: "every"},
      button("all", "", range(names.length)), " ", button("none", "of the ", []));
    return html("fieldset", {}, html("legend", {}, title), ...(names.length > 4 ? [every] : []),
      ...names.map((name, at) => html("label", {}, inputs[at], ` ${name}`,
        html("span", {class: "soft"}, notes[at] ? ` (${notes[at]})` : ""))));
  };

  const isOneSize = (part, {sizes}) => sizes && String(sizes) !== String(part.start.sizes);
  const presetName = (part, preset) => preset.label + (isOneSize(part, preset)
    ? `, with ${preset.sizes.map((each) => part.sizes[each]).join(", ")} for training` : "");
  const buildForm = () => {
    const {part} = current;
    const toggle = (preset) => {
      const on = pressedOf(current) ?? [];
      const next = on.includes(preset) ? on.filter((each) => each !== preset) : [...on, preset];
      begin(presetChoice(part, next));
    };
    const presets = [html("button", {type: "button", onclick: () => begin(startOf(part))}, "as planned"),
      ...part.presets.map((preset) => Object.assign(html("button", {type: "button", onclick: () => toggle(preset)}, presetName(part, preset)), {preset}))];
    place("form").replaceChildren(
      html("fieldset", {class: "first"}, html("legend", {}, "Compare"),
        ...(PAGE.parts.length > 1 ? [select("Part", PAGE.parts.map((each) => [each.title, each.title]), part.title,
          (title) => begin(choiceIn(PAGE.parts.find((each) => each.title === title))))] : []),
        ...(part.metrics.length > 1 ? [select("Score", part.metrics.map((each, at) => [at, each.label]), current.metric,
          (at) => change({metric: Number(at)}))] : []),
        select("Against", [[-1, "none"], ...part.methods.map((name, at) => [at, name])], current.control,
          (at) => change({control: Number(at)}))),
      html("div", {id: "presets", role: "group", "aria-label": "Choices made for you; several together choose what they share"}, ...presets,
        ...(part.presets.length ? [html("span", {class: "soft small"}, `These can be combined: together they choose what they share.${part.presets.some((each) => isOneSize(part, each))
          ? " One with a size counts the training samples at that size; it unticks larger sizes, at which some of its data sets have more." : ""}`)] : [])),
      boxes("sizes", "For training", "sizes"), boxes("datasets", "Data sets", "data sets"), boxes("methods", `Methods${KINDS}`, "methods"));
  };

  const drawPairs = (part, found) => {
    const kept = {"": () => true, apart: ({pHolm}) => pHolm < LEVEL, decided: isDecided}[current.pairs]
      ?? (({changes}) => changes.some(({left}) => part.datasets[found.used[left]] === current.pairs));
    const shown = found.pairs.filter((pair) => kept(pair)
      && (current.with < 0 || [pair.i, pair.j].some((m) => current.methods[m] === current.with)));
    const table = shown.length ? pairTable(part, found, shown) : html("p", {}, "No such pair.");
    place("pairs-table").replaceChildren(shown.length <= MOST_OPEN ? table
      : html("details", {}, html("summary", {}, `All ${shown.length} pairs`), table));
    place("pairs-count").textContent = `${many(shown.length, "pair")} of ${found.pairs.length} shown.`;
  };

  // A choice in words.
  const wordsOf = (part, metric, sizes, datasets) => [
    part.metrics[metric].label,
    sizes.length && part.sizes[0] && `${sizes.map((each) => part.sizes[each]).join(", ")} for training`,
    datasets.length && many(datasets.length, "data set")].filter(Boolean).join("; ");
  const regionOf = (metric) => `ifferences up to ${sized(metric)} count as equal: this is the region of equivalence behind P(equal) and “equivalent”.`;
  const probabilitiesOf = (part, found) => {
    const some = found.pairs.every(({posterior}) => posterior) ? "" : part.today.length
      ? " They are computed between a method of today and the others (–: not computed, both are of one group)." : " –: not computed for this pair.";
    const equal = found.metric.rope ? ` D${regionOf(found.metric)}` : "";
    const words = ({of, source}) => `${source}: ${wordsOf(part, of.metric, of.sizes, of.datasets)}`;
    const sources = [...new Set(part.given.map(({source}) => source))];
    if (found.pairs.some((pair) => pair.posterior)) {
      return found.given ? `P: posterior probabilities by ${words(found.given)}. They are for a further data set like these: a few that are far from the others move the mean difference more than they move P.${some}${equal}`
        : `P: posterior probabilities of the correlated Bayesian t-test over repeats.${equal}`;
    }
    return part.given.length && !found.given
      ? `Posterior probabilities of this choice are not computed here. There are those by ${sources.map((source) => `${source}: ${part.given.filter(
        (each) => each.source === source).map(({of}) => wordsOf(part, of.metric, of.sizes, of.datasets)).join(" / ")}`).join("; by ")}.` : "";
  };

  const show = () => {
    const {part} = current, found = answersOf(part, current);
    const sets = found.used.map((each) => part.datasets[each]);
    place("chosen").textContent = [part.title, many(current.methods.length, "method"),
      wordsOf(part, current.metric, current.sizes, sets)].filter(Boolean).join("; ")
      + (sets.length ? ` (${listed(sets, 20)}).` : ".");
    const enough = Boolean(found.pairs), more = html("details", {id: "more"}, html("summary", {}, "What the tests say"));
    const lines = sentencesOf(part, found).map((line) => html("p", {}, ...[line].flat()));
    more.open = place("more")?.open ?? !PROPOSED.length;
    more.append(...(enough ? lines.splice(found.lost.length ? 2 : 1) : []));
    place("answer").replaceChildren(...lines, ...(enough ? [more] : []));
    place("caution").hidden = isStart(part);
    for (const each of document.querySelectorAll("main section")) each.hidden = !enough;
    if (!enough) return;
    place("ranks").hidden = false;
    for (const name of ["ranks-figure", "ranks-note"]) place(name).hidden = found.single;
    if (!found.single) drawRanks(part, found);
    place("ranks-table").replaceChildren(rankTable(found), ...(found.single ? [] : [testTable(found)]));
    place("differences").hidden = found.control < 0;
    if (found.control >= 0) drawDifferences(found);
    place("differences-note").textContent = [
      `Mean difference; with ${MIN_UNITS} or more ${found.single ? "repeats" : "data sets"}, also its 95 % interval by Student's t, not corrected for several methods.`,
      isApart(found) && `Red: p after Holm below ${LEVEL}, over all pairs.`, "The axis is logarithmic away from zero.",
      found.metric.rope && `Shaded: d${regionOf(found.metric)}`].filter(Boolean).join(" ");
    place("changes-note").hidden = !found.without.length;
    place("cost").hidden = !found.seconds;
    if (found.seconds) drawCost(found);
    place("matrix").replaceChildren(matrixOf(found));
    if (!current.methods.includes(current.with)) current.with = -1;
    const hasProbabilities = found.pairs.some((pair) => pair.posterior);
    if (!["", "apart", ...(hasProbabilities ? ["decided"] : []), ...sets].includes(current.pairs)) current.pairs = "";
    const filter = (changed) => { Object.assign(current, changed); keepAddress(); drawPairs(part, found); };
    place("pairs-filter").replaceChildren(
      select("Pairs with", [[-1, "any method"], ...current.methods.map((m) => [m, part.methods[m]])],
        current.with, (m) => filter({with: Number(m)})),
      select("Show", [["", "all"], ["apart", `p after Holm below ${LEVEL}`],
        ...(hasProbabilities ? [["decided", `decided: a probability above ${PAGE.certain}`]] : []),
        ...(found.without.length ? sets.map((name) => [name, `changed without ${name}`]) : [])],
      current.pairs, (pairs) => filter({pairs})));
    drawPairs(part, found);
    place("probabilities").textContent = probabilitiesOf(part, found);
    place("scores-table").replaceChildren(scoreTable(part, found));
  };

  const begin = (choice, write = "pushState") => {
    current = choice;
    const controls = () => [...place("form").querySelectorAll("select, button, input")];
    const at = controls().indexOf(document.activeElement);
    buildForm();
    controls()[at]?.focus();
    keepAddress(write);
    show();
  };
  const isAddress = () => location.hash === "" || location.hash.includes("=");
  const read = () => {
    if (isAddress()) begin(choiceAt(location.hash.slice(1)), "replaceState");
  };
  addEventListener("hashchange", read);
  // The address is that of the choice.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    place("answers").focus();
  });
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; show(); } });
  current = startOf(PAGE.parts[0]);
  if (isAddress()) read(); else { buildForm(); show(); }
})();
