"""Laws every model keeps, whatever the evidence."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT, PAPER
from eddi.table.evidence import Evidence

N_VARIABLES = 8
TOPS = (None, None, 1, 3, 2, None, 4, 2)  # the last level of each of people's variables
NAMES = ("age", "visits", "pain", "town")

quick = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def coded(draw):
    """One row of coded values that people's variables can take."""
    numbers = st.floats(-3, 3, width=32)
    cells = [draw(numbers if top is None else st.integers(0, top)) for top in TOPS]
    return np.array([cells], dtype=np.float32)


seen = st.lists(st.booleans(), min_size=N_VARIABLES, max_size=N_VARIABLES).map(
    lambda flags: np.array([flags])
)
garbage = st.lists(
    st.one_of(st.floats(width=32), st.sampled_from([np.nan, np.inf, -np.inf, 1e38])),
    min_size=N_VARIABLES,
    max_size=N_VARIABLES,
).map(lambda cells: np.array([cells], dtype=np.float32))


@pytest.fixture(params=["default", "paper"])
def any_model(request, people_model):
    return people_model(recipe=request.param)


def everything(model, evidence):
    """All that is believed, as one array."""
    beliefs = model.predict_evidence(evidence, NAMES)
    parts = [[b.mean, b.sd, *b.interval.T] for b in beliefs.values()]
    chances = [b.probabilities.T for b in beliefs.values() if b.probabilities is not None]
    return np.concatenate([*map(np.array, parts), *chances])  # [facts, rows]


@quick
@given(row=coded(), observed=seen, rubbish=garbage)
def test_unseen_values_never_matter(any_model, row, observed, rubbish):
    clean = Evidence(row, observed)
    dirty = Evidence(np.where(observed, row, rubbish), observed)
    assert torch.equal(any_model.code(clean), any_model.code(dirty))
    assert np.array_equal(everything(any_model, clean), everything(any_model, dirty), equal_nan=True)


@quick
@given(row=coded(), observed=seen, payload=st.integers(1, 2**22 - 1))
def test_what_kind_of_nan_a_hole_holds_never_matters(any_model, row, observed, payload):
    nan = np.array([0x7FC00000 | payload], dtype=np.uint32).view(np.float32)[0]
    plain = Evidence.of(np.where(observed, row, np.nan))
    odd = Evidence.of(np.where(observed, row, nan))
    assert np.array_equal(plain.values, odd.values)
    assert torch.equal(any_model.code(plain), any_model.code(odd))


@quick
@given(row=coded(), order=st.permutations(range(N_VARIABLES)), n_told=st.integers(0, N_VARIABLES))
def test_the_order_of_answers_never_matters(any_model, row, order, n_told):
    told = order[:n_told]
    evidence = Evidence.empty(1, N_VARIABLES)
    for variable in told:
        flags = np.zeros((1, N_VARIABLES), bool)
        flags[0, variable] = True
        evidence = evidence.reveal(Evidence(row, flags))
    flags = np.isin(np.arange(N_VARIABLES), told)[None]
    at_once = Evidence(row, flags)
    assert np.array_equal(evidence.values, at_once.values)
    assert np.array_equal(evidence.observed, at_once.observed)
    assert torch.equal(any_model.code(evidence), any_model.code(at_once))


@quick
@given(row=coded(), order=st.permutations(range(N_VARIABLES)))
def test_adding_answers_one_by_one_in_any_order_gives_the_code_of_all(any_model, row, order):
    code = any_model.code(Evidence.empty(1, N_VARIABLES))
    for variable in order:
        code = code + any_model.term(torch.from_numpy(row[:, [variable]]), [variable])[:, 0]
    whole = any_model.code(Evidence(row, np.ones((1, N_VARIABLES), bool)))
    assert torch.allclose(code, whole, atol=1e-4)


@quick
@given(
    rows=st.lists(coded(), min_size=2, max_size=6),
    masks=st.lists(seen, min_size=6, max_size=6),
    place=st.integers(0, 5),
)
def test_a_rows_prediction_is_the_same_alone_and_in_a_batch(any_model, rows, masks, place):
    evidence = Evidence(np.concatenate(rows), np.concatenate(masks[: len(rows)]))
    place %= len(rows)
    together = everything(any_model, evidence)[:, place]
    alone = everything(any_model, evidence[place : place + 1])[:, 0]
    assert np.allclose(together, alone, rtol=1e-5, atol=1e-4, equal_nan=True)


@quick
@given(row=coded(), observed=seen)
def test_a_prediction_is_always_a_distribution(any_model, row, observed):
    beliefs = any_model.predict_evidence(Evidence(row, observed), NAMES)
    for place, belief in enumerate(beliefs.values()):
        if belief.probabilities is None:
            assert np.isfinite(belief.mean).all()
            assert np.array_equal(belief.sd > 0, ~observed[:, place])  # what is shown is known
            assert (belief.interval[:, 0] <= belief.interval[:, 1]).all()
        else:
            assert (belief.probabilities >= 0).all()
            assert np.allclose(belief.probabilities.sum(-1), 1, atol=1e-5)


@quick
@given(
    name=st.sampled_from(["zi", "zi-m", "pn", "pnp"]),
    kinds=st.lists(
        st.sampled_from(["real", "count", "binary", "ordinal", "category"]), min_size=1, max_size=6
    ),
    recipe=st.sampled_from([DEFAULT, PAPER]),
    data=st.data(),
)
def test_any_mixture_of_kinds_has_finite_gradients(name, kinds, recipe, data):
    from eddi.table.variable import Kind

    specs = [
        VariableSpec(
            Kind(kind),
            data.draw(st.integers(2, 5)) if kind in ("ordinal", "category") else 2 * (kind == "binary"),
        )
        for kind in kinds
    ]
    torch.manual_seed(0)
    network = Network(specs, name, recipe)
    values = torch.tensor(
        [[float(data.draw(st.integers(0, max(1, f.n_levels - 1)))) for f in specs]] * 2
    )
    outputs = network.decode(network.posterior(network.code(values, torch.ones_like(values))).mean)
    network.log_prob(outputs, values).sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in network.parameters())
    assert network.log_prob(outputs, values).shape == (2, len(specs))
