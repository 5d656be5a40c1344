"""The decisions suite: one run is one trained model on one split, and every way of asking with it.

- ``ours``: the default Partial VAE; its own questions, those that look ahead, a random order, one order
  for everybody learned on training rows; and, in a made-up world, the exact chooser on the same rows.
- ``paper``: the paper's network, training and reward (EDDI-PNP).
- ``gdfs``, ``dime``: what others have published since.

A row without an answer to a question is never asked it, by any method, and keeps its last prediction
when nothing is left. All methods train on the same rows; what tells them when to stop is part of those.
"""

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import eddi
from eddi import strategy
from eddi.evaluate.curves import Curves, Numbers
from eddi.interview.rules import Turns
from eddi.model.partial_vae import PartialVAE
from eddi.strategy.base import Strategy
from eddi.table.evidence import Evidence
from eddi_benchmarks.baselines.masked import Pace
from eddi_benchmarks.decisions import problem as problems
from eddi_benchmarks.decisions.exact import Exact
from eddi_benchmarks.decisions.peers import Peer
from eddi_benchmarks.decisions.problem import Problem
from eddi_benchmarks.decisions.report import sections
from eddi_benchmarks.harness.experiment import Experiment, ExperimentError, Figures, Settings
from eddi_benchmarks.paper.comparison import plain

METRICS = {False: ("rmse", "nll", "coverage"), True: ("accuracy", "nll", "brier", "calibration_error")}
"""By whether the target is a class."""
DROPOUT = {False: 0.0, True: 0.1}
"""Of GDFS and DIME, by the same; chosen on validation rows of Boston, Energy and Yacht."""
N_ORDERED = 100  # training rows over which the one order for everybody is learned, at most
N_WEIGHED = 2_000  # rows times questions of it, for the work grows with the square of the questions
N_COSTS = 25  # points of a frontier
N_TIMED = 15  # decisions, of which the median counts


def play(settings: Settings, folder: Path) -> Figures:  # noqa: ARG001  # it keeps no files
    """Train one model on one split, and interview the held-out rows."""
    return play_problem(problems.load(settings), settings)


def play_problem(problem: Problem, settings: Settings) -> Figures:
    """The same for any problem."""
    model = str(settings["model"])
    if model in ("ours", "paper"):
        seconds, methods = _play_ours(problem, settings)
    elif model in ("gdfs", "dime"):
        seconds, methods = _play_peer(problem, settings)
    else:
        raise ExperimentError(f"there is no model {model!r}. There are ours, paper, gdfs, dime.")
    if model == "ours" and problem.world is not None:
        methods |= _play_exact(problem)
    return {
        "n_rows": {"train": len(problem.train), "test": len(problem.test)},
        "n_questions": len(problem.schema.questions) - 1,
        "n_steps": problem.n_steps,
        "is_class": problem.is_class,
        "seconds": plain(seconds),
        "methods": methods,
    }


def told(curves: Curves, problem: Problem) -> Figures:
    """A method's curves, as long as the problem's questions; who has nothing left to ask stays."""
    by_step = {
        name: _in_units(name, np.asarray(getattr(curves, name)), problem.unit)
        for name in METRICS[problem.is_class]
    }
    more = problem.n_steps - curves.n_steps
    figures: Figures = {
        "curves": {name: plain(np.pad(each, (0, more), mode="edge")) for name, each in by_step.items()}
    }
    if problem.has_costs:
        grid = np.linspace(0, problem.schema.costs[_askable(problem)].sum(), N_COSTS)
        paid = np.asarray(
            curves.by_cost(grid).accuracy if problem.is_class else curves.by_cost(grid).rmse
        )
        figures["by_cost"] = {"spent": plain(grid), "curve": plain(paid / problem.unit)}
    return figures


def _play_ours(problem: Problem, settings: Settings) -> tuple[float, Figures]:
    began = time.perf_counter()
    model = fit(problem, settings)
    seconds = time.perf_counter() - began
    methods: Figures = {}
    for name, chooser in _strategies(model, problem, settings).items():
        curves = eddi.simulate(
            model, problem.test, problem.target, strategy=chooser, max_steps=problem.n_steps
        )
        methods[name] = {**told(curves, problem), "ms": plain(milliseconds(model, problem, chooser))}
    return seconds, methods


