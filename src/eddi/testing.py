"""Contract tests for your own strategies, stopping rules, likelihoods and stores.

Pass your object to the check of its kind, in a test of your own:

    from eddi.testing import check_strategy

    def test_my_strategy_fulfils_the_contract():
        check_strategy(MyStrategy())
"""

import math
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

import eddi
from eddi.errors import EddiError
from eddi.model.base import Model
from eddi.model.network.likelihood import Likelihood
from eddi.store.base import (
    FORGOTTEN,
    Event,
    FactsError,
    Store,
    StoreConflict,
    StoreError,
    StreamForgottenError,
    StreamNotFoundError,
)
from eddi.store.chain import MAX_NAME_LENGTH, canonical_json, compute_digest, compute_hash
from eddi.strategy.base import Strategy
from eddi.strategy.stopping import Situation, StoppingRule
from eddi.table.evidence import Evidence

TARGET = ("risk",)
N_ROWS, N_LIKELIHOOD_ROWS = 7, 64
TOLERANCE = 1e-5  # of probabilities in float32
MIN_KL = -1e-2  # a divergence is never negative, but quadrature has an error
N_THREADS, N_EVENTS_PER_THREAD = 8, 5
LONG_TEXT = 1_000_000  # characters in a single fact
VALID_FACTS: tuple[dict[str, Any], ...] = (
    {},
    {"question": "Wie geht's? \N{GRINNING FACE} \u202e\u05d0", "\u00fc": "\ud800\u0000'\"\\%s :name"},
    {"nested": [{"a": [1, [], {}, None, True]}], "": ""},
    {"exact": [0.1, 1e-320, -0.0, 2**70, 1.7976931348623157e308]},
    {"long": "\N{SNOWMAN}" * LONG_TEXT},
)
INVALID_FACTS: tuple[Any, ...] = ({"x": math.nan}, {"x": {1}}, {"x": (1, 2)}, {1: "x"}, {"x": b""}, [1])
INVALID_NAMES = ("", "a\nb", "a\u0000b", "\ud800", "x" * (MAX_NAME_LENGTH + 1))


class ContractError(EddiError, AssertionError):
    """An object does not fulfil the contract of its kind; the message says what is required."""


def check_strategy(strategy: Strategy, model: eddi.PartialVAE | None = None) -> None:
    """Check that scores are valid and reproducible, and that an interview with them ends.

    Args:
        strategy: the strategy to check.
        model: a fitted model with a declared target; by default a small model with variables of every
            kind and the target "risk".

    Raises:
        ContractError: a requirement is not met.
    """
    estimator, target = (model, model.target_) if model else (_example_model(), TARGET)
    fitted = estimator.fitted()
    evidence = _draw_rows(fitted)
    values = evidence.values.copy()
    scores = strategy.score(fitted, evidence, target)
    n_questions = len(fitted.schema.questions)
    _require(
        scores.shape == (N_ROWS, n_questions),
        f"scores must be [rows, questions] = ({N_ROWS}, {n_questions}), got {tuple(scores.shape)}",
    )
    _require(
        not torch.isnan(scores).any(),
        "scores must not be NaN; use -inf for a question that is never asked",
    )
    again = strategy.score(fitted, evidence, target)
    _require(torch.equal(scores, again), "the scores of the same rows must be the same each time")
    _require(bool((evidence.values == values).all()), "score must not change the evidence")
    empty = strategy.score(fitted, evidence[:0], target)
    _require(
        empty.shape == (0, n_questions),
        f"the scores of no rows must have the shape (0, {n_questions}), got {tuple(empty.shape)}",
    )
    _check_interview(strategy, fitted, target)


def _check_interview(strategy: Strategy, model: Model, target: Sequence[str]) -> None:
    interview = eddi.Interview(model, target, strategy=strategy)
    n_questions = len(model.schema.questions)
    asked: list[str] = []
    while (question := interview.ask()) is not None and len(asked) <= n_questions:
        _require(question.name not in asked, f"{question.name!r} was asked twice in one interview")
        asked.append(question.name)
        interview.tell(question, eddi.UNKNOWN)
    _require(len(asked) <= n_questions, "an interview must end after all questions were asked")


