"""Variants of the kernels of the default reward on a GPU: speed, accuracy, and where the time goes.

``python -m eddi_benchmarks.speed.reward_variants`` prints a table and exits with an error if rewards of the
variant in use differ from plain PyTorch by more than rounding. Results are written to a folder.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.stats import spearmanr
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

import eddi
from eddi.model.fitted import FittedModel
from eddi.reward.fused import packed_tail
from eddi.reward.fused.captured_rewards import CapturedRewards
from eddi.reward.fused.fused_rewards import FusedRewards
from eddi.reward.reward_context import EnumerationSettings, RewardContext
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind
from eddi_benchmarks.report.statistics import Numbers
from eddi_benchmarks.speed.default_gpu import (
    N_EXACT_ROWS,
    N_TABLE_ROWS,
    SIZES,
    compute_exact,
    compute_plain,
    fit_default,
    make_half_known,
    make_numbers,
    median_seconds,
)

MIN_RANK_CORRELATION, MIN_SAME_BEST = 0.9999, 0.999
MAX_RELATIVE_ERROR = 1e-3
N_PROFILED_KERNELS = 40
N_REPLAYS = 50


@dataclass(frozen=True)
class Variant:
    """Constants of `packed_tail`; None for their present values."""

    name: str
    products: tuple[int, int, int] | None = None  # in the first, inner and outer layers
    answers: int | None = None  # in a program
    warps: int | None = None
    inner: int | None = None
    stages: int | None = None
    is_dense: bool = False  # whether small kernels of PyTorch encode the rows


VARIANTS = (
    Variant("in use"),
    Variant("212, 64 answers, 32 inner units, 3 stages", (2, 1, 2), 64, 4, 32, 3),
    Variant("222, 64 answers, 32 inner units", (2, 2, 2), 64, 4, 32, 2),
    Variant("211, 64 answers", (2, 1, 1), 64, 4, 64, 2),
    Variant("212, 128 answers, 8 warps", (2, 1, 2), 128, 8, 64, 2),
    Variant("333, 128 answers, 8 warps", (3, 3, 3), 128, 8, 64, 2),
    Variant("dense, 333, 128 answers", is_dense=True),
)


@contextmanager
def use_variant(variant: Variant) -> Iterator[None]:
    """Use the constants of a variant inside this context."""
    first, inner, outer = variant.products or (None, None, None)
    names = {
        "FIRST_PRODUCTS": first,
        "INNER_PRODUCTS": inner,
        "OUTER_PRODUCTS": outer,
        "INNER_UNITS": variant.inner,
        "BLOCK_ANSWERS": variant.answers,
        "N_WARPS": variant.warps,
        "N_STAGES": variant.stages,
    }
    changed = {name: value for name, value in names.items() if value is not None}
    kept = {name: getattr(packed_tail, name) for name in changed}
    from_predictor = FusedRewards.from_predictor
    if variant.is_dense:
        FusedRewards.from_predictor = lambda *_, **__: None  # type: ignore[method-assign]
    try:
        vars(packed_tail).update(changed)
        yield
    finally:
        vars(packed_tail).update(kept)
        FusedRewards.from_predictor = from_predictor  # type: ignore[method-assign]


def rewards_of(captured: CapturedRewards, model: FittedModel, evidence: Evidence) -> Tensor:
    """The rewards of evidence; an error if no graph is possible."""
    rewards = captured(model, evidence)
    if rewards is None:
        raise RuntimeError("no graph could be captured; see the warning above")
    return rewards


def compare(ours: Tensor, exact: Numbers) -> dict[str, float]:
    """Accuracy of rewards [rows, questions] compared with those in float64."""
    numbers = ours.double().cpu().numpy()
    return {
        "rank_correlation": float(spearmanr(numbers.ravel(), exact.ravel()).statistic),
        "same_best": float((numbers.argmax(1) == exact.argmax(1)).mean()),
        "relative_error": float(np.linalg.norm(numbers - exact) / np.linalg.norm(exact)),
    }


def find_failures(result: dict[str, float]) -> list[str]:
    """What is wrong with the accuracy of a variant."""
    failures = []
    if not result["rank_correlation"] >= MIN_RANK_CORRELATION:
        failures.append(f"rank correlation {result['rank_correlation']:.6f}")
    if not result["same_best"] >= MIN_SAME_BEST:
        failures.append(f"same best question {result['same_best']:.4f}")
    if not result["relative_error"] <= MAX_RELATIVE_ERROR:
        failures.append(f"relative error {result['relative_error']:.2e}")
    return failures


def measure_variant(
    model: FittedModel, evidence: Evidence, exact: Numbers, variant: Variant
) -> dict[str, float]:
    """Times in ms per batch, and the accuracy of the first rows."""
    with use_variant(variant):
        captured = CapturedRewards.from_model(model, [evidence.n_variables - 1], n_points=8)
        if captured is None:
            raise RuntimeError("this GPU or model does not support captured rewards")
        copies = [evidence[np.arange(len(evidence))] for _ in range(2)]

        def compute() -> Tensor:
            copies.reverse()
            return rewards_of(captured, model, copies[0])

        start = time.perf_counter()
        ours = compute()[: len(exact)]
        torch.cuda.synchronize()
        first_seconds = time.perf_counter() - start
        (run,) = captured._runs.values()
        assert run is not None  # noqa: S101  # it was captured just now
        return {
            "first_s": first_seconds,
            "ms": 1e3 * median_seconds(compute, 3),
            "graph_ms": 1e3 * median_seconds(run.graph.replay, 3, N_REPLAYS),
            **compare(ours, exact),
        }


def fit_mixed(device: str) -> FittedModel:
    """A model of variables of several kinds after a few training steps."""
    schema = eddi.Schema(
        (
            eddi.Variable("x0", Kind.REAL),
            eddi.Variable("x1", Kind.REAL),
            eddi.Variable("x2", Kind.COUNT),
            eddi.Variable("x3", Kind.BINARY, levels=(0, 1)),
            eddi.Variable("x4", Kind.ORDINAL, levels=(0, 1, 2)),
            eddi.Variable("x5", Kind.CATEGORY, levels=(0, 1)),
        )
    )
    estimator = eddi.PartialVAE(schema, max_steps=100, random_state=0, device=device)
    return estimator.fit(_mixed_numbers()).fitted()


def _mixed_numbers() -> Numbers:
    numbers = make_numbers(N_TABLE_ROWS, 6)
    numbers[:, 2] = np.floor(np.exp(numbers[:, 2].clip(-3, 3)))
    for place, n_levels in ((3, 2), (4, 3), (5, 2)):
        edges = np.quantile(numbers[:, place], np.arange(1, n_levels) / n_levels)
        numbers[:, place] = np.digitize(numbers[:, place], edges)
    return numbers


def check_mixed(model: FittedModel) -> list[str]:
    """What is wrong with the rewards of such a model, for targets of every kind."""
    failures = []
    for target in range(6):
        rows = model.evidence(_mixed_numbers())
        hidden = np.random.default_rng(2).random(rows.observed.shape) < 0.5
        hidden[:, target] = True
        evidence = rows.hide(hidden)
        captured = CapturedRewards.from_model(model, [target], n_points=8)
        if captured is None:
            raise RuntimeError("this GPU or model does not support captured rewards")
        with torch.inference_mode():
            context = RewardContext.from_evidence(model, evidence, [target])
            plain = context.rewards(EnumerationSettings()).double().cpu().numpy()
        result = compare(rewards_of(captured, model, evidence), plain)
        kind, way = model.schema.variables[target].kind, type(captured.compute).__name__
        print(f"mixed table, {kind} target, {way}: {result}", flush=True)
        failures += [f"{kind} target: {failure}" for failure in find_failures(result)]
    return failures


def profile_kernels(work: Callable[[], object]) -> str:
    """The kernels of ``work`` that take most time."""
    work()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        for _ in range(5):
            work()
        torch.cuda.synchronize()
    averages = found.key_averages()
    return str(averages.table(sort_by="self_cuda_time_total", row_limit=N_PROFILED_KERNELS))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure variants at some sizes; 1 if the rewards in use are wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="*", type=int, default=[n for n, _ in SIZES])
    parser.add_argument("--variants", nargs="*", type=int, default=list(range(len(VARIANTS))))
    parser.add_argument("--output", type=Path, default=Path())
    options = parser.parse_args(arguments)
    results, failures = [], check_mixed(fit_mixed("cuda"))
    for n_questions, n_rows in SIZES:
        if n_questions not in options.sizes:
            continue
        model = fit_default(n_questions, "cuda")
        evidence = make_half_known(model, n_rows)
        part = evidence[np.arange(min(n_rows, N_EXACT_ROWS))]
        exact = compute_exact(model, part).cpu().numpy()
        copies = [evidence[np.arange(n_rows)] for _ in range(2)]
        plain_ms = 1e3 * median_seconds(lambda c=copies, m=model: _plain(m, c), 3, 3)  # type: ignore[misc]
        print(f"{n_questions} questions, {n_rows} rows: plain {plain_ms:.2f} ms", flush=True)
        for number in options.variants:
            result = measure_variant(model, evidence, exact, VARIANTS[number])
            row = {"questions": n_questions, "rows": n_rows, "plain_ms": plain_ms, **result}
            results.append({**asdict(VARIANTS[number]), **row})
            print(_format_row(VARIANTS[number], n_rows, plain_ms, result), flush=True)
            failures += find_failures(result) if number == 0 else []
        captured = CapturedRewards.from_model(model, [n_questions], n_points=8)
        assert captured is not None  # noqa: S101  # measured before
        table = profile_kernels(lambda c=captured, m=model, e=evidence: c(m, e))  # type: ignore[misc]
        (options.output / f"kernels-{n_questions}.txt").write_text(table)
        (options.output / "variants.json").write_text(json.dumps(results, indent=1))
    print("WRONG: " + "; ".join(failures) if failures else "all rewards in use are right", flush=True)
    return 1 if failures else 0


def _plain(model: FittedModel, copies: list[Evidence]) -> Tensor:
    copies.reverse()
    return compute_plain(model, copies[0])


def _format_row(variant: Variant, n_rows: int, plain_ms: float, result: dict[str, float]) -> str:
    return (
        f"{variant.name:42} first {result['first_s']:4.1f} s, {result['ms']:7.3f} ms, "
        f"graph {result['graph_ms']:7.3f} ms, "
        f"{n_rows / result['ms'] / 1e3:6.3f} M/s, {plain_ms / result['ms']:5.1f} x plain, "
        f"rank {result['rank_correlation']:.7f}, best {result['same_best']:.4f}, "
        f"error {result['relative_error']:.1e}"
    )


if __name__ == "__main__":
    raise SystemExit(main())
