"""Labelled reports, what the program reads off them, and the model that weighs it.

A folder of reports holds pairs NAME.log (what programs printed) and NAME.json (what a careful reader takes from it), of
which `id`, `source`, `resource`, `causes` (ranked ids), `cause_basis`, `derivable`, `held` and the cures are read: `fix_ids`,
else the words of `fix_that_worked`. The project's own reports and the planted logs always belong to them (see `gather`).

A model is a set of additive log-odds: one for each asker and cause, one for each level of a mechanism and cause. Of the
causes that an asker's stated priors name, the likeliest is the one with the largest sum.
"""
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import types

import numpy as np

CAUSES = (
    "capacity fragmentation other_process non_framework leak_growth transient_peak single_huge_allocation kv_cache "
    "framework_limit preallocation host_memory host_workers shared_memory wrong_device duplicate_model "
    "driver_or_unrelated"
).split()

FAMILIES = {
    cause: family
    for family, causes in {
        "own need": "capacity single_huge_allocation transient_peak leak_growth duplicate_model kv_cache",
        "somebody else": "other_process wrong_device",
        "outside the allocator": "non_framework",
        "a setting": "framework_limit preallocation",
        "pieces": "fragmentation",
        "host": "host_memory host_workers",
        "shared memory": "shared_memory",
        "unrelated": "driver_or_unrelated",
    }.items()
    for cause in causes.split()
}

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIGHTS = ROOT / "src/cause/weights.json"
# The project's own labelled sets: reports of users, and logs of programs in which a cause was planted.
OWN, PLANTED = ROOT / "tests/corpus/reports", ROOT / "tests/planted/logs"


