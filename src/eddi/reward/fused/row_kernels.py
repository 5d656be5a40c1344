# mypy: ignore-errors
"""Triton kernels that take rows of evidence to their possible answers, one launch per stage.

They do what `EncoderWeights.code`, `PackedFactors.posterior` and `updates`, and `AnswerSupport` do, for
tables in which every variable is one input of the factors.
"""

import triton
import triton.language as tl

# Sizes of tables: a kernel is compiled once for all of them.
ENCODER_SIZES = ["n_variables", "n_knots", "n_factors", "max_levels"]
POSTERIOR_SIZES = ["n_factors", "width", "feature_width"]
FACTOR_SIZES = ["n_variables", "n_factors", "width", "feature_width"]
POINT_SIZES = ["n_cells", "n_quantities", "n_variables", "n_outputs", "n_columns", "floor"]
LIST_SIZES = ["n_columns", "n_variables", "n_support", "target"]
LINEAR_RANGE = tl.constexpr(3.0)  # products.LINEAR_RANGE
MIN_SCALE = tl.constexpr(1e-4)  # heteroscedastic.MIN_SCALE


@triton.jit
def log1p(x):
    """log(1 + x), also for small x >= 0."""
    return tl.where(x < 1e-2, x * (1.0 - x * (0.5 - x / 3.0)), tl.log(1.0 + x))


@triton.jit
def softplus(x):
    """log(1 + exp(x))."""
    return tl.maximum(x, 0.0) + log1p(tl.exp(-tl.abs(x)))


@triton.jit
def invert_softplus(scale):
    """The x with softplus(x) = scale; scales near 0 or below become MIN_SCALE."""
    scale = tl.maximum(scale, MIN_SCALE)
    series = scale * (1.0 - scale * (0.5 - scale * (1.0 / 6.0 - scale / 24.0)))
    return scale + tl.log(tl.where(scale < 5e-2, series, 1.0 - tl.exp(-scale)))


@triton.jit
def calibrated_scale(raw, floor, stretch, power):
    """The calibrated scale of a quantity for an output of the network."""
    return stretch * tl.exp(power * tl.log(floor + softplus(raw)))


@triton.jit
def locate(value, variable, table, n_knots, KNOTS: tl.constexpr, HAS_LEVELS: tl.constexpr):
    """The segment of each answer [n], and its distance from the start of the segment; see `TermTable`."""
    first, knots, start, unit, by_level = table
    x = value * tl.load(unit + variable)
    knot = tl.arange(0, KNOTS)[None, :]
    edges = tl.load(knots + variable[:, None] * n_knots + knot, mask=knot < n_knots, other=float("inf"))
    segment = tl.load(first + variable)
    count = tl.sum((x[:, None] > edges).to(tl.int32), 1)
    if HAS_LEVELS:
        is_level = tl.load(by_level + variable) != 0
        count = tl.where(is_level, tl.where(is_level, value, 0.0).to(tl.int32), count)
    segment += count
    return segment, x - tl.load(start + segment)


@triton.jit
def factor_input(value, variable, inputs, max_levels, HAS_LEVELS: tl.constexpr):
    """The input of the factors for each answer [n]; see `Factors.inputs`."""
    unit, mean, is_category, level_inputs = inputs
    x = value * tl.load(unit + variable) - tl.load(mean + variable)
    inside = tl.minimum(tl.maximum(x, -LINEAR_RANGE), LINEAR_RANGE)
    excess = log1p(tl.abs(x - inside))
    x = tl.where(x >= inside, inside + excess, inside - excess)
    if HAS_LEVELS:
        is_level = tl.load(is_category + variable) != 0
        level = tl.where(is_level, value, 0.0).to(tl.int32)
        level = tl.minimum(tl.maximum(level, 0), max_levels - 1)
        x = tl.where(is_level, tl.load(level_inputs + variable * max_levels + level), x)
    return x


