"""Contract suites: does your strategy, stopping rule, likelihood or store keep the promises ours keep?

A plug-in is an object you pass. In a test of your own, hand it to the check of its kind:

    from eddi.testing import check_strategy

    def test_my_strategy_keeps_the_contract():
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
N_ROWS = 7
ROUNDING = 1e-5
N_THREADS = 8
BIG = 1_000_000  # characters in one fact: a long text, not a film
HARD_FACTS: tuple[dict[str, Any], ...] = (
    {},
    {"question": "Wie geht's? \N{GRINNING FACE} \u202e\u05d0", "\u00fc": "\ud800\u0000'\"\\%s :name"},
    {"nested": [{"a": [1, [], {}, None, True]}], "": ""},
    {"exact": [0.1, 1e-320, -0.0, 2**70, 1.7976931348623157e308]},
    {"big": "\N{SNOWMAN}" * BIG},
)
NOT_FACTS: tuple[Any, ...] = ({"x": math.nan}, {"x": {1}}, {"x": (1, 2)}, {1: "x"}, {"x": b""}, [1])
NOT_NAMES = ("", "a\nb", "a\u0000b", "\ud800", "x" * (MAX_NAME_LENGTH + 1))


class ContractError(EddiError, AssertionError):
    """A plug-in does not keep what its kind promises."""


def check_strategy(strategy: Strategy, model: eddi.PartialVAE | None = None) -> None:
    """One score a row and question, the same when asked again, and an interview that ends.

    Args:
        strategy: yours.
        model: what to score with; a small one of mixed kinds, with the target "risk", where None.

    Raises:
        ContractError: a promise is broken; the message names it.
    """
    estimator, target = (model, model.target_) if model else (_model(), TARGET)
    fitted = estimator.fitted()
    evidence = _some_rows(fitted)
    before = evidence.values.copy()
    scores = strategy.score(fitted, evidence, target)
    n_questions = len(fitted.schema.questions)
    _promise(
        scores.shape == (N_ROWS, n_questions),
        f"scores must be [rows, questions] = ({N_ROWS}, {n_questions}), got {tuple(scores.shape)}",
    )
    _promise(not torch.isnan(scores).any(), "a score must be a number; -inf means never, NaN nothing")
    again = strategy.score(fitted, evidence, target)
    _promise(torch.equal(scores, again), "the same rows must score the same when asked again")
    _promise(bool((evidence.values == before).all()), "scoring must leave the evidence as it was")
    nobody = strategy.score(fitted, evidence[:0], target)
    _promise(nobody.shape == (0, n_questions), "no rows must give scores of shape (0, questions)")
    _check_it_ends(strategy, fitted, target)


def _check_it_ends(strategy: Strategy, model: Model, target: Sequence[str]) -> None:
    interview = eddi.Interview(model, target, strategy=strategy)
    n_questions = len(model.schema.questions)
    asked: list[str] = []
    while (question := interview.ask()) is not None and len(asked) <= n_questions:
        _promise(question.name not in asked, f"{question.name!r} was asked twice")
        asked.append(question.name)
        interview.tell(question, eddi.UNKNOWN)
    _promise(len(asked) <= n_questions, "an interview must end when all was asked")


def check_stopping_rule(rule: StoppingRule) -> None:
    """One truth a row, from how interviews stand, and a budget above 0.

    Raises:
        ContractError: a promise is broken; the message names it.
    """
    model = _model().fitted()
    evidence = _some_rows(model)
    situation = Situation(
        n_asked=evidence.observed.sum(1),
        best=np.linspace(0.0, 1.0, N_ROWS),
        predict=lambda: model.predict_evidence(evidence, TARGET),
    )
    reached = np.asarray(rule.reached(situation))
    _promise(reached.shape == (N_ROWS,), f"reached must be [rows] = ({N_ROWS},), got {reached.shape}")
    _promise(reached.dtype == np.bool_, f"reached must be true or false, got {reached.dtype}")
    _promise(rule.budget > 0, f"the budget must be above 0, got {rule.budget}")


def check_likelihood(likelihood: Likelihood, n_variables: int) -> None:
    """Its four verbs tell of one and the same distribution, for any outputs of the decoder.

    Args:
        likelihood: yours, for a group of ``n_variables`` variables.
        n_variables: how many variables it serves.

    Raises:
        ContractError: a promise is broken; the message names it.
    """
    random = torch.Generator().manual_seed(0)
    outputs = torch.randn((64, likelihood.n_outputs), generator=random)
    level = torch.rand((64, n_variables), generator=random).clamp(0.02, 0.98)
    drawn = likelihood.quantile(outputs, level)
    shape = tuple(level.shape)
    _promise(tuple(drawn.shape) == shape, f"quantile must give [..., variables] = {shape}")
    log_prob = likelihood.log_prob(outputs, drawn)
    _promise(tuple(log_prob.shape) == shape, f"log_prob must give [..., variables] = {shape}")
    _promise(torch.isfinite(log_prob).all(), "what was drawn must be possible: log_prob is not finite")
    reached = likelihood.cdf(outputs, drawn)
    _promise(
        bool((reached >= level - ROUNDING).all()),
        "the cdf at a quantile must reach its level: quantile is the cdf's inverse",
    )
    mean, variance = likelihood.moments(outputs)
    _promise(torch.isfinite(mean).all() and bool((variance >= 0).all()), "moments must be numbers")
    if likelihood.has_levels:
        total = likelihood.probabilities(outputs).sum(-1)
        _promise(torch.allclose(total, torch.ones(shape), atol=1e-4), "probabilities must sum to 1")


def check_store(make_store: Callable[[], Store]) -> None:
    """Events in order and without gaps, one winner of a race, nothing lost, facts gone when forgotten.

    Whether ``verify`` finds what somebody changed behind the store's back is for your own tests, for
    only they can reach behind it. What is in the store already does not matter.

    Args:
        make_store: opens your store; called again, it opens the same place anew (or, where nothing
            outlives the object, gives the same object).

    Raises:
        ContractError: a promise is broken; the message names it.
    """
    store, place = make_store(), f"check/{uuid.uuid4().hex}"
    for number, check in enumerate((_check_order, _check_facts, _check_refusals, _check_names)):
        check(store, f"{place}/{number}")
    others = [make_store() for _ in range(2)]
    _check_one_winner([store, *others], f"{place}/race")
    _check_no_gaps([store, *others], f"{place}/crowd")
    _check_forgetting(store, f"{place}/secret")
    before = {stream: store.read(stream) for stream in store.streams(place)}
    for each in (store, *others):
        each.close()
    again = make_store()
    after = {stream: again.read(stream) for stream in again.streams(place)}
    _promise(after == before, "a store opened again must hold what it held")
    faults = [str(fault) for fault in again.verify() if fault.stream.startswith(place)]
    _promise(not faults, f"verify must find nothing where nothing was changed, got {faults}")
    again.close()


def _check_order(store: Store, stream: str) -> None:
    _promise(store.read(stream) == [], "an unknown stream must read as empty")
    told = [store.append(stream, f"kind {n}", {"n": n}, after=n) for n in range(5)]
    _promise([event.number for event in told] == [1, 2, 3, 4, 5], "numbers must be 1, 2, 3 ...")
    _promise(store.read(stream) == told, "read must give what append gave, in order")
    _promise(store.read(stream, after=3) == told[3:], "read(after=3) must begin with event 4")
    _promise(store.read(stream, after=10**30) == [], "read(after=) beyond the end must be empty")
    for after in (0, 4, 6, -1, 10**30):
        words = f"append(after={after}) to a stream of 5 events must raise StoreConflict"
        _refuses(partial(store.append, stream, "late", {}, after=after), StoreConflict, words)
    _promise(store.read(stream) == told, "a refused event must leave nothing behind")
    _check_chain(told)


def _check_chain(events: Sequence[Event]) -> None:
    before = ""
    for event in events:
        _promise(event.before == before, "an event must carry the hash of the one before it")
        digest = (
            event.digest
            if event.is_forgotten
            else compute_digest(event.salt, canonical_json(event.facts))
        )
        parts = {"at": event.at, "before": event.before, "digest": digest}
        seal = compute_hash(event.stream, event.number, event.kind, **parts)
        _promise(event.hash == seal, "a hash must be what eddi.store.chain.compute_hash gives")
        before = event.hash


def _check_facts(store: Store, stream: str) -> None:
    for after, facts in enumerate(HARD_FACTS):
        store.append(stream, "told", facts, after=after)
    kept = [event.facts for event in store.read(stream)]
    _promise(kept == [*HARD_FACTS], "facts must read back as they were written, whatever they say")
    signs = [math.copysign(1, event.facts["exact"][2]) for event in store.read(stream, after=3)[:1]]
    _promise(signs == [-1], "numbers must read back to the last bit")
    mine: dict[str, Any] = {"list": [1]}
    store.append(f"{stream}/mine", "told", mine, after=0)
    mine["list"].append(2)
    (event,) = store.read(f"{stream}/mine")
    _promise(event.facts == {"list": [1]}, "what happens to facts later must not change what is kept")


def _check_refusals(store: Store, stream: str) -> None:
    for facts in NOT_FACTS:
        words = f"append must refuse the facts {facts!r} with FactsError"
        _refuses(partial(store.append, stream, "told", facts, after=0), FactsError, words)
    for name in NOT_NAMES:
        words = f"append must refuse the stream {name[:9]!r} with FactsError"
        _refuses(partial(store.append, name, "told", {}, after=0), FactsError, words)
        _promise(store.read(name) == [], f"the stream {name[:9]!r} must read as empty")
    words = f"append must refuse the kind {FORGOTTEN!r} with FactsError"
    _refuses(lambda: store.append(stream, FORGOTTEN, {}, after=0), FactsError, words)
    _promise(store.read(stream) == [], "a refused event must leave nothing behind")


def _check_names(store: Store, place: str) -> None:
    names = [f"{place}/{end}" for end in ("B", "a", "a%b", "a_b", "ab", "\u00e9", "\N{GRINNING FACE}")]
    for name in reversed(names):
        store.append(name, "opened", {}, after=0)
    _promise([*store.streams(f"{place}/")] == names, f"streams must come in order: {names}")
    _promise([*store.streams(f"{place}/a_")] == [f"{place}/a_b"], "a prefix means itself, no pattern")
    _promise([*store.streams(f"{place}/b")] == [], "capital and small letters must differ")
    _promise([*store.streams("\u0000")] == [], "a prefix that no stream can have must find none")


def _check_one_winner(stores: Sequence[Store], stream: str) -> None:
    def tries(n: int, after: int) -> Event | None:
        try:
            return stores[n % len(stores)].append(stream, "told", {"by": n}, after=after)
        except StoreConflict:
            return None

    with ThreadPoolExecutor(N_THREADS) as threads:
        for after in range(5):
            ends = [*threads.map(lambda n, after=after: tries(n, after), range(N_THREADS))]
            won = [event for event in ends if event is not None]
            _promise(len(won) == 1, f"of {N_THREADS} who add at once one must win, got {len(won)}")
            _promise(stores[0].read(stream, after=after) == won, "the winner's event must be kept")


def _check_no_gaps(stores: Sequence[Store], stream: str) -> None:
    n_each = 5

    def adds(n: int) -> list[int]:
        numbers: list[int] = []
        while len(numbers) < n_each:
            store = stores[n % len(stores)]
            try:
                after = len(store.read(stream))
                numbers.append(store.append(stream, "told", {"by": n}, after=after).number)
            except StoreConflict:
                continue
        return numbers

    with ThreadPoolExecutor(N_THREADS) as threads:
        given = sorted(number for numbers in threads.map(adds, range(N_THREADS)) for number in numbers)
    whole = [*range(1, N_THREADS * n_each + 1)]
    _promise(given == whole, "every number must be given once, whoever asks")
    _promise([event.number for event in stores[0].read(stream)] == whole, "no event may be lost")


def _check_forgetting(store: Store, stream: str) -> None:
    _refuses(lambda: store.forget(stream), StreamNotFoundError, "forgetting nothing must be refused")
    told = [store.append(stream, "told", {"secret": n}, after=n) for n in range(3)]
    store.append(f"{stream}-not", "told", {"stays": True}, after=0)
    store.forget(stream)
    *left, last = store.read(stream)
    _promise([event.facts for event in left] == [{}, {}, {}], "facts must be gone when forgotten")
    _promise(
        all(event.is_forgotten for event in left), "a forgotten event must say so, without its salt"
    )
    _promise([event.hash for event in left] == [event.hash for event in told], "hashes must stay")
    _promise((last.kind, last.number) == (FORGOTTEN, 4), f"the last event must be {FORGOTTEN!r}")
    _check_chain([*left, last])
    store.forget(stream)
    _promise(store.read(stream) == [*left, last], "forgetting again must change nothing")
    words = "append to a forgotten stream must raise StreamForgottenError"
    for after in (0, 4):
        _refuses(
            partial(store.append, stream, "told", {}, after=after),
            StreamForgottenError,
            words,
        )
    (other,) = store.read(f"{stream}-not")
    _promise(other.facts == {"stays": True}, "other streams must not be touched")


def _refuses(act: Callable[[], object], error: type[StoreError], words: str) -> None:
    try:
        act()
    except error:
        return
    except Exception as other:
        raise ContractError(f"the contract is broken: {words}, got {other!r}.") from other
    raise ContractError(f"the contract is broken: {words}.")


def _promise(kept: bool | Tensor, what: str) -> None:
    if not kept:
        raise ContractError(f"the contract is broken: {what}.")


@cache
def _model() -> eddi.PartialVAE:
    """A small model of variables of every kind; the same one for whoever asks again."""
    random = np.random.default_rng(0)
    lean = random.normal(size=(120, 6))
    lean += lean[:, :1]
    table = {
        "age": 50 + 10 * lean[:, 1],
        "visits": np.floor(np.exp(lean[:, 2])),
        "smoker": np.where(lean[:, 3] > 0, "yes", "no"),
        "pain": np.digitize(lean[:, 4], [-1, 0, 1]),
        "town": np.array(["Aber", "Bala", "Caer"])[np.digitize(lean[:, 5], [-0.5, 0.5])],
        "risk": lean[:, 0],
    }
    return eddi.PartialVAE(target="risk", max_steps=50, random_state=0, device="cpu").fit(table)


def _some_rows(model: Model) -> Evidence:
    """Rows drawn from the model itself, of which half is hidden, the target among it."""
    n_variables = len(model.schema.variables)
    nothing = Evidence.empty(N_ROWS, n_variables)
    rows = model.coding.encode(model.draw_tables(nothing, 1, seed=0)[0])
    hidden = np.random.default_rng(1).random((N_ROWS, n_variables)) < 0.5
    hidden[:, model.schema.positions(model.target)] = True
    return rows.hide(hidden)
