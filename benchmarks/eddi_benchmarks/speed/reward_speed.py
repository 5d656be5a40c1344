"""How fast and how exact the information reward is.

The plain loop does what one first writes, and what the published code does: for every open question and
every draw it runs the network anew on all that is known. Ours and the plain loop give the same rewards
from the same draws, or the benchmark refuses to compare them. All runs on one thread, in seconds of this
process's own time, so that whatever else the machine does counts little.
"""

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.table import Table
from torch import Tensor

import eddi
from eddi.model.base import Model
from eddi.model.network.posterior import Posterior
from eddi.reward.paper.latent_information import information
from eddi.strategy.information import Information
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.harness import results
from eddi_benchmarks.speed import training_speed
from eddi_benchmarks.speed.training_speed import BOSTON, CPU, PlainNetwork, UnfairError

N_DRAWS = 50
SAME_REWARD = 1e-3  # nats: float32 in another order, where divergences are large
MATRIX = 1024  # side of the matrices whose product tells the machine's rate
PEOPLE = 10_000  # of the largest table we promise to reward in bounded memory
N_ERROR_SEEDS = 40  # sets of draws whose spread is the standard error


@dataclass(frozen=True)
class Figure:
    """One number, and what it should be."""

    what: str
    value: float
    unit: str
    wanted: str = ""


def run(folder: Path, *, quick: bool = False, say: Callable[[str], None] = print) -> list[Figure]:
    """Every figure; written to ``folder`` and returned."""
    repeats = 3 if quick else 15
    figures: list[Figure] = []
    with training_speed._threads(1):
        for part in (_interview, _rates, _growth, _many_questions, _errors):
            found = part(repeats)
            for figure in found:
                say(f"{figure.what}: {figure.value:.4g} {figure.unit}")
            figures += found
    results.write(folder / "reward-speed.json", _document(figures))
    return figures


def _document(figures: Sequence[Figure]) -> dict[str, Any]:
    return {
        "figures": [asdict(figure) for figure in figures],
        "circumstances": results.circumstances(),
    }


def as_table(figures: Sequence[Figure]) -> Table:
    """What was measured, beside what we want."""
    table = Table(title="The information reward (one thread, this process's own time, medians)")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("unit")
    table.add_column("wanted", justify="right")
    for figure in figures:
        table.add_row(figure.what, f"{figure.value:.3g}", figure.unit, figure.wanted)
    return table


def _seconds(work: Callable[[], object], repeats: int) -> float:
    """The median time of this process that ``work`` takes, after one run to warm up."""
    work()
    taken = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return statistics.median(taken)


def boston() -> tuple[eddi.PartialVAE, Evidence]:
    """The paper's network on a table of Boston's sizes, and its rows."""
    return _model(training_speed.rows_of(BOSTON))


def _model(numbers: Any) -> tuple[eddi.PartialVAE, Evidence]:
    """The paper's network, hardly trained, with every variable a number."""
    schema = eddi.Schema(
        tuple(training_speed._variable(place, Kind.REAL) for place in range(numbers.shape[1]))
    )
    model = eddi.PartialVAE(schema, recipe="paper", max_steps=20, random_state=0, device="cpu")
    model.fit(numbers)
    return model, model.evidence(numbers)


def _random_rows(n_rows: int, n_variables: int) -> Any:
    return np.random.default_rng(0).random((n_rows, n_variables))


def interview(score: Callable[[Evidence], Tensor], row: Evidence, target: int) -> list[int]:
    """Ask one person everything, best first; returns the order."""
    observed, order = np.zeros_like(row.observed), []
    for _ in range(row.n_variables - 1):
        rewards = score(Evidence(row.values, observed))[0].numpy()
        closed = observed[0].copy()
        closed[target] = True
        order.append(int(np.where(closed, -np.inf, rewards).argmax()))
        observed[0, order[-1]] = True
    return order


