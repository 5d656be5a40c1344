"""Laws of models, for both recipes, every set encoder and any evidence."""

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eddi.model.network.likelihood import VariableSpec
from eddi.model.network.network import Network
from eddi.model.recipe import DEFAULT, PAPER
from eddi.table.evidence import Evidence
from eddi.table.variable import Kind

N_VARIABLES = 8
LAST_LEVELS = (None, None, 1, 3, 2, None, 4, 2)  # of the variables of people; None for a quantity
NAMES = ("age", "visits", "pain", "town")
ENCODERS = ("zi", "zi-m", "pn", "pnp", "precision")
SLOW = {("default", "zi"), ("default", "zi-m"), ("default", "pn"), ("paper", "precision")}

quick = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def coded_rows(draw):
    """One row of coded values that the variables of people can have."""
    numbers = st.floats(-3, 3, width=32)
    values = [draw(numbers if last is None else st.integers(0, last)) for last in LAST_LEVELS]
    return np.array([values], dtype=np.float32)


masks = st.lists(st.booleans(), min_size=N_VARIABLES, max_size=N_VARIABLES).map(
    lambda flags: np.array([flags])
)
garbage_rows = st.lists(
    st.one_of(st.floats(width=32), st.sampled_from([np.nan, np.inf, -np.inf, 1e38])),
    min_size=N_VARIABLES,
    max_size=N_VARIABLES,
).map(lambda values: np.array([values], dtype=np.float32))


@pytest.fixture(
    params=[
        pytest.param((recipe, name), marks=[pytest.mark.slow] if (recipe, name) in SLOW else [])
        for recipe in ("default", "paper")
        for name in ENCODERS
    ],
    ids="-".join,
)
def fitted(request, people_model):
    recipe, set_encoder = request.param
    return people_model(set_encoder, recipe).fitted()


def predict_all(model, evidence):
    """All numbers of the predictions of some variables [numbers, rows]."""
    predictions = model.predict_evidence(evidence, NAMES).values()
    moments = [np.array([p.mean, p.sd, *p.interval.T]) for p in predictions]
    probabilities = [p.probabilities.T for p in predictions if p.probabilities is not None]
    return np.concatenate([*moments, *probabilities])


@quick
@given(row=coded_rows(), observed=masks, garbage=garbage_rows)
def test_unobserved_values_have_no_effect(fitted, row, observed, garbage):
    evidence = Evidence(row, observed)
    changed = Evidence(np.where(observed, row, garbage), observed)
    assert torch.equal(fitted.code(evidence), fitted.code(changed))
    expected = predict_all(fitted, evidence)
    assert np.array_equal(predict_all(fitted, changed), expected, equal_nan=True)


@quick
@given(row=coded_rows(), observed=masks, payload=st.integers(1, 2**22 - 1))
def test_the_bits_of_a_nan_have_no_effect(fitted, row, observed, payload):
    nan = np.array([0x7FC00000 | payload], dtype=np.uint32).view(np.float32)[0]
    evidence = Evidence.of(np.where(observed, row, np.nan))
    changed = Evidence.of(np.where(observed, row, nan))
    assert np.array_equal(evidence.values, changed.values)
    assert torch.equal(fitted.code(evidence), fitted.code(changed))


@quick
@given(row=coded_rows(), order=st.permutations(range(N_VARIABLES)), n=st.integers(0, N_VARIABLES))
def test_the_order_of_answers_has_no_effect(fitted, row, order, n):
    answered = order[:n]
    one_by_one = Evidence.empty(1, N_VARIABLES)
    for variable in answered:
        one_by_one = one_by_one.reveal(Evidence(row, (np.arange(N_VARIABLES) == variable)[None]))
    at_once = Evidence(row, np.isin(np.arange(N_VARIABLES), answered)[None])
    assert np.array_equal(one_by_one.values, at_once.values)
    assert np.array_equal(one_by_one.observed, at_once.observed)
    assert torch.equal(fitted.code(one_by_one), fitted.code(at_once))


@quick
@given(row=coded_rows(), order=st.permutations(range(N_VARIABLES)))
def test_the_terms_of_answers_in_any_order_add_up_to_the_code(fitted, row, order):
    row = np.clip(row, fitted.coding.low, fitted.coding.high)
    code = fitted.code(Evidence.empty(1, N_VARIABLES))
    for variable in order:
        code = code + fitted.term(torch.from_numpy(row[:, [variable]]), [variable])[:, 0]
    complete = fitted.code(Evidence(row, np.ones((1, N_VARIABLES), bool)))
    assert torch.allclose(code, complete, atol=1e-4)


@quick
@given(
    rows=st.lists(coded_rows(), min_size=2, max_size=6),
    observed=st.lists(masks, min_size=6, max_size=6),
    place=st.integers(0, 5),
)
def test_the_prediction_of_a_row_does_not_depend_on_its_batch(fitted, rows, observed, place):
    evidence = Evidence(np.concatenate(rows), np.concatenate(observed[: len(rows)]))
    place %= len(rows)
    in_batch = predict_all(fitted, evidence)[:, place]
    alone = predict_all(fitted, evidence[place : place + 1])[:, 0]
    assert np.allclose(in_batch, alone, rtol=1e-5, atol=1e-4, equal_nan=True)


