# mypy: ignore-errors
"""Triton kernels of the residual tail: hidden features of rows, and rewards of candidate answers.

The target is a real or binary variable. Its prediction, that of the factor model and their divergence are
computed where the activations are, so that nothing of the size of the answers is written to memory.
"""

import triton
import triton.language as tl

from eddi.reward.fused.kernels import (
    add_factors,
    add_term,
    factor_output,
    head_output,
    last_layer,
    residual_blocks,
)
from eddi.reward.fused.row_kernels import (
    calibrated_scale,
    factor_input,
    invert_softplus,
    locate,
    softplus,
)

# Sizes of tables: a kernel is compiled once for all of them.
ROW_SIZES = ["n_rows", "n_variables", "n_blocks", "n_factors", "feature_width", "target"]
ANSWER_SIZES = [
    "n_columns", "n_variables", "n_support", "n_questions", "n_blocks", "n_factors", "n_knots",
    "max_levels", "feature_width", "target",
]  # fmt: skip
MAX_LOG_RATIO = tl.constexpr(20.0)  # discriminant.MAX_LOG_RATIO


@triton.jit
def _predict_mean(output, projected, constants):
    """The mean of a real target; ``projected`` is the mean of its prediction by the factors."""
    share, log_share, own_mean = tl.load(constants), tl.load(constants + 1), tl.load(constants + 4)
    return output + share * (log_share + projected + own_mean)


@triton.jit
def _predict_sd(output, spread, constants):
    """The calibrated standard deviation of a real target."""
    share, log_share, noise = tl.load(constants + 2), tl.load(constants + 3), tl.load(constants + 5)
    floor, stretch, power = tl.load(constants + 6), tl.load(constants + 7), tl.load(constants + 8)
    of_factors = invert_softplus(tl.sqrt(tl.maximum(spread + noise, 0.0)) - floor)
    return calibrated_scale(output + share * (log_share + of_factors), floor, stretch, power)


@triton.jit
def _predict_log_odds(output, projected, spread, constants):
    """The log odds of a binary target."""
    share, log_share, difference = tl.load(constants), tl.load(constants + 1), tl.load(constants + 2)
    middle, noise, prior = tl.load(constants + 3), tl.load(constants + 4), tl.load(constants + 5)
    ratio = difference * (projected - middle) / (spread + noise) + prior
    ratio = tl.minimum(tl.maximum(ratio, -MAX_LOG_RATIO), MAX_LOG_RATIO)
    return output + share * (log_share + ratio)


@triton.jit
def _factor_outputs(x, head, head_bias, CHUNK: tl.constexpr, FACTORS: tl.constexpr,
                    IS_REAL: tl.constexpr):  # fmt: skip
    """What the features of the factors contribute to both outputs; a binary target has one."""
    one = factor_output(x, 0, head, head_bias, CHUNK, FACTORS)
    two = one
    if IS_REAL:
        two = factor_output(x, 1, head, head_bias, CHUNK, FACTORS)
    return one, two


@triton.jit
def _predict(h0, h1, h2, one, two, projected, spread, head, constants,
             CHUNK: tl.constexpr, FACTORS: tl.constexpr, IS_REAL: tl.constexpr):  # fmt: skip
    """Mean and standard deviation of a real target, or twice the log odds of a binary one.

    ``one`` and ``two`` are what the factors contribute to the outputs.
    """
    one += head_output(h0, h1, h2, 0, head, CHUNK, FACTORS)
    if IS_REAL:
        one = _predict_mean(one, projected, constants)
        two = _predict_sd(two + head_output(h0, h1, h2, 1, head, CHUNK, FACTORS), spread, constants)
    else:
        one = _predict_log_odds(one, projected, spread, constants)
        two = one
    return one, two


@triton.jit
def _excess_over_log(x):
    """x - log(1 + x), by its Taylor series where the difference would cancel."""
    series = x * (1 / 5 - x * (1 / 6 - x * (1 / 7 - x / 8)))
    series = x * x * (1 / 2 - x * (1 / 3 - x * (1 / 4 - series)))
    return tl.where(tl.abs(x) < 0.1, series, x - tl.log(1.0 + x))


@triton.jit
def _divergence_and_changes(first, second, before, IS_REAL: tl.constexpr):
    """KL(after || before) in nats, and two changes of moments: `Likelihood.divergence_terms`."""
    first_before = tl.load(before)
    if IS_REAL:
        second_before = tl.load(before + 1)
        ratio = (second - second_before) / second_before
        first_change = (first - first_before) / second_before
        nats = _excess_over_log(ratio) + 0.5 * (ratio * ratio + first_change * first_change)
        second_change = ratio * (2.0 + ratio) + first_change * first_change
    else:
        nats = (first - first_before) / (1.0 + tl.exp(-first)) - softplus(first) + softplus(first_before)
        second_change = 1.0 / (1.0 + tl.exp(-first)) - 1.0 / (1.0 + tl.exp(-first_before))
        first_change = -second_change
    return nats, first_change, second_change


