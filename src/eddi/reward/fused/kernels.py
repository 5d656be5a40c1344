# mypy: ignore-errors
"""The residual tail in Triton, and the kernel that gives the outputs of the target after candidate answers.

A program takes a block of answers through the whole residual tail. No activation is written to memory, and
the weights are read from the cache. Tensor cores multiply float16 numbers, so activations and weights are
split into a float16 number and a float16 remainder. Three of their four products give the accuracy of
float32; the two products without the remainders of the weights are exact for a network whose weights are
rounded. A hidden layer is three chunks of CHUNK units, since Triton needs sizes that are powers of two.
"""

import triton
import triton.language as tl

EPSILON = tl.constexpr(1e-5)  # of a layer norm, as in torch
MAX_FLOAT16 = tl.constexpr(65504.0)


@triton.jit
def _split(x):
    """x as a float16 number and a float16 remainder."""
    x = tl.minimum(tl.maximum(x, -MAX_FLOAT16), MAX_FLOAT16)
    high = x.to(tl.float16)
    return high, (x - high.to(tl.float32)).to(tl.float16)


@triton.jit
def _tile(weight, row, column, WIDTH: tl.constexpr, DEPTH: tl.constexpr, COLUMNS: tl.constexpr):
    """The block [DEPTH, COLUMNS] of a weight that begins at this row and column."""
    rows, columns = row + tl.arange(0, DEPTH), column + tl.arange(0, COLUMNS)
    return tl.load(weight + rows[:, None] * WIDTH + columns[None, :])


@triton.jit
def _multiply(high, low, weight, row, column, total, n_rows, WIDTH: tl.constexpr,
              DEPTH: tl.constexpr, COLUMNS: tl.constexpr, N_PRODUCTS: tl.constexpr):  # fmt: skip
    """total + x @ a block of a weight.

    The remainders of a weight [n_rows, WIDTH] follow it in memory. One product leaves out the remainders
    of x, too.
    """
    tile = _tile(weight, row, column, WIDTH, DEPTH, COLUMNS)
    if N_PRODUCTS > 1:
        total = tl.dot(low, tile, total)
    if N_PRODUCTS > 2:
        total = tl.dot(high, _tile(weight, n_rows + row, column, WIDTH, DEPTH, COLUMNS), total)
    return tl.dot(high, tile, total)


@triton.jit
def _multiply_all(high, low, weight, row, h0, h1, h2, n_rows, CHUNK: tl.constexpr, DEPTH: tl.constexpr,
                  N_PRODUCTS: tl.constexpr):  # fmt: skip
    """Add x @ DEPTH rows of a weight to three chunks. All tiles are loaded before the first product."""
    WIDTH: tl.constexpr = 3 * CHUNK
    tile0 = _tile(weight, row, 0, WIDTH, DEPTH, CHUNK)
    tile1 = _tile(weight, row, CHUNK, WIDTH, DEPTH, CHUNK)
    tile2 = _tile(weight, row, 2 * CHUNK, WIDTH, DEPTH, CHUNK)
    if N_PRODUCTS > 2:
        h0 = tl.dot(high, _tile(weight, n_rows + row, 0, WIDTH, DEPTH, CHUNK), h0)
        h1 = tl.dot(high, _tile(weight, n_rows + row, CHUNK, WIDTH, DEPTH, CHUNK), h1)
        h2 = tl.dot(high, _tile(weight, n_rows + row, 2 * CHUNK, WIDTH, DEPTH, CHUNK), h2)
    if N_PRODUCTS > 1:
        h0 = tl.dot(low, tile0, h0)
        h1 = tl.dot(low, tile1, h1)
        h2 = tl.dot(low, tile2, h2)
    h0 = tl.dot(high, tile0, h0)
    h1 = tl.dot(high, tile1, h1)
    h2 = tl.dot(high, tile2, h2)
    return h0, h1, h2


@triton.jit
def _normalise(h0, h1, h2, WIDTH: tl.constexpr):
    """Three chunks with mean 0 and variance 1 in each row."""
    mean = (tl.sum(h0, 1) + tl.sum(h1, 1) + tl.sum(h2, 1)) / WIDTH
    h0, h1, h2 = h0 - mean[:, None], h1 - mean[:, None], h2 - mean[:, None]
    variance = (tl.sum(h0 * h0, 1) + tl.sum(h1 * h1, 1) + tl.sum(h2 * h2, 1)) / WIDTH
    scale = tl.rsqrt(variance + EPSILON)[:, None]
    return h0 * scale, h1 * scale, h2 * scale