@triton.jit(do_not_specialize=ENCODER_SIZES)
def encode_rows(
    values, visible, base, lines, first, knots, start, unit, by_level,
    input_unit, input_mean, is_category, level_inputs, weighted_loadings,
    code, information, n_variables, n_knots, n_factors, max_levels,
    TERM: tl.constexpr, FACTORS: tl.constexpr, KNOTS: tl.constexpr, BLOCK: tl.constexpr,
    HAS_RELU: tl.constexpr, HAS_LEVELS: tl.constexpr,
):  # fmt: skip
    """The additive code [rows, TERM] and the information vector of the factors [rows, n_factors]."""
    row = tl.program_id(0)
    width, factor = tl.arange(0, TERM), tl.arange(0, FACTORS)
    total = tl.load(base + width)
    vector = tl.zeros([FACTORS], tl.float32)
    table = (first, knots, start, unit, by_level)
    inputs = (input_unit, input_mean, is_category, level_inputs)
    for begin in range(0, n_variables, BLOCK):
        place = begin + tl.arange(0, BLOCK)
        variable = tl.minimum(place, n_variables - 1)
        cell = row * n_variables + variable
        is_seen = (place < n_variables) & (tl.load(visible + cell) > 0)
        value = tl.load(values + cell, mask=is_seen, other=0.0)
        segment, distance = locate(value, variable, table, n_knots, KNOTS, HAS_LEVELS)
        line = lines + segment[:, None] * (2 * TERM) + width[None, :]
        term = tl.load(line, mask=is_seen[:, None], other=0.0)
        term += distance[:, None] * tl.load(line + TERM, mask=is_seen[:, None], other=0.0)
        if HAS_RELU:
            term = tl.maximum(term, 0.0)
        total += tl.sum(term, 0)
        x = factor_input(value, variable, inputs, max_levels, HAS_LEVELS)
        is_own = is_seen[:, None] & (factor < n_factors)[None, :]
        own = weighted_loadings + variable[:, None] * n_factors + factor[None, :]
        vector += tl.sum(x[:, None] * tl.load(own, mask=is_own, other=0.0), 0)
    tl.store(code + row * TERM + width, total)
    tl.store(information + row * n_factors + factor, vector, mask=factor < n_factors)


@triton.jit
def _invert(matrix, n_factors, FACTORS: tl.constexpr):
    """The inverse of a symmetric positive definite matrix; see `invert_by_elimination`."""
    i, j = tl.arange(0, FACTORS)[:, None], tl.arange(0, FACTORS)[None, :]
    for k in range(n_factors):
        row = tl.sum(tl.where(i == k, matrix, 0.0), 0)[None, :]
        column = tl.sum(tl.where(j == k, matrix, 0.0), 1)[:, None]
        inverse = 1.0 / tl.sum(tl.where(j == k, row, 0.0))
        eliminated = matrix - column * (row * inverse)
        border = tl.where(i == k, row, -column) * inverse
        corner = tl.where((i == k) & (j == k), inverse, border)
        matrix = tl.where((i == k) | (j == k), corner, eliminated)
    return matrix


@triton.jit(do_not_specialize=POSTERIOR_SIZES)
def infer_factors(
    precisions, information, features, variance, covariance, n_factors, width, feature_width,
    FACTORS: tl.constexpr,
):  # fmt: skip
    """The posterior of the factors of a row.

    The means follow the hidden features of the row [rows, feature_width].
    """
    row = tl.program_id(0)
    i, j = tl.arange(0, FACTORS)[:, None], tl.arange(0, FACTORS)[None, :]
    is_inside, is_factor = (i < n_factors) & (j < n_factors), j < n_factors
    entry = row * n_factors * n_factors + i * n_factors + j
    matrix = tl.load(precisions + entry, mask=is_inside, other=0.0) + tl.where(i == j, 1.0, 0.0)
    matrix = _invert(matrix, n_factors, FACTORS)
    vector = tl.load(information + row * n_factors + i, mask=i < n_factors, other=0.0)
    mean = tl.sum(matrix * vector, 0)[None, :]  # the matrix is symmetric
    own_variance = tl.sum(tl.where(i == j, matrix, 0.0), 0)[None, :]
    tl.store(features + row * feature_width + width + j, mean, mask=is_factor)
    tl.store(variance + row * n_factors + j, own_variance, mask=is_factor)
    tl.store(covariance + entry, matrix, mask=is_inside)