@triton.jit(do_not_specialize=ROW_SIZES)
def row_features(
    first_layer, variance, spread, features, before, target_loadings, constants,
    factor_weight, inner, inner_bias, outer, outer_bias, norm, head, head_bias,
    n_rows, n_variables, n_blocks, n_factors, feature_width, target,
    FACTORS: tl.constexpr, CHUNK: tl.constexpr, ROWS: tl.constexpr, STAGES: tl.constexpr,
    INNER: tl.constexpr, FIRST_PRODUCTS: tl.constexpr, INNER_PRODUCTS: tl.constexpr,
    OUTER_PRODUCTS: tl.constexpr, IS_REAL: tl.constexpr,
):  # fmt: skip
    """Hidden features [rows, feature_width] next to the factors' means, and predictions [rows, 2]."""
    WIDTH: tl.constexpr = 3 * CHUNK
    own = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    is_own, row = own < n_rows, tl.minimum(own, n_rows - 1)
    columns, feature = tl.arange(0, CHUNK)[None, :], tl.arange(0, 2 * FACTORS)[None, :]
    factor, is_mean = feature % FACTORS, feature < FACTORS
    is_factor = factor < n_factors
    mean = features + row[:, None] * feature_width + WIDTH + factor
    x = tl.load(mean, mask=is_factor & is_mean, other=0.0)
    own_variance = variance + row[:, None] * n_factors + factor
    x += tl.load(own_variance, mask=is_factor & (feature >= FACTORS), other=0.0)
    projected = tl.sum(x * tl.load(target_loadings + feature), 1)
    one, two = _factor_outputs(x, head, head_bias, CHUNK, FACTORS, IS_REAL)
    begin = first_layer + row[:, None] * WIDTH + columns
    h0, h1, h2 = tl.load(begin), tl.load(begin + CHUNK), tl.load(begin + 2 * CHUNK)
    h0, h1, h2 = add_factors(
        h0, h1, h2, x, factor_weight, 0, CHUNK, 2 * FACTORS, FACTORS, FIRST_PRODUCTS
    )
    layers = (inner, inner_bias, outer, outer_bias, n_blocks)
    h0, h1, h2 = residual_blocks(
        h0, h1, h2, layers, CHUNK, INNER, STAGES, INNER_PRODUCTS, OUTER_PRODUCTS
    )
    h0, h1, h2 = last_layer(h0, h1, h2, norm, CHUNK)
    place = features + row[:, None] * feature_width + columns
    tl.store(place, h0, mask=is_own[:, None])
    tl.store(place + CHUNK, h1, mask=is_own[:, None])
    tl.store(place + 2 * CHUNK, h2, mask=is_own[:, None])
    own_spread = tl.load(spread + row * n_variables + target)
    one, two = _predict(
        h0, h1, h2, one, two, projected, own_spread, head, constants, CHUNK, FACTORS, IS_REAL
    )
    tl.store(before + 2 * row, one, mask=is_own)
    tl.store(before + 2 * row + 1, two, mask=is_own)


@triton.jit
def _update_factors(cell, innovation, prior, gain, variance_after, target_loadings, n_factors,
                    FACTORS: tl.constexpr):  # fmt: skip
    """Means and variances of the factors after answers [answers, 2 * FACTORS].

    Also projects the means and the gain onto the target's loadings, both [answers].
    """
    feature = tl.arange(0, 2 * FACTORS)[None, :]
    factor, is_mean = feature % FACTORS, feature < FACTORS
    is_factor = factor < n_factors
    own_factor = cell[:, None] * n_factors + factor
    own_gain = tl.load(gain + own_factor, mask=is_factor & is_mean, other=0.0)
    x = tl.load(variance_after + own_factor, mask=is_factor & (feature >= FACTORS), other=0.0)
    x += tl.load(prior[:, None] + factor, mask=is_factor & is_mean, other=0.0)
    x += own_gain * innovation[:, None]
    loadings = tl.load(target_loadings + feature)
    return x, tl.sum(x * loadings, 1), tl.sum(own_gain * loadings, 1)


@triton.jit
def _reduction(gained, spread, precision):
    """By how much an answer reduces the variance of the target's prediction by the factors."""
    noise = 1.0 / tl.where(precision > 0, precision, 1.0)  # without precision, there is no gain
    return gained * gained * (noise + spread)


