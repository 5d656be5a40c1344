# mypy: ignore-errors
"""Triton kernels of the latent reward: from an answer's value to its divergence in registers.

The tail's weights stay in shared memory while draw after draw passes through them. No activation is
written to memory. Tensor cores multiply float16 numbers, so an activation is split into a float16 number
and a float16 remainder. So are the weights of the first layer, whose rounding affects rewards most.
Biases are rows of the weights, multiplied by constant units (see `triton_backend.PackedNetwork`).
"""

import triton
import triton.language as tl

MIN_LOG_VAR = tl.constexpr(-12.0)  # as `network.LOG_VAR_RANGE`
MAX_LOG_VAR = tl.constexpr(8.0)


@triton.jit
def _relu(x):
    """Relu that propagates NaN as torch does, so that an overflow shows in the result."""
    return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _split_float16(x):
    """x as a float16 number and a float16 remainder."""
    high = x.to(tl.float16)
    return high, (x - high.to(tl.float32)).to(tl.float16)


@triton.jit
def _first_layer(x, weight, weight_remainder):
    """x @ weight for the first layer, without the product of both remainders."""
    high, remainder = _split_float16(x)
    total = tl.dot(remainder, weight)
    total = tl.dot(high, weight_remainder, total)
    return tl.dot(high, weight, total)


@triton.jit
def _multiply_add(x, weight, total):
    """total + x @ weight."""
    high, remainder = _split_float16(x)
    return tl.dot(high, weight, tl.dot(remainder, weight, total))


@triton.jit
def _block(matrix, row, column, n_rows: tl.constexpr, n_columns: tl.constexpr, stride):
    """The block [n_rows, n_columns] of a matrix that begins at this row and column."""
    rows, columns = row + tl.arange(0, n_rows), column + tl.arange(0, n_columns)
    return tl.load(matrix + rows[:, None] * stride + columns[None, :])


@triton.jit
def _weights(first, second, last, WIDTH: tl.constexpr, CHUNK: tl.constexpr, N_CHUNKS: tl.constexpr,
             INNER: tl.constexpr, OUT: tl.constexpr):  # fmt: skip
    """The three layers; the first two in one or two chunks of hidden units that fit into registers."""
    HIDDEN: tl.constexpr = CHUNK * N_CHUNKS
    first_a = _block(first, 0, 0, WIDTH, CHUNK, HIDDEN)
    first_remainder_a = _block(first, WIDTH, 0, WIDTH, CHUNK, HIDDEN)
    second_a = _block(second, 0, 0, CHUNK, INNER, INNER)
    first_b, first_remainder_b, second_b = first_a, first_remainder_a, second_a
    if N_CHUNKS == 2:
        first_b = _block(first, 0, CHUNK, WIDTH, CHUNK, HIDDEN)
        first_remainder_b = _block(first, WIDTH, CHUNK, WIDTH, CHUNK, HIDDEN)
        second_b = _block(second, CHUNK, 0, CHUNK, INNER, INNER)
    out = _block(last, 0, 0, INNER, OUT, OUT)
    return first_a, first_remainder_a, second_a, first_b, first_remainder_b, second_b, out


@triton.jit
def _tail(x, weights, N_CHUNKS: tl.constexpr, INNER: tl.constexpr, OUT: tl.constexpr):
    """Mean and log variance side by side [rows, OUT] of codes [rows, WIDTH]."""
    first_a, first_remainder_a, second_a, first_b, first_remainder_b, second_b, out = weights
    ROWS: tl.constexpr = x.shape[0]
    hidden = _relu(_first_layer(x, first_a, first_remainder_a))
    inner = _multiply_add(hidden, second_a, tl.zeros([ROWS, INNER], tl.float32))
    if N_CHUNKS == 2:
        inner = _multiply_add(_relu(_first_layer(x, first_b, first_remainder_b)), second_b, inner)
    return _multiply_add(_relu(inner), out, tl.zeros([ROWS, OUT], tl.float32))