@dataclass(frozen=True)
class PlainReward:
    """The reward by running the whole network for every question and draw."""

    model: eddi.PartialVAE
    network: PlainNetwork

    @classmethod
    def of(cls, model: eddi.PartialVAE) -> "PlainReward":
        network = PlainNetwork(replace(BOSTON, n_variables=len(model.schema_.variables)), "pnp")
        network.become(model.network_)
        return cls(model, network)

    @torch.no_grad()
    def score(self, evidence: Evidence, target: int, *, n_draws: int, seed: int) -> Tensor:
        """One row's reward of each variable [1, variables]."""
        values = torch.from_numpy(evidence.values)
        observed = torch.from_numpy(evidence.observed).float()
        now = Posterior(*self.network.encode(values, observed))
        draws = self.model.draw(now, n_draws, seed=seed)[:, 0]  # [draws, variables]
        rewards = torch.zeros(1, values.shape[1])
        for question in range(values.shape[1]):
            if question != target and not evidence.observed[0, question]:
                gains = [self._gain(values, observed, draw, [question], [target]) for draw in draws]
                rewards[0, question] = torch.stack(gains).mean()
        return rewards

    def _gain(
        self, values: Tensor, observed: Tensor, draw: Tensor, asked: list[int], target: list[int]
    ) -> Tensor:
        def belief(told: list[int]) -> Posterior:
            seen, shown = values.clone(), observed.clone()
            seen[0, told], shown[0, told] = draw[told], 1.0
            return Posterior(*self.network.encode(seen, shown))

        everything = belief(asked).kl(belief([]))
        return (everything - belief([*asked, *target]).kl(belief(target)))[0]


def check_fair(ours: Tensor, plain: Tensor) -> None:
    """Refuse to compare the speeds of different rewards."""
    gap = float((ours - plain).abs().max())
    if gap > SAME_REWARD:
        raise UnfairError(
            f"from the same draws the rewards differ by {gap:g} nats; they must agree before their "
            "speeds mean anything."
        )


def _interview(repeats: int) -> list[Figure]:
    model, rows = boston()
    target = rows.n_variables - 1
    name = model.schema_.names[target]
    plain, row = PlainReward.of(model), rows[:1]
    nothing = row.hide(np.ones_like(row.observed))
    check_fair(
        information(model, nothing, [name], n_draws=N_DRAWS, seed=0),
        plain.score(nothing, target, n_draws=N_DRAWS, seed=0),
    )
    strategy = Information(n_draws=N_DRAWS)
    ours = _seconds(
        lambda: interview(lambda seen: strategy.score(model, seen, [name]), row, target), 3 * repeats
    )
    began = time.process_time()
    interview(lambda seen: plain.score(seen, target, n_draws=N_DRAWS, seed=0), row, target)
    by_loop = time.process_time() - began
    return [
        Figure("one interview of 13 questions, ours", 1e3 * ours, "ms", "4"),
        Figure("the same, a network run a question and draw", 1e3 * by_loop, "ms"),
        Figure("times faster", by_loop / ours, "", ">= 300"),
    ]


def _rates(repeats: int) -> list[Figure]:
    model, rows = boston()
    matrix = torch.rand(MATRIX, MATRIX)
    machine = 2 * MATRIX**3 / _seconds(lambda: matrix @ matrix, repeats) / 1e9
    figures = [Figure(f"matrix product, {MATRIX} x {MATRIX}", machine, "GFLOP/s")]
    for n_rows, wanted in ((64, ">= 0.333"), (1, ">= 0.167")):
        some = rows[:n_rows].hide(np.ones((n_rows, rows.n_variables), bool))
        seconds = _seconds(lambda some=some: _reward(model, some), 3 * repeats)  # type: ignore[misc]
        rate = n_rows * (rows.n_variables - 1) * 2 * N_DRAWS * _operations(model) / seconds / 1e9
        figures.append(Figure(f"reward, {n_rows} rows", rate, "GFLOP/s"))
        figures.append(Figure(f"share of the matrix product, {n_rows} rows", rate / machine, "", wanted))
    return figures


def _operations(model: eddi.PartialVAE) -> int:
    """Floating-point operations of one pass through the tail's matrices."""
    return sum(2 * weight.numel() for weight in model.network_.tail.parameters() if weight.dim() == 2)


def _reward(model: Model, evidence: Evidence, *, n_target: int = 1, n_draws: int = N_DRAWS) -> Tensor:
    target = model.schema_.names[-n_target:]
    return information(model, evidence, target, n_draws=n_draws, seed=0)


def _growth(repeats: int) -> list[Figure]:
    """How time grows when a size grows fourfold, and what answers already given cost."""
    model, _ = _model(_random_rows(100, 53))
    wide, _ = _model(_random_rows(100, 209))

    def took(which: Model, n_rows: int, n_draws: int, n_seen: int = 0) -> float:
        n_variables = len(which.schema_.variables)
        observed = np.zeros((n_rows, n_variables), bool)
        observed[:, :n_seen] = True
        evidence = Evidence(np.full((n_rows, n_variables), 0.5, np.float32), observed)
        return _seconds(lambda: _reward(which, evidence, n_draws=n_draws), repeats)

    base = took(model, 16, N_DRAWS)
    seen, not_seen = took(wide, 16, N_DRAWS, n_seen=156), base  # both have 52 questions open
    return [
        Figure("4 times the rows take", took(model, 64, N_DRAWS) / base, "times", "4"),
        Figure("4 times the questions take", took(wide, 16, N_DRAWS) / base, "times", "4"),
        Figure("4 times the draws take", took(model, 16, 4 * N_DRAWS) / base, "times", "4"),
        Figure("156 answers already given take", seen / not_seen, "times", "1"),
    ]