def check_stopping_rule(rule: StoppingRule) -> None:
    """Check that a rule decides for every row, and that its budget is positive.

    Raises:
        ContractError: a requirement is not met.
    """
    model = _example_model().fitted()
    evidence = _draw_rows(model)
    situation = Situation(
        n_asked=evidence.observed.sum(1),
        best=np.linspace(0.0, 1.0, N_ROWS),
        predict=lambda: model.predict_evidence(evidence, TARGET),
    )
    reached = np.asarray(rule.reached(situation))
    _require(reached.shape == (N_ROWS,), f"reached must be [rows] = ({N_ROWS},), got {reached.shape}")
    _require(reached.dtype == np.bool_, f"reached must be boolean, got {reached.dtype}")
    _require(rule.budget > 0, f"the budget must be above 0, got {rule.budget}")


def check_likelihood(likelihood: Likelihood, n_variables: int) -> None:
    """Check that all methods of a likelihood describe the same distributions, for random outputs.

    Args:
        likelihood: the likelihood to check.
        n_variables: the number of variables that it was created for.

    Raises:
        ContractError: a requirement is not met.
    """
    random = torch.Generator().manual_seed(0)
    shape = (N_LIKELIHOOD_ROWS, n_variables)
    outputs = torch.randn((N_LIKELIHOOD_ROWS, likelihood.n_outputs), generator=random)
    level = torch.rand(shape, generator=random).clamp(0.02, 0.98)
    drawn = likelihood.quantile(outputs, level)
    _require_shape("quantile", drawn, shape)
    log_prob = likelihood.log_prob(outputs, drawn)
    _require_shape("log_prob", log_prob, shape)
    _require(torch.isfinite(log_prob).all(), "log_prob must be finite at quantiles")
    cdf = likelihood.cdf(outputs, drawn)
    _require_shape("cdf", cdf, shape)
    _require(
        bool((cdf >= level - TOLERANCE).all()),
        "the cdf at a quantile must reach its level: quantile is the inverse of cdf",
    )
    mean, variance = likelihood.moments(outputs)
    _require(
        torch.isfinite(mean).all() and bool((variance >= 0).all()),
        "moments must be a finite mean and a variance of 0 or more",
    )
    _require_shape("predictive_scale", likelihood.predictive_scale(outputs), shape)
    if likelihood.has_levels:
        total = likelihood.probabilities(outputs).sum(-1)
        _require(torch.allclose(total, torch.ones(shape), atol=1e-4), "probabilities must sum to 1")
    _check_output_rows(likelihood, n_variables)
    _check_kl(likelihood, outputs, shape)


def _check_output_rows(likelihood: Likelihood, n_variables: int) -> None:
    rows = [row for place in range(n_variables) for row in likelihood.output_rows([place])]
    _require(
        sorted(rows) == list(range(likelihood.n_outputs)),
        f"output_rows must give each of the {likelihood.n_outputs} outputs to one variable, got {rows}",
    )


def _check_kl(likelihood: Likelihood, outputs: Tensor, shape: tuple[int, ...]) -> None:
    divergence = likelihood.kl(outputs, outputs.flip(0))
    _require_shape("kl", divergence, shape)
    _require(bool((divergence >= MIN_KL).all()), "kl must not be negative")
    _require(
        bool((likelihood.kl(outputs, outputs).abs() < TOLERANCE).all()),
        "the kl of a distribution from itself must be 0",
    )


def _require_shape(method: str, result: Tensor, shape: tuple[int, ...]) -> None:
    found = tuple(result.shape)
    _require(found == shape, f"{method} must return [rows, variables] = {shape}, got {found}")


def check_store(make_store: Callable[[], Store]) -> None:
    """Check order, concurrent writes, invalid input, forgetting and durability of a store.

    The store may already contain other streams. Whether ``verify`` detects changes made behind the
    store's back depends on where it keeps its data, so your own tests must check that.

    Args:
        make_store: opens the store. Each call must open the same data again, or return the same object
            if the data does not outlive it.

    Raises:
        ContractError: a requirement is not met.
    """
    store, prefix = make_store(), f"check/{uuid.uuid4().hex}"
    for number, check in enumerate((_check_order, _check_facts, _check_invalid, _check_names)):
        check(store, f"{prefix}/{number}")
    others = [make_store() for _ in range(2)]
    _check_conflicts([store, *others], f"{prefix}/race")
    _check_concurrent_appends([store, *others], f"{prefix}/concurrent")
    _check_forgetting(store, f"{prefix}/secret")
    before = {stream: store.read(stream) for stream in store.streams(prefix)}
    store.check_write()
    for opened_store in (store, *others):
        opened_store.close()
    again = make_store()
    after = {stream: again.read(stream) for stream in again.streams(prefix)}
    _require(after == before, "a store that is opened again must contain the same events")
    faults = [str(fault) for fault in again.verify() if fault.stream.startswith(prefix)]
    _require(not faults, f"verify must report no fault in unchanged streams, got {faults}")
    again.close()