@triton.jit(do_not_specialize=FACTOR_SIZES)
def update_factors(
    features, variance, covariance, loadings, precision, expected, spread, gain, variance_after,
    n_variables, n_factors, width, feature_width, FACTORS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """What an answer to each variable does to the posterior of the factors of a row.

    See `FactorUpdates` for the results; ``spread`` is the variance of each variable's prediction without
    noise [rows, variables].
    """
    row, place = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    i, j = tl.arange(0, FACTORS)[:, None], tl.arange(0, FACTORS)[None, :]
    is_factor, is_own = j < n_factors, place < n_variables
    entry = covariance + row * n_factors * n_factors + i * n_factors + j
    matrix = tl.load(entry, mask=(i < n_factors) & is_factor, other=0.0)
    mean = tl.load(features + row * feature_width + width + j, mask=is_factor, other=0.0)
    own_variance = tl.load(variance + row * n_factors + j, mask=is_factor, other=0.0)
    cell = row * n_variables + place
    inside = is_own[:, None] & is_factor
    weights = tl.load(loadings + place[:, None] * n_factors + j, mask=inside, other=0.0)
    projected = tl.dot(weights, matrix, input_precision="ieee")
    own_spread = tl.sum(projected * weights, 1)
    own_precision = tl.load(precision + place, mask=is_own, other=0.0)
    own_gain = (own_precision / (1.0 + own_precision * own_spread))[:, None] * projected
    tl.store(expected + cell, tl.sum(weights * mean, 1), mask=is_own)
    tl.store(spread + cell, own_spread, mask=is_own)
    tl.store(gain + cell[:, None] * n_factors + j, own_gain, mask=inside)
    after = own_variance - own_gain * projected
    tl.store(variance_after + cell[:, None] * n_factors + j, after, mask=inside)


@triton.jit(do_not_specialize=POINT_SIZES)
def enumerate_points(
    outputs, expected, spread, variables, atoms, second_moments, quantity, points,
    values, probabilities, n_cells, n_quantities, n_variables, n_outputs, n_columns, floor,
    ATOMS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Possible answers to the quantities, with their probabilities; see `QuantitySupport`.

    ``outputs`` [rows, n_outputs] are the logits of the atoms, then means, then scales. ``quantity`` [9,
    quantities] are constants, and ``points`` [2, ATOMS] the standard normal points and their probabilities.
    """
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    is_own = place < n_cells
    place = tl.minimum(place, n_cells - 1)
    row, own = place // n_quantities, place % n_quantities
    atom = tl.arange(0, ATOMS)[None, :]
    own_atom = own[:, None] * ATOMS + atom
    logits = tl.load(outputs + row[:, None] * n_outputs + own_atom)
    shares = tl.exp(logits - tl.max(logits, 1)[:, None])
    shares = shares / tl.sum(shares, 1)[:, None]
    value = tl.load(atoms + own_atom)
    mean = tl.sum(shares * value, 1)
    variance = tl.sum(shares * tl.load(second_moments + own_atom), 1) - mean * mean
    cell = row * n_variables + tl.load(variables + own)
    constant = quantity + own
    raw_place = outputs + row * n_outputs + n_quantities * ATOMS + own
    noisy = tl.load(spread + cell) + tl.load(constant + 5 * n_quantities)
    factor_mean = tl.load(expected + cell) + tl.load(constant + 4 * n_quantities)
    factor_raw = invert_softplus(tl.sqrt(tl.maximum(noisy, 0.0)) - floor)
    factor_mean += tl.load(constant + 2 * n_quantities)
    factor_raw += tl.load(constant + 3 * n_quantities)
    predicted = tl.load(raw_place) + tl.load(constant) * factor_mean
    raw = tl.load(raw_place + n_quantities) + tl.load(constant + n_quantities) * factor_raw
    stretch, power = tl.load(constant + 6 * n_quantities), tl.load(constant + 7 * n_quantities)
    sd = calibrated_scale(raw, floor, stretch, power)
    is_coarse = (variance > tl.load(constant + 8 * n_quantities) * sd * sd)[:, None]
    value = tl.where(is_coarse, predicted[:, None] + sd[:, None] * tl.load(points + atom), value)
    shares = tl.where(is_coarse, tl.load(points + ATOMS + atom), shares)
    column = row[:, None] * n_columns + own_atom
    tl.store(values + column, value, mask=is_own[:, None])
    tl.store(probabilities + column, shares, mask=is_own[:, None])


@triton.jit(do_not_specialize=LIST_SIZES)
def list_answers(
    probabilities, observed, variables, places, answers, n_answers,
    n_columns, n_variables, n_support, target, BLOCK: tl.constexpr,
):  # fmt: skip
    """Positions [rows * columns] of the candidate answers in ``answers``, and their number.

    An answer is a candidate if its variable and the target are unobserved, and it is possible. The
    answers of a row are adjacent and in order.
    """
    row = tl.program_id(0)
    is_known = tl.load(observed + row * n_variables + target).to(tl.int32)
    n_open = n_columns * (1 - is_known)
    for begin in range(0, n_open, BLOCK):
        column = begin + tl.arange(0, BLOCK)
        is_own = column < n_open
        variable = tl.load(variables + column, mask=is_own, other=0)
        place = tl.load(places + column, mask=is_own, other=0)
        is_unknown = tl.load(observed + row * n_variables + variable, mask=is_own, other=1) == 0
        share = tl.load(probabilities + row * n_support + place, mask=is_own, other=0.0)
        is_candidate = (is_own & is_unknown & (share > 0)).to(tl.int32)
        count = tl.sum(is_candidate)
        if count > 0:
            position = tl.atomic_add(n_answers, count) + tl.cumsum(is_candidate, 0) - 1
            tl.store(answers + position, row * n_columns + column, mask=is_candidate != 0)
