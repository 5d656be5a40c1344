# mypy: ignore-errors
"""The latent reward's inner loops in Triton: from an answer's value to its divergence in registers.

A tail's weights stay in shared memory while draw after draw passes through them; no activation is ever
written out. Tensor cores multiply float16 numbers, so an activation goes through them in two parts, what
float16 holds of it and what it holds of the rest, and the first layer's weights too: their rounding is
what rewards suffer from most. Biases are rows of the weights which constant units multiply
(`fused.Packed` lays them out).
"""

import triton
import triton.language as tl

LOWEST = tl.constexpr(-12.0)  # of log variances, as `network.LOG_VAR_RANGE`
HIGHEST = tl.constexpr(8.0)


@triton.jit
def _relu(x):
    """As torch has it: what is no number stays none, so that an overflow is seen in the end."""
    return tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def _parts(x):
    high = x.to(tl.float16)
    return high, (x - high.to(tl.float32)).to(tl.float16)


@triton.jit
def _entered(x, weight, rest_of_weight):
    """x @ weight for the first layer, less the product of what is left of both."""
    high, rest = _parts(x)
    total = tl.dot(rest, weight)
    total = tl.dot(high, rest_of_weight, total)
    return tl.dot(high, weight, total)


@triton.jit
def _times(x, weight, total):
    """total + x @ weight."""
    high, rest = _parts(x)
    return tl.dot(high, weight, tl.dot(rest, weight, total))


@triton.jit
def _block(at, row, column, n_rows: tl.constexpr, n_columns: tl.constexpr, stride):
    """[n_rows, n_columns] of a matrix from this row and column on."""
    rows, columns = row + tl.arange(0, n_rows), column + tl.arange(0, n_columns)
    return tl.load(at + rows[:, None] * stride + columns[None, :])


@triton.jit
def _weights(first, second, last, WIDTH: tl.constexpr, CHUNK: tl.constexpr, N_CHUNKS: tl.constexpr,
             INNER: tl.constexpr, OUT: tl.constexpr):  # fmt: skip
    """The three layers; the first two in one or two chunks of hidden units, to fit into registers."""
    HIDDEN: tl.constexpr = CHUNK * N_CHUNKS
    into = _block(first, 0, 0, WIDTH, CHUNK, HIDDEN)
    into_rest = _block(first, WIDTH, 0, WIDTH, CHUNK, HIDDEN)
    onward = _block(second, 0, 0, CHUNK, INNER, INNER)
    more, more_rest, onward_more = into, into_rest, onward
    if N_CHUNKS == 2:
        more = _block(first, 0, CHUNK, WIDTH, CHUNK, HIDDEN)
        more_rest = _block(first, WIDTH, CHUNK, WIDTH, CHUNK, HIDDEN)
        onward_more = _block(second, CHUNK, 0, CHUNK, INNER, INNER)
    return into, into_rest, onward, more, more_rest, onward_more, _block(last, 0, 0, INNER, OUT, OUT)


@triton.jit
def _tail(x, weights, N_CHUNKS: tl.constexpr, INNER: tl.constexpr, OUT: tl.constexpr):
    """Mean and log variance side by side [rows, OUT] of codes [rows, WIDTH]."""
    into, into_rest, onward, more, more_rest, onward_more, out = weights
    ROWS: tl.constexpr = x.shape[0]
    hidden = _relu(_entered(x, into, into_rest))
    inner = _times(hidden, onward, tl.zeros([ROWS, INNER], tl.float32))
    if N_CHUNKS == 2:
        inner = _times(_relu(_entered(x, more, more_rest)), onward_more, inner)
    return _times(_relu(inner), out, tl.zeros([ROWS, OUT], tl.float32))