def explain(oomdoc, log):
    done = subprocess.run(
        [oomdoc, "explain", "--format", "json", str(log)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
    try:
        incidents = json.loads(done.stdout or b"{}").get("incidents", [])
    except ValueError:
        return None
    return next((incident for incident in incidents if incident.get("primary")), None)


def origin(source):
    """What makes two reports one source: the repository that a thread belongs to, else the address itself."""
    source = source or ""
    found = re.match(r"https?://github\.com/([^/]+/[^/]+)", source)
    return found.group(1).lower() if found else re.sub(r"[?#].*", "", source)


class Report:
    """One labelled report and what the program read off it."""

    def __init__(self, spec, want, incident):
        self.id = want["id"]
        self.planted = spec.parent == PLANTED
        self.folder = "planted" if self.planted else "own" if spec.parent == OWN else spec.parent.name
        self.held = bool(want.get("held"))
        self.want = want["causes"]
        self.fails = want["causes"][:1] != ["not_oom"] and want["resource"] != "none"
        # Reports made on one machine share nothing but their making, so each is a source of its own; of planted logs
        # the program is the source.
        self.source = origin(want.get("source"))
        if self.planted:
            self.source = ":".join(want["source"].split(":")[:2])
        elif "://" not in (want.get("source") or "") and not self.source.startswith("github-file"):
            self.source = f"{self.folder}/{self.id}"
        self.by_figures = want.get("cause_basis") == "figures"
        self.derivable = want.get("derivable", True)
        self.cure, self.cures = want.get("fix_that_worked"), want.get("fix_ids") or []
        self.found = incident is not None
        incident = incident or {}
        self.asker = incident.get("asker")
        self.levels = [(m["id"], m["level"]) for m in incident.get("mechanisms", [])]
        causes = incident.get("causes", [])
        self.shown = [(cause["id"], cause["confidence"]) for cause in causes]
        self.proved = causes[0]["id"] if causes and causes[0].get("proved") else None
        self.unfamiliar = any(
            evidence["id"] == "unfamiliar" for cause in causes for evidence in cause.get("evidence", []))
        self.undecided = incident.get("conclusion") in ("open", "family")
        self.fixes = [fix["id"] for fix in incident.get("fixes", [])]


def load(oomdoc, folders, untouched=False):
    """The reports of the folders. Own reports that are kept back are neither read nor explained unless asked for, and
    then they alone are."""
    specs = []
    for folder in map(pathlib.Path, folders):
        for spec in sorted(folder.resolve().glob("*.json")):
            log = spec.with_suffix(".log")
            want = json.loads(spec.read_text()) if log.exists() else None
            if not isinstance(want, dict) or spec.parent == OWN and bool(want.get("held")) != untouched:
                continue
            if want.get("causes"):
                specs.append((spec, want))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        incidents = pool.map(lambda pair: explain(oomdoc, pair[0].with_suffix(".log")), specs)
        return [Report(spec, want, incident) for (spec, want), incident in zip(specs, incidents)]


def gather(oomdoc, folders):
    """The given folders, the project's own reports and the planted logs."""
    return load(oomdoc, [*folders, OWN, PLANTED])


def learnable(reports):
    """What may be learnt from: failures that were found and are not kept back."""
    return [report for report in reports if report.fails and report.found and not report.held]


# A label that follows from the printed figures is beyond dispute; of the others a second reader names one in five
# otherwise. Counted three times, 81.5 % of those by figures are right in sets that nothing was learnt from, and not 78.0;
# of all 68.9 and 69.3.
BY_FIGURES = 3.0

# How far a planted log's own priors may move from those that all share: causes are planted about equally often, and what
# that teaches of their frequency holds nowhere else. Priors of the other sets move as far as any weight.
PLANTED_SPREAD = 2.0

# The first part of the name of a set's own prior. How often each cause comes differs between sets, by who looked for the
# reports, where, and what they took for a first cause: learnt as if it did not, the difference goes into what the
# mechanisms are worth. Of reports by a set of which nothing was learnt (dev, second) 71.8 % of the first causes are right
# in place of 68.9, and 82 % in place of 72 of those by figures.
SET = "set"


def sets(reports):
    """The folders that reports are of."""
    return {report.folder for report in reports}


class Model:
    """Stated log-odds and how to learn from reports. Each of `folders` has priors of its own, which serve to learn the
    rest and for nothing else."""

    def __init__(self, data, folders, without=()):
        self.columns, stated, self.names = {}, [], []
        for asker, row in data["priors"].items():
            self._column(("prior", asker), row["stated"], stated)
        for mechanism, entry in data["mechanisms"].items():
            if mechanism not in without:
                for level, row in entry["levels"].items():
                    self._column((mechanism, level), row["stated"], stated)
        for folder in sorted(folders):
            for asker in data["priors"]:
                self._column((SET, folder, asker), {}, stated)
        self.stated = np.array(stated)
        self.allowed = {
            asker: np.array([cause in row["stated"] for cause in CAUSES]) for asker, row in data["priors"].items()}

    def _column(self, name, weights, stated):
        self.columns[name] = len(stated)
        self.names.append(name)
        stated.append([weights.get(cause, 0.0) for cause in CAUSES])

    def matrix(self, reports, of_sets=False):
        """What each report shows, by column; `of_sets`: the priors of its set as well."""
        x = np.zeros((len(reports), len(self.names)))
        mask = np.ones((len(reports), len(CAUSES)), bool)
        for i, report in enumerate(reports):
            for name in [("prior", report.asker), *report.levels]:
                if name in self.columns:
                    x[i, self.columns[name]] = 1.0
            if of_sets:
                x[i, self.columns[SET, report.folder, report.asker]] = 1.0
            mask[i] = self.allowed.get(report.asker, mask[i])
        return x, mask

    def free(self, reports, least=3):
        """Columns that were seen in at least so many sources."""
        seen = collections.defaultdict(set)
        for report in reports:
            for name in [("prior", report.asker), *report.levels]:
                seen[name].add(report.source)
        return np.array([name[0] == SET or len(seen[name]) >= least for name in self.names])

    def learn(self, reports, spread, share=0.85, start=None):
        """Maximum of the posterior: log-likelihood of the labels, of which the first accepted cause has `share` and the
        others the rest, each report counted by how sure its label is, with a Gaussian prior of standard deviation
        `spread` around the stated values."""
        x, mask = self.matrix(reports, of_sets=True)
        target = np.zeros(mask.shape)
        for i, report in enumerate(reports):
            known = [CAUSES.index(cause) for cause in report.want if cause in CAUSES]
            known = [cause for cause in known if mask[i, cause]]
            if not known:
                continue
            others = known[1:3]
            target[i, known[0]] = share if others else 1.0
            for other in others:
                target[i, other] += (1 - share) / len(others)
        # Many reports of one source tell little more than a few: together they count as the root of their number.
        of_source = collections.Counter(report.source for report in reports)
        target *= np.array([of_source[report.source] ** -0.5 for report in reports])[:, None]
        target *= np.array([BY_FIGURES if report.by_figures else 1.0 for report in reports])[:, None]
        counts = target.sum(1, keepdims=True)
        free = self.free(reports)[:, None] * np.ones_like(self.stated)
        # A cause that an asker's priors do not name stays out.
        for name, at in self.columns.items():
            if name[0] in ("prior", SET):
                free[at] *= self.allowed[name[-1]]
        spread = np.array([PLANTED_SPREAD if name[:2] == (SET, "planted") else spread for name in self.names])[:, None]

        def loss(weights):
            p, log_p = probabilities(x @ weights, mask)
            gap = weights - self.stated
            value = -(target * log_p).sum() + (gap ** 2 / (2 * spread ** 2)).sum()
            return value, (x.T @ (counts * p - target) + gap / spread ** 2) * free

        return minimise(loss, self.stated.copy() if start is None else start)


def probabilities(scores, mask):
    scores = np.where(mask, scores, -1e9)
    scores = scores - scores.max(1, keepdims=True)
    log_all = np.log(np.exp(scores).sum(1, keepdims=True))
    log_p = np.where(mask, scores - log_all, 0.0)
    return np.where(mask, np.exp(scores - log_all), 0.0), log_p


def minimise(loss, start, steps=1500, memory=12):
    """Limited-memory BFGS with backtracking; the loss is convex. It ends where three steps gained next to nothing: after
    the first such step first causes of one in two hundred reports were not yet what they become."""
    w = start
    value, gradient = loss(w)
    history, settled = [], 0
    for _ in range(steps):
        direction, alphas = gradient.copy(), []
        for s, y, rho in reversed(history):
            alpha = rho * (s * direction).sum()
            alphas.append(alpha)
            direction -= alpha * y
        if history:
            s, y, _ = history[-1]
            direction *= (s * y).sum() / (y * y).sum()
        for (s, y, rho), alpha in zip(history, reversed(alphas)):
            direction += s * (alpha - rho * (y * direction).sum())
        slope, step = (gradient * direction).sum(), 1.0
        while step > 1e-8:
            candidate = w - step * direction
            new_value, new_gradient = loss(candidate)
            if new_value <= value - 1e-4 * step * slope:
                break
            step /= 2
        else:
            break
        s, y = candidate - w, new_gradient - gradient
        if (s * y).sum() > 1e-12:
            history = [*history[-memory + 1:], (s, y, 1.0 / (s * y).sum())]
        settled = settled + 1 if value - new_value < 1e-9 * abs(value) else 0
        w, value, gradient = candidate, new_value, new_gradient
        if settled == 3:
            break
    return w


def folds(reports, count=10, seed=0):
    """Sources dealt to folds, so that no source is on both sides."""
    sources = sorted({report.source for report in reports})
    np.random.default_rng(seed).shuffle(sources)
    fold = {source: i % count for i, source in enumerate(sources)}
    return np.array([fold[report.source] for report in reports])


def out_of_fold(model, reports, spread, count=10, seed=0, near=None):
    """Scores (before any temperature) of each report by a model that saw none of its source, and nothing of what is kept
    back. `near`: a dictionary that keeps the weights of each fold; a model with fewer mechanisms starts from them, which
    takes a tenth of the steps."""
    fold = folds(reports, count, seed)
    scores = np.zeros((len(reports), len(CAUSES)))
    x, mask = model.matrix(reports)
    near = {} if near is None else near
    for i in range(count):
        inside = fold == i
        known = near.get(i)
        start = known and np.array([known[name] for name in model.names])
        learnt = [report for report, out in zip(reports, inside) if not out and not report.held]
        weights = model.learn(learnt, spread, start=start)
        near.setdefault(i, dict(zip(model.names, weights)))
        scores[inside] = x[inside] @ weights
    return scores, mask


def out_of_set(model, reports, spread):
    """The same by a model that saw nothing of the report's whole set: reports of another origin, with labels of other
    readers, are what the program meets."""
    scores = np.zeros((len(reports), len(CAUSES)))
    x, mask = model.matrix(reports)
    for folder in sorted({report.folder for report in reports}):
        inside = np.array([report.folder == folder for report in reports])
        own = {report.source for report in reports if report.folder == folder}
        learnt = [r for r in reports if r.folder != folder and r.source not in own and not r.held]
        scores[inside] = x[inside] @ model.learn(learnt, spread)
    return scores, mask


def log_loss(scores, mask, reports, temperature):
    _, log_p = probabilities(scores / temperature, mask)
    return -np.mean([log_p[i, CAUSES.index(r.want[0])] if mask[i, CAUSES.index(r.want[0])] else -7.0
                     for i, r in enumerate(reports)])


# What was told of each fresh report before anything had been learnt from it, by the build of that day: log-odds before
# the temperature. Weights can be kept from a report, the rules that read it cannot: only these show what a stated
# confidence is worth on a log that nobody has seen.
FIRST = ROOT / "tests/corpus/first.json"


def first_told():
    """Scores, masks and reports, as `fit_temperature` takes them, of what was told at first sight."""
    rows = json.loads(FIRST.read_text())
    scores, mask = np.zeros((len(rows), len(CAUSES))), np.zeros((len(rows), len(CAUSES)), bool)
    reports = []
    for i, row in enumerate(rows):
        want = json.loads((OWN / f"{row['id']}.json").read_text())["causes"]
        reports.append(types.SimpleNamespace(want=want, unfamiliar=row["unfamiliar"], proved=row["proved"]))
        for cause, score in row["scores"].items():
            scores[i, CAUSES.index(cause)], mask[i, CAUSES.index(cause)] = score, True
    return scores, mask, reports


TEMPERATURES = np.arange(0.6, 2.51, 0.05)


def fit_temperature(scores, mask, reports, loss=log_loss):
    return float(TEMPERATURES[np.argmin([loss(scores, mask, reports, t) for t in TEMPERATURES])])


# As in src/cause/mod.rs.
OF_ALL, MOST_WITHOUT_PROOF, WITH_PROOF, UNFAMILIAR = 0.97, 0.9, 0.96, 0.25


def shares(row, allowed, report):
    """Probabilities as the program states them."""
    known = OF_ALL - UNFAMILIAR if report.unfamiliar else OF_ALL
    out = {cause: known * p for cause, p, can in zip(CAUSES, row, allowed) if can}
    if report.proved:
        rest = sum(p for cause, p in out.items() if cause != report.proved) or 1.0
        return {c: WITH_PROOF if c == report.proved else p / rest * (OF_ALL - WITH_PROOF) for c, p in out.items()}
    return {cause: min(p, MOST_WITHOUT_PROOF) for cause, p in out.items()}


def brier(scores, mask, reports, temperature):
    """How far what is stated of the first cause is from what it was, squared."""
    p, _ = probabilities(scores / temperature, mask)
    total = 0.0
    for row, allowed, report in zip(p, mask, reports):
        cause, share = max(shares(row, allowed, report).items(), key=lambda pair: pair[1])
        total += (share - (cause == report.want[0])) ** 2
    return total / len(reports)