@quick
@given(row=coded_rows(), observed=masks)
def test_a_prediction_is_a_distribution(fitted, row, observed):
    predictions = fitted.predict_evidence(Evidence(row, observed), NAMES)
    for name, prediction in predictions.items():
        if prediction.probabilities is None:
            is_observed = observed[:, fitted.schema.position(name)]
            assert np.isfinite(prediction.mean).all()
            assert np.array_equal(prediction.sd > 0, ~is_observed)
            assert (prediction.interval[:, 0] <= prediction.interval[:, 1]).all()
        else:
            assert (prediction.probabilities >= 0).all()
            assert np.allclose(prediction.probabilities.sum(-1), 1, atol=1e-5)


@settings(quick, max_examples=25)
@given(
    set_encoder=st.sampled_from(ENCODERS),
    kinds=st.lists(st.sampled_from(list(Kind)), min_size=1, max_size=6),
    recipe=st.sampled_from([DEFAULT, PAPER]),
    data=st.data(),
)
def test_any_mixture_of_kinds_has_finite_gradients(set_encoder, kinds, recipe, data):
    n_levels = {
        Kind.BINARY: st.just(2),
        Kind.ORDINAL: st.integers(2, 5),
        Kind.CATEGORY: st.integers(2, 5),
        Kind.SURVIVAL: st.integers(3, 6),
    }
    specs = [VariableSpec(kind, data.draw(n_levels.get(kind, st.just(0)))) for kind in kinds]
    row = [float(data.draw(st.integers(0, max(1, spec.n_levels - 1)))) for spec in specs]
    torch.manual_seed(0)
    network = Network(specs, set_encoder, recipe)
    values = torch.tensor([row] * 2)
    outputs = network.decode(network.posterior(network.code(values, torch.ones_like(values))).mean)
    log_prob = network.log_prob(outputs, values)
    log_prob.sum().backward()
    assert log_prob.shape == (2, len(specs))
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in network.parameters())


@quick
@given(row=coded_rows(), observed=masks, place=st.sampled_from([0, 1, 5]), sign=st.sampled_from([-1, 1]))
def test_a_value_far_outside_the_training_range_is_not_observed(fitted, row, observed, place, sign):
    coding = fitted.coding
    width = coding.high[place] - coding.low[place]
    extreme = Evidence(row, observed)
    extreme.observed[0, place] = True
    for distance in (2.5, 30.0):
        extreme.values[0, place] = (
            sign * distance * width + (coding.high if sign > 0 else coding.low)[place]
        )
        without = extreme.hide([place])
        others = [name for name in NAMES if name != fitted.schema.names[place]]
        with_value = fitted.predict_evidence(extreme, others)
        expected = fitted.predict_evidence(without, others)
        for name in others:
            np.testing.assert_array_equal(with_value[name].mean, expected[name].mean)
            np.testing.assert_array_equal(with_value[name].interval, expected[name].interval)


@quick
@given(row=coded_rows(), observed=masks, distance=st.floats(0, 0.09))
def test_a_value_beyond_the_training_range_counts_as_the_end_of_the_range(
    fitted, row, observed, distance
):
    low, high = fitted.coding.low[0], fitted.coding.high[0]
    beyond, at_end = Evidence(row, observed), Evidence(row, observed)
    beyond.observed[0, 0] = at_end.observed[0, 0] = True
    at_end.values[0, 0] = high
    beyond.values[0, 0] = high + distance * (high - low)
    others = [name for name in NAMES if name != "age"]
    for name in others:
        predicted = fitted.predict_evidence(beyond, others)[name]
        expected = fitted.predict_evidence(at_end, others)[name]
        np.testing.assert_array_equal(predicted.sd, expected.sd)
        np.testing.assert_array_equal(predicted.mean, expected.mean)


@quick
@given(row=coded_rows(), observed=masks, distance=st.floats(0.11, 3), sign=st.sampled_from([-1, 1]))
def test_an_extreme_value_never_makes_a_prediction_more_certain(fitted, row, observed, distance, sign):
    end = (fitted.coding.high if sign > 0 else fitted.coding.low)[0]
    extreme = Evidence(np.clip(row, fitted.coding.low, fitted.coding.high), observed)
    extreme.observed[0, 0] = True
    extreme.values[0, 0] = end + sign * distance * (fitted.coding.high[0] - fitted.coding.low[0])
    others = [name for name in NAMES if name != "age"]
    predictions = fitted.predict_evidence(extreme, others)
    before = fitted.predict_evidence(extreme.hide([0]), others)
    for name, prediction in predictions.items():
        if prediction.probabilities is not None:
            assert prediction.probabilities.max() <= before[name].probabilities.max() + 1e-9
        else:
            assert prediction.sd[0] >= before[name].sd[0] - 1e-9
            widths = np.diff(prediction.interval), np.diff(before[name].interval)
            assert widths[0] >= widths[1] * (1 - 1e-6)