def _check_order(store: Store, stream: str) -> None:
    _require(store.read(stream) == [], "read must return no events for an unknown stream")
    events = [store.append(stream, f"kind {n}", {"n": n}, after=n) for n in range(5)]
    _require(
        [event.number for event in events] == [1, 2, 3, 4, 5], "events must be numbered 1, 2, 3 ..."
    )
    _require(store.read(stream) == events, "read must return the appended events in order")
    _require(store.read(stream, after=3) == events[3:], "read(after=3) must start with event 4")
    _require(store.read(stream, after=10**30) == [], "read(after=) beyond the end must return no events")
    for after in (0, 4, 6, -1, 10**30):
        append = partial(store.append, stream, "late", {}, after=after)
        _require_error(append, StoreConflict, f"append(after={after}) to a stream of 5 events")
    _require(store.read(stream) == events, "an append that fails must not change the stream")
    _check_chain(events)


def _check_chain(events: Sequence[Event]) -> None:
    before = ""
    for event in events:
        _require(event.before == before, "an event must have the hash of the previous event")
        facts = canonical_json(event.facts)
        digest = event.digest if event.is_forgotten else compute_digest(event.salt, facts)
        parts = {"at": event.at, "before": event.before, "digest": digest}
        expected = compute_hash(event.stream, event.number, event.kind, **parts)
        _require(event.hash == expected, "a hash must be that of eddi.store.chain.compute_hash")
        before = event.hash


def _check_facts(store: Store, stream: str) -> None:
    for after, facts in enumerate(VALID_FACTS):
        store.append(stream, "answered", facts, after=after)
    stored = [event.facts for event in store.read(stream)]
    _require(stored == [*VALID_FACTS], "read must return the facts exactly as they were appended")
    (exact,) = (facts["exact"] for facts in stored if "exact" in facts)
    _require(math.copysign(1, exact[2]) == -1, "read must return numbers exactly, including -0.0")
    facts = {"list": [1]}
    store.append(f"{stream}/copy", "answered", facts, after=0)
    facts["list"].append(2)
    (event,) = store.read(f"{stream}/copy")
    _require(event.facts == {"list": [1]}, "facts that change after append must not change the event")


def _check_invalid(store: Store, stream: str) -> None:
    for facts in INVALID_FACTS:
        append = partial(store.append, stream, "answered", facts, after=0)
        _require_error(append, FactsError, f"append of the facts {facts!r}")
    for name in INVALID_NAMES:
        append = partial(store.append, name, "answered", {}, after=0)
        _require_error(append, FactsError, f"append to a stream with the name {name[:9]!r}")
        _require(store.read(name) == [], f"read must return no events for the stream {name[:9]!r}")
    append = partial(store.append, stream, FORGOTTEN, {}, after=0)
    _require_error(append, FactsError, f"append of an event of kind {FORGOTTEN!r}")
    _require(store.read(stream) == [], "an append that fails must not change the stream")


def _check_names(store: Store, prefix: str) -> None:
    ends = ("B", "a", "a%b", "a_b", "ab", "\u00e9", "\N{GRINNING FACE}")
    names = [f"{prefix}/{end}" for end in ends]
    for name in reversed(names):
        store.append(name, "opened", {}, after=0)
    _require([*store.streams(f"{prefix}/")] == names, f"streams must be sorted by code point: {names}")
    _require(
        [*store.streams(f"{prefix}/a_")] == [f"{prefix}/a_b"],
        "streams must not use the prefix as a pattern",
    )
    _require([*store.streams(f"{prefix}/b")] == [], "streams must distinguish upper and lower case")
    _require(
        [*store.streams("\u0000")] == [], "streams must be empty for a prefix that no name can have"
    )


def _check_conflicts(stores: Sequence[Store], stream: str) -> None:
    def append(writer: int, after: int) -> Event | None:
        try:
            return stores[writer % len(stores)].append(stream, "answered", {"by": writer}, after=after)
        except StoreConflict:
            return None

    with ThreadPoolExecutor(N_THREADS) as threads:
        for after in range(5):
            results = threads.map(lambda writer, after=after: append(writer, after), range(N_THREADS))
            events = [event for event in results if event is not None]
            _require(
                len(events) == 1,
                f"of {N_THREADS} simultaneous appends exactly one must succeed, got {len(events)}",
            )
            found = stores[0].read(stream, after=after)
            _require(found == events, "the event of the append that succeeded must be stored")