@triton.jit
def _block(h0, h1, h2, layers, CHUNK: tl.constexpr, INNER: tl.constexpr, STAGES: tl.constexpr,
           INNER_PRODUCTS: tl.constexpr, OUTER_PRODUCTS: tl.constexpr):  # fmt: skip
    """A residual block: h + outer relu(inner norm(h)), INNER units after the other."""
    inner, inner_bias, outer, outer_bias = layers
    WIDTH: tl.constexpr = 3 * CHUNK
    n0, n1, n2 = _normalise(h0, h1, h2, WIDTH)
    high0, low0 = _split(n0)
    high1, low1 = _split(n1)
    high2, low2 = _split(n2)
    columns = tl.arange(0, CHUNK)
    for start in tl.range(0, WIDTH, INNER, num_stages=STAGES):
        bias = tl.load(inner_bias + start + tl.arange(0, INNER))
        a = tl.zeros([h0.shape[0], INNER], tl.float32) + bias[None, :]
        a = _multiply(high0, low0, inner, 0, start, a, WIDTH, WIDTH, CHUNK, INNER, INNER_PRODUCTS)
        a = _multiply(high1, low1, inner, CHUNK, start, a, WIDTH, WIDTH, CHUNK, INNER, INNER_PRODUCTS)
        a = _multiply(
            high2, low2, inner, 2 * CHUNK, start, a, WIDTH, WIDTH, CHUNK, INNER, INNER_PRODUCTS
        )
        high, low = _split(tl.maximum(a, 0.0))
        h0, h1, h2 = _multiply_all(
            high, low, outer, start, h0, h1, h2, WIDTH, CHUNK, INNER, OUTER_PRODUCTS
        )
    h0 += tl.load(outer_bias + columns)[None, :]
    h1 += tl.load(outer_bias + CHUNK + columns)[None, :]
    h2 += tl.load(outer_bias + 2 * CHUNK + columns)[None, :]
    return h0, h1, h2


@triton.jit
def residual_blocks(h0, h1, h2, layers, CHUNK: tl.constexpr, INNER: tl.constexpr, STAGES: tl.constexpr,
                    INNER_PRODUCTS: tl.constexpr, OUTER_PRODUCTS: tl.constexpr):  # fmt: skip
    """All residual blocks."""
    inner, inner_bias, outer, outer_bias, n_blocks = layers
    WIDTH: tl.constexpr = 3 * CHUNK
    for number in tl.range(0, n_blocks, num_stages=1):
        matrix, bias = number * 2 * WIDTH * WIDTH, number * WIDTH
        own = (inner + matrix, inner_bias + bias, outer + matrix, outer_bias + bias)
        h0, h1, h2 = _block(h0, h1, h2, own, CHUNK, INNER, STAGES, INNER_PRODUCTS, OUTER_PRODUCTS)
    return h0, h1, h2


@triton.jit
def add_factors(h0, h1, h2, x, factor_weight, row, CHUNK: tl.constexpr, DEPTH: tl.constexpr,
                FACTORS: tl.constexpr, N_PRODUCTS: tl.constexpr):  # fmt: skip
    """Add the product of features of the factors [answers, DEPTH] and their part of the first layer.

    The features belong to the weights from ``row`` on: means, then variances.
    """
    high, low = _split(x)
    return _multiply_all(
        high, low, factor_weight, row, h0, h1, h2, 2 * FACTORS, CHUNK, DEPTH, N_PRODUCTS
    )


@triton.jit
def _activate(h, norm, start, CHUNK: tl.constexpr):
    """relu(scale h + shift) of the last norm."""
    columns = start + tl.arange(0, CHUNK)
    scale, shift = tl.load(norm + columns), tl.load(norm + 3 * CHUNK + columns)
    return tl.maximum(h * scale[None, :] + shift[None, :], 0.0)


@triton.jit
def _update_factors(place, row, cell, inputs, prior_mean, expected, gain, n_factors,
                    N_INPUTS: tl.constexpr, FACTORS: tl.constexpr):  # fmt: skip
    """Means of the factors after answers [answers, FACTORS], 0 for padding."""
    factor = tl.arange(0, FACTORS)[None, :]
    is_factor = factor < n_factors
    mean = tl.load(prior_mean + row[:, None] * n_factors + factor, mask=is_factor, other=0.0)
    for k in tl.static_range(N_INPUTS):
        own_input = cell * N_INPUTS + k
        innovation = tl.load(inputs + place * N_INPUTS + k) - tl.load(expected + own_input)
        weight = tl.load(gain + own_input[:, None] * n_factors + factor, mask=is_factor, other=0.0)
        mean += weight * innovation[:, None]
    return mean


@triton.jit
def add_term(h0, h1, h2, line, distance, term_weight, TERM: tl.constexpr, CHUNK: tl.constexpr,
              HAS_RELU: tl.constexpr, STAGES: tl.constexpr, N_PRODUCTS: tl.constexpr):  # fmt: skip
    """Add each answer's term of the set code: the intercept of its spline segment plus distance * slope."""
    columns = tl.arange(0, CHUNK)[None, :]
    for k in tl.range(0, TERM, CHUNK, num_stages=STAGES):
        term = tl.load(line + k + columns) + distance * tl.load(line + TERM + k + columns)
        if HAS_RELU:
            term = tl.maximum(term, 0.0)
        high, low = _split(term)
        h0, h1, h2 = _multiply_all(high, low, term_weight, k, h0, h1, h2, TERM, CHUNK, CHUNK, N_PRODUCTS)
    return h0, h1, h2