@triton.jit
def _split_moments(both):
    """Means and log variances [rows, OUT / 2]."""
    return tl.split(both.reshape(both.shape[0], both.shape[1] // 2, 2))


@triton.jit
def _clamp_log_var(log_var):
    return tl.minimum(tl.maximum(log_var, MIN_LOG_VAR), MAX_LOG_VAR)


@triton.jit
def _term(row_values, variable, slope, offset, width):
    """The terms of one variable [rows, WIDTH]."""
    slope_block = tl.load(slope + variable * width.shape[0] + width)[None, :]
    offset_block = tl.load(offset + variable * width.shape[0] + width)[None, :]
    return _relu(tl.load(row_values + variable)[:, None] * slope_block + offset_block)


@triton.jit
def sum_terms(values, unobserved, slope, offset, starts, variables, terms, n_rows, n_variables,
         ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """Sum the terms of all variables that a question reveals: terms [draws, questions, rows, WIDTH]."""
    question, draw = tl.program_id(1), tl.program_id(2)
    place = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row, width = tl.minimum(place, n_rows - 1), tl.arange(0, WIDTH)
    row_values = values + (draw * n_rows + row) * n_variables
    total = tl.zeros([ROWS, WIDTH], tl.float32)
    for edge in range(tl.load(starts + question), tl.load(starts + question + 1)):
        variable = tl.load(variables + edge)
        new = tl.load(unobserved + row * n_variables + variable)[:, None]
        total += _term(row_values, variable, slope, offset, width) * new
    index = (draw * tl.num_programs(1) + question) * n_rows + place
    tl.store(terms + index[:, None] * WIDTH + width[None, :], total, mask=(place < n_rows)[:, None])


@triton.jit
def find_open_rows(unobserved, target_unobserved, starts, variables, order, n_open, n_rows,
                   n_variables, target_stride, BATCH: tl.constexpr):  # fmt: skip
    """For each question, the rows it is open for, at the front of ``order`` [questions, rows].

    ``n_open`` [questions] is their number. A question is open for a row if it would reveal something
    new and part of the target is unobserved.
    """
    question, n_before = tl.program_id(0), 0
    for begin in range(0, n_rows, BATCH):
        row = begin + tl.arange(0, BATCH)
        new = tl.zeros([BATCH], tl.float32)
        for edge in range(tl.load(starts + question), tl.load(starts + question + 1)):
            cell = unobserved + row * n_variables + tl.load(variables + edge)
            new = tl.maximum(new, tl.load(cell, mask=row < n_rows, other=0.0))
        new *= tl.load(target_unobserved + row * target_stride, mask=row < n_rows, other=0.0)
        is_open = (new > 0).to(tl.int32)
        place = n_before + tl.cumsum(is_open, 0) - 1
        tl.store(order + question * n_rows + place, row, mask=is_open > 0)
        n_before += tl.sum(is_open, 0)
    tl.store(n_open + question, n_before)


@triton.jit
def encode_targets(values, terms, slope, offset, variables, first, second, last, code, codes, posteriors,
         n_rows, n_conditions, n_variables, n_width, conditions_per_program, SINGLE: tl.constexpr,
         ROWS: tl.constexpr, WIDTH: tl.constexpr, CHUNK: tl.constexpr, N_CHUNKS: tl.constexpr,
         INNER: tl.constexpr, OUT: tl.constexpr):  # fmt: skip
    """Codes [conditions, rows, WIDTH] and posteriors [conditions, rows, OUT].

    Condition 0 is the evidence; condition d + 1 is the evidence and draw d of the target.
    """
    weights = _weights(first, second, last, WIDTH, CHUNK, N_CHUNKS, INNER, OUT)
    place = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row, is_row = tl.minimum(place, n_rows - 1), (place < n_rows)[:, None]
    width, both = tl.arange(0, WIDTH), tl.arange(0, OUT)
    evidence_code = tl.load(
        code + row[:, None] * n_width + width[None, :], mask=(width < n_width)[None, :], other=0
    )
    evidence_code += (width == n_width)[None, :].to(tl.float32)  # the constant unit of the biases
    begin = tl.program_id(1) * conditions_per_program
    for condition in range(begin, tl.minimum(begin + conditions_per_program, n_conditions)):
        target_code = evidence_code
        if condition > 0:
            if SINGLE:
                row_values = values + ((condition - 1) * n_rows + row) * n_variables
                target_code = evidence_code + _term(row_values, tl.load(variables), slope, offset, width)
            else:
                index = ((condition - 1) * n_rows + row)[:, None] * WIDTH + width[None, :]
                target_code = evidence_code + tl.load(terms + index)
        index = (condition * n_rows + place)[:, None]
        tl.store(codes + index * WIDTH + width[None, :], target_code, mask=is_row)
        mean, log_var = _split_moments(_tail(target_code, weights, N_CHUNKS, INNER, OUT))
        posterior = tl.interleave(mean, _clamp_log_var(log_var))
        tl.store(posteriors + index * OUT + both[None, :], posterior, mask=is_row)


@triton.jit
def _condition_index(step, row, n_rows):
    """Row of the condition of a step: even steps use the evidence, odd ones the draw's target, too."""
    return step % 2 * (step // 2 + 1) * n_rows + row


@triton.jit
def compute_gains(values, terms, slope, offset, variables, order, n_open, first, second, last,
         codes, posteriors, rewards, n_rows, n_questions, n_draws, n_variables, min_draws,
         SINGLE: tl.constexpr, QUESTIONS: tl.constexpr,
         ROWS: tl.constexpr, WIDTH: tl.constexpr, CHUNK: tl.constexpr, N_CHUNKS: tl.constexpr,
         INNER: tl.constexpr, OUT: tl.constexpr):  # fmt: skip
    """The rewards of all pairs of a row and an open question; each program takes equally many draws.

    A block is a set of rows that one question is open for. Its draws may be shared by several programs,
    each of which writes its part: the result is the sum over the parts of ``rewards`` [parts, questions,
    rows].
    """
    LATENT: tl.constexpr = OUT // 2
    weights = _weights(first, second, last, WIDTH, CHUNK, N_CHUNKS, INNER, OUT)
    width, both, questions = tl.arange(0, WIDTH), tl.arange(0, OUT), tl.arange(0, QUESTIONS)
    open_rows = tl.load(n_open + questions, mask=questions < n_questions, other=0)
    ends = tl.cumsum(tl.cdiv(open_rows, ROWS), 0)  # end of each question's blocks
    n_blocks = tl.max(ends, 0)
    draws_per_program = tl.maximum(tl.cdiv(n_blocks * n_draws, tl.num_programs(0)), min_draws)
    begin = tl.program_id(0) * draws_per_program
    end = tl.minimum(begin + draws_per_program, n_blocks * n_draws)
    for block in range(begin // n_draws, tl.cdiv(end, n_draws)):
        question = tl.sum((ends <= block).to(tl.int32), 0)
        block_of_question = block - tl.max(tl.where(ends <= block, ends, 0), 0)
        place = block_of_question * ROWS + tl.arange(0, ROWS)
        is_row = place < tl.load(n_open + question)
        row = tl.load(order + question * n_rows + place, mask=is_row, other=0)
        variable = tl.load(variables + question)
        total = tl.zeros([ROWS, LATENT], tl.float32)
        start, stop = tl.maximum(begin - block * n_draws, 0), tl.minimum(end - block * n_draws, n_draws)
        first_index = _condition_index(2 * start, row, n_rows)
        next_posterior = tl.load(posteriors + first_index[:, None] * OUT + both[None, :])
        for step in range(2 * start, 2 * stop):
            draw = step // 2
            if SINGLE:
                row_values = values + (draw * n_rows + row) * n_variables
                term = _term(row_values, variable, slope, offset, width)
            else:
                index = (draw * n_questions + question) * n_rows + row
                term = tl.load(terms + index[:, None] * WIDTH + width[None, :])
            code_index = _condition_index(step, row, n_rows)
            code = tl.load(codes + code_index[:, None] * WIDTH + width[None, :])
            posterior = next_posterior  # loaded one step earlier, to hide the latency
            following = _condition_index(tl.minimum(step + 1, 2 * n_draws - 1), row, n_rows)
            next_posterior = tl.load(posteriors + following[:, None] * OUT + both[None, :])
            mean, log_var = _split_moments(_tail(code + term, weights, N_CHUNKS, INNER, OUT))
            mean_before, before = _split_moments(posterior)
            shift, log_var = mean - mean_before, _clamp_log_var(log_var)
            # Twice the divergence of `Posterior.kl`, without a constant that cancels in the difference.
            nats = shift * shift * tl.exp(-before) + tl.exp(log_var - before) - log_var + before
            total += nats * (1 - 2 * (step % 2))  # the second term of the reward
        part = tl.program_id(0) - block * n_draws // draws_per_program
        index = rewards + (part * n_questions + question) * n_rows + row
        tl.store(index, tl.sum(total, 1) * (0.5 / n_draws), mask=is_row)
