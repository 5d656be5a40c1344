"""Units of information: computed in nats (natural logarithm), shown to people in bits."""

import math

BITS_PER_NAT = 1 / math.log(2)


def to_bits(nats: float) -> float:
    """Information in bits: 1 bit is the answer to a yes-or-no question whose answers are equally likely."""
    return nats * BITS_PER_NAT


def format_bits(nats: float, *, n_digits: int = 2) -> str:
    """Information in bits as text, such as "0.25 bits"."""
    return f"{round(to_bits(nats), n_digits) + 0.0:.{n_digits}f} bits"  # adding 0.0 avoids "-0.00"