@triton.jit
def last_layer(h0, h1, h2, norm, CHUNK: tl.constexpr):
    """The last norm and its activation."""
    h0, h1, h2 = _normalise(h0, h1, h2, 3 * CHUNK)
    h0 = _activate(h0, norm, 0, CHUNK)
    h1 = _activate(h1, norm, CHUNK, CHUNK)
    return h0, h1, _activate(h2, norm, 2 * CHUNK, CHUNK)


@triton.jit
def factor_output(x, output, head, head_bias, CHUNK: tl.constexpr, FACTORS: tl.constexpr):
    """What the means of the factors and the bias contribute to an output of the target's head.

    The features of the factors [answers, n] begin with the means.
    """
    factor = tl.arange(0, x.shape[1])
    own_head = head + output * (3 * CHUNK + FACTORS) + 3 * CHUNK
    weight = tl.load(own_head + factor, mask=factor < FACTORS, other=0.0)
    return tl.load(head_bias + output) + tl.sum(x * weight[None, :], 1)


@triton.jit
def head_output(h0, h1, h2, output, head, CHUNK: tl.constexpr, FACTORS: tl.constexpr):
    """What hidden features contribute to an output of the target's head."""
    own_head = head + output * (3 * CHUNK + FACTORS) + tl.arange(0, CHUNK)
    total = tl.sum(h0 * tl.load(own_head)[None, :], 1)
    total += tl.sum(h1 * tl.load(own_head + CHUNK)[None, :], 1)
    return total + tl.sum(h2 * tl.load(own_head + 2 * CHUNK)[None, :], 1)


@triton.jit
def target_outputs(
    answers, n_answers, variables, segments, distances, inputs,
    first, prior_mean, expected, gain, variance, lines,
    term_weight, factor_weight, inner, inner_bias, outer, outer_bias, norm, head, head_bias,
    outputs, means,
    n_columns, n_variables, n_blocks, n_factors, n_outputs,
    N_INPUTS: tl.constexpr, TERM: tl.constexpr, FACTORS: tl.constexpr,
    CHUNK: tl.constexpr, HAS_RELU: tl.constexpr, ROWS: tl.constexpr, STAGES: tl.constexpr,
    INNER: tl.constexpr, FIRST_PRODUCTS: tl.constexpr, INNER_PRODUCTS: tl.constexpr,
    OUTER_PRODUCTS: tl.constexpr,
):  # fmt: skip
    """Outputs of the target's head [rows * columns, n_outputs] and means of the factors after answers.

    ``answers`` are the positions [rows * columns] of the candidates, of which there are ``n_answers``. See
    `packed_tail` for the other arguments.
    """
    WIDTH: tl.constexpr = 3 * CHUNK
    start = tl.program_id(0) * ROWS
    count = tl.load(n_answers)
    if start >= count:
        return
    own = start + tl.arange(0, ROWS)
    is_own = own < count
    place = tl.load(answers + own, mask=is_own, other=0)
    row, column = place // n_columns, place % n_columns
    cell = row * n_variables + tl.load(variables + column)
    factor = tl.arange(0, FACTORS)[None, :]
    is_factor = factor < n_factors
    mean = _update_factors(
        place, row, cell, inputs, prior_mean, expected, gain, n_factors, N_INPUTS, FACTORS
    )
    tl.store(means + place[:, None] * n_factors + factor, mean, mask=is_own[:, None] & is_factor)
    begin = first + row[:, None] * WIDTH + tl.arange(0, CHUNK)[None, :]
    h0, h1, h2 = tl.load(begin), tl.load(begin + CHUNK), tl.load(begin + 2 * CHUNK)
    spread = tl.load(variance + cell[:, None] * n_factors + factor, mask=is_factor, other=0.0)
    h0, h1, h2 = add_factors(h0, h1, h2, mean, factor_weight, 0, CHUNK, FACTORS, FACTORS, FIRST_PRODUCTS)
    h0, h1, h2 = add_factors(
        h0, h1, h2, spread, factor_weight, FACTORS, CHUNK, FACTORS, FACTORS, FIRST_PRODUCTS
    )
    line = lines + tl.load(segments + place)[:, None] * (2 * TERM)
    distance = tl.load(distances + place)[:, None]
    h0, h1, h2 = add_term(
        h0, h1, h2, line, distance, term_weight, TERM, CHUNK, HAS_RELU, STAGES, FIRST_PRODUCTS
    )
    layers = (inner, inner_bias, outer, outer_bias, n_blocks)
    h0, h1, h2 = residual_blocks(
        h0, h1, h2, layers, CHUNK, INNER, STAGES, INNER_PRODUCTS, OUTER_PRODUCTS
    )
    h0, h1, h2 = last_layer(h0, h1, h2, norm, CHUNK)
    for output in tl.range(0, n_outputs, num_stages=1):
        total = factor_output(mean, output, head, head_bias, CHUNK, FACTORS)
        total += head_output(h0, h1, h2, output, head, CHUNK, FACTORS)
        tl.store(outputs + place * n_outputs + output, total, mask=is_own)