@triton.jit
def _add_expectation(one, two, before, share, reward, change, is_own, IS_REAL: tl.constexpr):
    """Add the divergence and the changes of predictions, times the ``share`` of their answers."""
    nats, first_change, second_change = _divergence_and_changes(one, two, before, IS_REAL)
    tl.atomic_add(reward, nats * share, mask=is_own)
    tl.atomic_add(change, first_change * share, mask=is_own)
    tl.atomic_add(change + 1, second_change * share, mask=is_own)


@triton.jit(do_not_specialize=ANSWER_SIZES)
def answer_rewards(
    answers, n_answers, values, probabilities, variables, places, questions, before, rewards, changes,
    first_layer, features, expected, spread, gain, variance_after, precision, target_loadings, constants,
    lines, first, knots, start, unit, by_level, input_unit, input_mean, is_category, level_inputs,
    term_weight, factor_weight, inner, inner_bias, outer, outer_bias, norm, head, head_bias,
    n_columns, n_variables, n_support, n_questions, n_blocks, n_factors, n_knots, max_levels,
    feature_width, target,
    TERM: tl.constexpr, FACTORS: tl.constexpr, KNOTS: tl.constexpr, CHUNK: tl.constexpr,
    HAS_RELU: tl.constexpr, HAS_LEVELS: tl.constexpr, ROWS: tl.constexpr, STAGES: tl.constexpr,
    INNER: tl.constexpr, FIRST_PRODUCTS: tl.constexpr, INNER_PRODUCTS: tl.constexpr,
    OUTER_PRODUCTS: tl.constexpr, IS_REAL: tl.constexpr,
):  # fmt: skip
    """Add the expectations of candidate answers to ``rewards`` and ``changes`` [rows, questions, 2]."""
    WIDTH: tl.constexpr = 3 * CHUNK
    begin = tl.program_id(0) * ROWS
    count = tl.load(n_answers)
    if begin >= count:
        return
    own = begin + tl.arange(0, ROWS)
    is_own = own < count
    place = tl.load(answers + own, mask=is_own, other=0)
    row, column = place // n_columns, place % n_columns
    variable = tl.load(variables + column)
    cell = row * n_variables + variable
    value = tl.load(values + row * n_support + tl.load(places + column))
    value = tl.where(is_own, value, 0.0)  # an arbitrary one might be infinite
    inputs = (input_unit, input_mean, is_category, level_inputs)
    innovation = factor_input(value, variable, inputs, max_levels, HAS_LEVELS)
    innovation -= tl.load(expected + cell)
    prior = features + row * feature_width + WIDTH
    x, projected, gained = _update_factors(
        cell, innovation, prior, gain, variance_after, target_loadings, n_factors, FACTORS
    )
    target_spread = tl.load(spread + row * n_variables + target)
    target_spread -= _reduction(gained, tl.load(spread + cell), tl.load(precision + variable))
    one, two = _factor_outputs(x, head, head_bias, CHUNK, FACTORS, IS_REAL)
    layer = first_layer + row[:, None] * WIDTH + tl.arange(0, CHUNK)[None, :]
    h0, h1, h2 = tl.load(layer), tl.load(layer + CHUNK), tl.load(layer + 2 * CHUNK)
    h0, h1, h2 = add_factors(
        h0, h1, h2, x, factor_weight, 0, CHUNK, 2 * FACTORS, FACTORS, FIRST_PRODUCTS
    )
    table = (first, knots, start, unit, by_level)
    segment, distance = locate(value, variable, table, n_knots, KNOTS, HAS_LEVELS)
    line = lines + segment[:, None] * (2 * TERM)
    h0, h1, h2 = add_term(
        h0, h1, h2, line, distance[:, None], term_weight, TERM, CHUNK, HAS_RELU, 1, FIRST_PRODUCTS
    )
    layers = (inner, inner_bias, outer, outer_bias, n_blocks)
    h0, h1, h2 = residual_blocks(
        h0, h1, h2, layers, CHUNK, INNER, STAGES, INNER_PRODUCTS, OUTER_PRODUCTS
    )
    h0, h1, h2 = last_layer(h0, h1, h2, norm, CHUNK)
    one, two = _predict(
        h0, h1, h2, one, two, projected, target_spread, head, constants, CHUNK, FACTORS, IS_REAL
    )
    share = tl.load(probabilities + row * n_support + tl.load(places + column), mask=is_own, other=0.0)
    question = row * n_questions + tl.load(questions + column)
    _add_expectation(
        one, two, before + 2 * row, share, rewards + question, changes + 2 * question, is_own, IS_REAL
    )