def _check_concurrent_appends(stores: Sequence[Store], stream: str) -> None:
    def append_several(writer: int) -> list[int]:
        store = stores[writer % len(stores)]
        numbers: list[int] = []
        while len(numbers) < N_EVENTS_PER_THREAD:
            try:
                after = len(store.read(stream))
                numbers.append(store.append(stream, "answered", {"by": writer}, after=after).number)
            except StoreConflict:
                continue
        return numbers

    with ThreadPoolExecutor(N_THREADS) as threads:
        by_writer = [*threads.map(append_several, range(N_THREADS))]
    numbers = sorted(number for numbers in by_writer for number in numbers)
    expected = [*range(1, N_THREADS * N_EVENTS_PER_THREAD + 1)]
    _require(numbers == expected, "concurrent appends must get every number exactly once")
    stored = [event.number for event in stores[0].read(stream)]
    _require(stored == expected, "no event of concurrent appends may be lost")


def _check_forgetting(store: Store, stream: str) -> None:
    _require_error(partial(store.forget, stream), StreamNotFoundError, "forget of an unknown stream")
    events = [store.append(stream, "answered", {"secret": n}, after=n) for n in range(3)]
    store.append(f"{stream}-not", "answered", {"stays": True}, after=0)
    store.forget(stream)
    *erased, last = store.read(stream)
    _require(
        [event.facts for event in erased] == [{}, {}, {}], "forget must erase the facts of a stream"
    )
    _require(all(event.is_forgotten for event in erased), "forget must erase the salt of every event")
    hashes = [event.hash for event in events]
    _require([event.hash for event in erased] == hashes, "forget must not change the hashes")
    _require(
        (last.kind, last.number) == (FORGOTTEN, 4), f"forget must append an event of kind {FORGOTTEN!r}"
    )
    _check_chain([*erased, last])
    store.forget(stream)
    _require(store.read(stream) == [*erased, last], "forgetting a stream again must change nothing")
    for after in (0, 4):
        append = partial(store.append, stream, "answered", {}, after=after)
        _require_error(append, StreamForgottenError, "append to a forgotten stream")
    _require(store.read(f"{stream}-not")[0].facts == {"stays": True}, "forget must keep other streams")
    _require(store.scrub(), "scrub must return True if nobody reads the store")
    idle = [store.idle_streams(stream, before) for before in ("2000", "9999")]
    _require(idle == [[], [f"{stream}-not"]], f"idle_streams must return older streams, got {idle}")
    store.append(f"{stream}-not", "closed", {}, after=1)
    (ends,) = store.read_ends(stream)
    _require([event.number for event in ends] == [1, 2], f"read_ends must return ends, got {ends}")


def _require_error(action: Callable[[], object], error: type[StoreError], name: str) -> None:
    requirement = f"the contract is not fulfilled: {name} must raise {error.__name__}"
    try:
        action()
    except error:
        return
    except Exception as other:
        raise ContractError(f"{requirement}, got {other!r}.") from other
    raise ContractError(f"{requirement}, but raised nothing.")


def _require(condition: bool | Tensor, requirement: str) -> None:
    if not condition:
        raise ContractError(f"the contract is not fulfilled: {requirement}.")


@cache
def _example_model() -> eddi.PartialVAE:
    """A small model with variables of every kind; fitted once per process."""
    latent = np.random.default_rng(0).normal(size=(120, 6))
    latent += latent[:, :1]
    table = {
        "age": 50 + 10 * latent[:, 1],
        "visits": np.floor(np.exp(latent[:, 2])),
        "smoker": np.where(latent[:, 3] > 0, "yes", "no"),
        "pain": np.digitize(latent[:, 4], [-1, 0, 1]),
        "town": np.array(["Aber", "Bala", "Caer"])[np.digitize(latent[:, 5], [-0.5, 0.5])],
        "risk": latent[:, 0],
    }
    return eddi.PartialVAE(target="risk", max_steps=50, random_state=0, device="cpu").fit(table)


def _draw_rows(model: Model) -> Evidence:
    """Rows drawn from the model, with half of the values and all targets hidden."""
    n_variables = len(model.schema.variables)
    drawn = model.draw_tables(Evidence.empty(N_ROWS, n_variables), 1, seed=0)[0]
    hidden = np.random.default_rng(1).random((N_ROWS, n_variables)) < 0.5
    hidden[:, model.schema.positions(model.target)] = True
    return model.coding.encode(drawn).hide(hidden)