def fit(problem: Problem, settings: Settings) -> PartialVAE:
    """The default, or the paper's, on all training rows: what it validates on, it takes from them."""
    is_paper = settings["model"] == "paper"
    steps = int(settings["paper_steps" if is_paper else "our_steps"])
    model = PartialVAE(
        problem.schema,
        problem.target,
        recipe="paper" if is_paper else "default",
        set_encoder="pnp",
        max_steps=steps or None,  # 0 stands for the recipe's own
        random_state=int(settings["seed"]),
        device=str(settings.get("device", "auto")),
    )
    return model.fit(problem.train)


def _strategies(model: PartialVAE, problem: Problem, settings: Settings) -> Mapping[str, Strategy]:
    seed = int(settings["seed"])
    if settings["model"] == "paper":
        return {
            "paper": strategy.Information(reward="latent", n_draws=int(settings["n_draws"]), seed=seed)
        }
    information = strategy.Information()
    n_rows = min(N_ORDERED, N_WEIGHED // len(problem.schema.questions), len(problem.train))
    some = problem.train.sample(n_rows, random_state=seed)
    found: dict[str, Strategy] = {
        "ours": information,
        "random": strategy.Random(seed),
        "static": strategy.FixedOrder.learn(model, some, problem.target, strategy=information),
    }
    few = len(problem.schema.questions) - 1 <= int(settings["most_ahead"])
    if few or problem.world is not None:  # its time grows with the square of the questions
        found["ours-ahead"] = strategy.Lookahead()
    if problem.has_costs:
        found["ours-cost"] = strategy.PerCost(information)
    return found


def milliseconds(model: PartialVAE, problem: Problem, chooser: Strategy) -> float:
    """One decision for one person of whom every other thing is known; the median of several."""
    turns = Turns(model, (problem.target,), chooser, eddi.Stop())
    truth = model.evidence(problem.test.head(1))
    hidden = np.zeros(truth.n_variables, dtype=bool)
    hidden[1::2] = True
    hidden[problem.schema.position(problem.target)] = True
    seen: Evidence = truth.hide(np.flatnonzero(hidden))
    closed = np.zeros((1, len(problem.schema.questions)), dtype=bool)
    spent = []
    for _ in range(N_TIMED):
        began = time.perf_counter()
        turns.next(seen, closed, seen.observed.sum(1))
        spent.append(time.perf_counter() - began)
    return 1e3 * float(np.median(spent))


def _play_peer(problem: Problem, settings: Settings) -> tuple[float, Figures]:
    name = str(settings["model"])
    pace = Pace(max_steps=int(settings["peer_steps"]), dropout=DROPOUT[problem.is_class])
    peer = Peer.fit(name, problem, seed=int(settings["seed"]), pace=pace)
    methods = {name: {**told(peer.interview(), problem), "ms": plain(peer.milliseconds())}}
    if problem.has_costs and name == "dime":  # its paper divides by the cost; that of GDFS has none
        methods["dime-cost"] = told(peer.interview(per_cost=True), problem)
    return peer.seconds, methods


def _play_exact(problem: Problem) -> Figures:
    assert problem.world is not None  # noqa: S101  # the caller has looked
    exact = Exact(problem.world)
    rows = problem.test[list(problem.world.names)].to_numpy(np.float64)
    classes = problem.test[problem.target].to_numpy(np.int64)
    return {
        name: told(exact.interview(rows, classes, problem.n_steps, ahead=ahead), problem)
        for name, ahead in (("exact-greedy", False), ("exact", True))
    }


def _in_units(name: str, curve: Numbers, unit: float) -> Numbers:
    """Errors and densities of a quantity per unit of its range; the rest as it is."""
    if name == "rmse":
        return curve / unit
    return curve - np.log(unit) if name == "nll" else curve


def _askable(problem: Problem) -> list[int]:
    questions = enumerate(problem.schema.questions)
    return [place for place, question in questions if problem.target not in question.reveals]


def datasets(settings: Settings) -> tuple[str, ...]:
    """The files a run needs; none where its rows are made up or come with scikit-learn."""
    return problems.files(str(settings["dataset"]))


EXPERIMENT = Experiment(play, datasets, sections)