@triton.jit
def _apart(both):
    """Means and log variances [rows, OUT / 2]."""
    return tl.split(both.reshape(both.shape[0], both.shape[1] // 2, 2))


@triton.jit
def _kept_in(log_var):
    return tl.minimum(tl.maximum(log_var, LOWEST), HIGHEST)


@triton.jit
def _term(of_row, variable, slope, offset, width):
    """What values of one variable add to the code [rows, WIDTH]."""
    rise = tl.load(slope + variable * width.shape[0] + width)[None, :]
    begin = tl.load(offset + variable * width.shape[0] + width)[None, :]
    return _relu(tl.load(of_row + variable)[:, None] * rise + begin)


@triton.jit
def hear(values, unseen, slope, offset, starts, variables, terms, n_rows, n_variables,
         ROWS: tl.constexpr, WIDTH: tl.constexpr):  # fmt: skip
    """Sum up what the variables of a question that shows several add: terms [draws, questions, ...]."""
    question, draw = tl.program_id(1), tl.program_id(2)
    place = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row, width = tl.minimum(place, n_rows - 1), tl.arange(0, WIDTH)
    of_row = values + (draw * n_rows + row) * n_variables
    total = tl.zeros([ROWS, WIDTH], tl.float32)
    for at in range(tl.load(starts + question), tl.load(starts + question + 1)):
        variable = tl.load(variables + at)
        new = tl.load(unseen + row * n_variables + variable)[:, None]
        total += _term(of_row, variable, slope, offset, width) * new
    at = (draw * tl.num_programs(1) + question) * n_rows + place
    tl.store(terms + at[:, None] * WIDTH + width[None, :], total, mask=(place < n_rows)[:, None])


@triton.jit
def line_up(unseen, wanted, starts, variables, order, n_open, n_rows, n_variables, of_wanted,
            AT_ONCE: tl.constexpr):  # fmt: skip
    """For each question the rows it is open for, first in ``order`` [questions, rows], and how many.

    It is open where it would show something new and some of the target is still wanted.
    """
    question, n_before = tl.program_id(0), 0
    for begin in range(0, n_rows, AT_ONCE):
        row = begin + tl.arange(0, AT_ONCE)
        new = tl.zeros([AT_ONCE], tl.float32)
        for at in range(tl.load(starts + question), tl.load(starts + question + 1)):
            cell = unseen + row * n_variables + tl.load(variables + at)
            new = tl.maximum(new, tl.load(cell, mask=row < n_rows, other=0.0))
        new *= tl.load(wanted + row * of_wanted, mask=row < n_rows, other=0.0)
        is_open = (new > 0).to(tl.int32)
        place = n_before + tl.cumsum(is_open, 0) - 1
        tl.store(order + question * n_rows + place, row, mask=is_open > 0)
        n_before += tl.sum(is_open, 0)
    tl.store(n_open + question, n_before)


@triton.jit
def tell(values, terms, slope, offset, variables, first, second, last, code, codes, beliefs,
         n_rows, n_known, n_variables, n_width, known_each, SINGLE: tl.constexpr,
         ROWS: tl.constexpr, WIDTH: tl.constexpr, CHUNK: tl.constexpr, N_CHUNKS: tl.constexpr,
         INNER: tl.constexpr, OUT: tl.constexpr):  # fmt: skip
    """Codes [known, rows, WIDTH] and beliefs [known, rows, OUT] from the code as things stand.

    Known 0 is as things stand, and known d + 1 is with draw d of the target told.
    """
    weights = _weights(first, second, last, WIDTH, CHUNK, N_CHUNKS, INNER, OUT)
    place = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    row, here = tl.minimum(place, n_rows - 1), (place < n_rows)[:, None]
    width, both = tl.arange(0, WIDTH), tl.arange(0, OUT)
    now = tl.load(
        code + row[:, None] * n_width + width[None, :], mask=(width < n_width)[None, :], other=0
    )
    now += (width == n_width)[None, :].to(tl.float32)  # the constant that brings the biases
    begin = tl.program_id(1) * known_each
    for known in range(begin, tl.minimum(begin + known_each, n_known)):
        told = now
        if known > 0:
            if SINGLE:
                of_row = values + ((known - 1) * n_rows + row) * n_variables
                told = now + _term(of_row, tl.load(variables), slope, offset, width)
            else:
                at = ((known - 1) * n_rows + row)[:, None] * WIDTH + width[None, :]
                told = now + tl.load(terms + at)
        at = (known * n_rows + place)[:, None]
        tl.store(codes + at * WIDTH + width[None, :], told, mask=here)
        mean, log_var = _apart(_tail(told, weights, N_CHUNKS, INNER, OUT))
        belief = tl.interleave(mean, _kept_in(log_var))
        tl.store(beliefs + at * OUT + both[None, :], belief, mask=here)


@triton.jit
def _known(step, row, n_rows):
    """Where the code and belief of a step stand: as things are, then with the draw's target told."""
    return step % 2 * (step // 2 + 1) * n_rows + row


@triton.jit
def gain(values, terms, slope, offset, variables, order, n_open, first, second, last,
         codes, beliefs, rewards, n_rows, n_questions, n_draws, n_variables, least_draws,
         SINGLE: tl.constexpr, QUESTIONS: tl.constexpr,
         ROWS: tl.constexpr, WIDTH: tl.constexpr, CHUNK: tl.constexpr, N_CHUNKS: tl.constexpr,
         INNER: tl.constexpr, OUT: tl.constexpr):  # fmt: skip
    """The rewards of all open pairs, shared out evenly: a program takes as many draws as any other.

    A block is some rows that one question is open for. Its draws may fall to several programs, each of
    which writes its part: ``rewards`` [parts, questions, rows] are to be summed over the parts.
    """
    LATENT: tl.constexpr = OUT // 2
    weights = _weights(first, second, last, WIDTH, CHUNK, N_CHUNKS, INNER, OUT)
    width, both, questions = tl.arange(0, WIDTH), tl.arange(0, OUT), tl.arange(0, QUESTIONS)
    open_rows = tl.load(n_open + questions, mask=questions < n_questions, other=0)
    ends = tl.cumsum(tl.cdiv(open_rows, ROWS), 0)  # where the blocks of each question end
    n_blocks = tl.max(ends, 0)
    each = tl.maximum(tl.cdiv(n_blocks * n_draws, tl.num_programs(0)), least_draws)
    begin = tl.program_id(0) * each
    end = tl.minimum(begin + each, n_blocks * n_draws)
    for block in range(begin // n_draws, tl.cdiv(end, n_draws)):
        question = tl.sum((ends <= block).to(tl.int32), 0)
        block_of_question = block - tl.max(tl.where(ends <= block, ends, 0), 0)
        place = block_of_question * ROWS + tl.arange(0, ROWS)
        here = place < tl.load(n_open + question)
        row = tl.load(order + question * n_rows + place, mask=here, other=0)
        variable = tl.load(variables + question)
        total = tl.zeros([ROWS, LATENT], tl.float32)
        start, stop = tl.maximum(begin - block * n_draws, 0), tl.minimum(end - block * n_draws, n_draws)
        ahead = tl.load(beliefs + _known(2 * start, row, n_rows)[:, None] * OUT + both[None, :])
        for step in range(2 * start, 2 * stop):
            draw = step // 2
            if SINGLE:
                of_row = values + (draw * n_rows + row) * n_variables
                term = _term(of_row, variable, slope, offset, width)
            else:
                at = (draw * n_questions + question) * n_rows + row
                term = tl.load(terms + at[:, None] * WIDTH + width[None, :])
            code = tl.load(codes + _known(step, row, n_rows)[:, None] * WIDTH + width[None, :])
            belief = ahead  # asked for a step ahead, so that nothing waits for it
            following = _known(tl.minimum(step + 1, 2 * n_draws - 1), row, n_rows)
            ahead = tl.load(beliefs + following[:, None] * OUT + both[None, :])
            mean, log_var = _apart(_tail(code + term, weights, N_CHUNKS, INNER, OUT))
            mean_before, before = _apart(belief)
            shift, log_var = mean - mean_before, _kept_in(log_var)
            # Twice the divergence of `Posterior.kl`, and a constant that the difference loses.
            nats = shift * shift * tl.exp(-before) + tl.exp(log_var - before) - log_var + before
            total += nats * (1 - 2 * (step % 2))  # with the target told it is taken away
        part = tl.program_id(0) - block * n_draws // each
        at = rewards + (part * n_questions + question) * n_rows + row
        tl.store(at, tl.sum(total, 1) * (0.5 / n_draws), mask=here)