def _many_questions(repeats: int) -> list[Figure]:
    n_rows = 10 * repeats
    model, rows = _model(_random_rows(max(n_rows, 30), 840))
    nothing = rows.hide(np.ones_like(rows.observed))
    one = _seconds(lambda: _reward(model, nothing[:1], n_target=140), repeats)
    before = _peak_megabytes()
    began = time.process_time()
    _reward(model, nothing[:n_rows], n_target=140)
    a_row = (time.process_time() - began) / n_rows
    return [
        Figure("a step of 700 questions, 140 target variables", 1e3 * one, "ms", "< 50"),
        Figure(f"{PEOPLE} rows of them, extrapolated from {n_rows}", PEOPLE * a_row / 60, "minutes"),
        Figure(f"memory that {n_rows} rows add to the peak", _peak_megabytes() - before, "MB"),
        Figure("peak memory of the process", _peak_megabytes(), "MB"),
    ]


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@dataclass(frozen=True)
class PlainDraws:
    """The same model with ordinary random numbers, and all answers drawn."""

    model: eddi.PartialVAE
    alone_: None = None
    direct_: None = None

    @property
    def schema_(self) -> eddi.Schema:
        return self.model.schema_

    def code(self, evidence: Evidence) -> Tensor:
        return self.model.code(evidence)

    def term(self, values: Tensor, variables: Sequence[int] | Tensor) -> Tensor:
        return self.model.term(values, variables)

    def posterior(self, code: Tensor) -> Posterior:
        return self.model.posterior(code)

    def draw(self, posterior: Posterior, n_draws: int, *, seed: int) -> Tensor:
        network, random = self.model.network_, torch.Generator().manual_seed(seed)
        z = posterior.draw(torch.randn((n_draws, 1, network.latent), generator=random))
        level = torch.rand((n_draws, 1, len(network.forms)), generator=random).clamp(1e-6, 1 - 1e-6)
        return network.quantile(network.decode(z), level.expand(-1, z.shape[1], -1))

    def chances(self, posterior: Posterior, n_draws: int, *, seed: int) -> dict[int, Tensor]:  # noqa: ARG002
        return {}


def _errors(repeats: int) -> list[Figure]:
    """Standard errors at 50 draws, as plain draws that would give the same."""
    model = eddi.PartialVAE(max_steps=100 * repeats, random_state=0, device=str(CPU))
    model.fit(mixed_table(500))
    nothing = Evidence.nothing(1, len(model.schema_.variables))
    n_seeds = N_ERROR_SEEDS
    figures = []
    for target in ("real1", "yes1"):
        spread = [
            torch.stack(
                [
                    information(which, nothing, [target], n_draws=N_DRAWS, seed=s)[0]
                    for s in range(n_seeds)
                ]
            ).std(0)
            for which in (PlainDraws(model), model)
        ]
        for kind in ("real", "yes", "level"):
            places = [
                place
                for place, question in enumerate(model.schema_.questions)
                if question.name.startswith(kind) and question.name != target
            ]
            plain, ours = (float(one[places].square().mean().sqrt()) for one in spread)
            which = f"{kind} answer, target {target}"
            figures.append(Figure(f"standard error, {which}", 1e3 * ours, "millinats"))
            figures.append(
                Figure(f"plain draws for the same, {which}", N_DRAWS * (plain / ours) ** 2, "")
            )
    return figures


def mixed_table(n_rows: int) -> Any:
    """Numbers, yes-or-no answers and levels that lean on two hidden numbers."""
    import pandas as pd

    random = np.random.default_rng(0)
    hidden = random.normal(size=(n_rows, 2))
    lean = hidden @ random.normal(size=(2, 9)) + random.normal(size=(n_rows, 9))
    columns: dict[str, Any] = {f"real{place}": lean[:, place] for place in range(3)}
    columns |= {f"yes{place}": np.where(lean[:, 3 + place] > 0, "yes", "no") for place in range(3)}
    levels = np.array(["low", "middle", "high", "top"])
    columns |= {
        f"level{place}": levels[np.digitize(lean[:, 6 + place], [-1, 0, 1])] for place in range(3)
    }
    return pd.DataFrame(columns)
