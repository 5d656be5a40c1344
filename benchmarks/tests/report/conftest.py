"""What the tests of the report share: a finished suite with a table, a picture and awkward words."""

import struct
import zlib

import pytest

from eddi_benchmarks.harness.experiment import Experiment, Outcome
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.report.content import Grid, Picture, Section
from eddi_benchmarks.report.suite_report import Chapter

SUITE = """
title = "Ranks & <all>"
experiment = "uci"
[over]
seed = [0, 1, 2]
"""
GRID = Grid(
    "Average rank, `rmse`",
    ("strategy", "ours", "theirs", "p", "better"),
    (
        ("EDDI | first", "5.10 ± 0.02", "5.08", "-", "yes"),
        ("RAND", "-7.5", "\N{EN DASH}", "< 0.001", "*no*"),
    ),
    "Lower is better, see `auic`.",
    frozenset({(0, 1)}),
)


def png(width):
    """A black PNG of one line."""

    def chunk(name, content):
        check = zlib.crc32(name + content)
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(bytes(width + 1))), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def sections(outcomes, folder):
    path = folder / "my curve.png"
    path.write_bytes(png(2000))
    words = (f"{len(outcomes)} of 3 runs; a < b, with `kl_weight = 1`.", "Second paragraph.")
    picture = Picture(path, 'Curves of "EDDI" [boston] with `pnp`.')
    return [Section("Ranks", words, (GRID,), (picture,)), Section("Only words", ("None.",), ())]


def outcome(seed, *, finished="2026-01-02T10:00:00+00:00", seconds=60.0, **facts):
    circumstances = {
        "data": {"boston": "ab" * 32},
        "versions": {"python": "3.11", "torch": "2.13"},
        "machine": "Linux x86_64, 2 cores",
        "commit": "0123456789abcdef-dirty",
        "device": "cpu",
        "processes": 2,
        "seconds": seconds,
        "finished": finished,
        "peak_memory_mb": 700 + seed,
        **facts,
    }
    return Outcome(str(seed), {"seed": seed}, {}, circumstances)


@pytest.fixture
def suite():
    return Suite.from_toml("paper-made-up", SUITE)


@pytest.fixture
def outcomes():
    return [outcome(0), outcome(1)]


@pytest.fixture
def chapter(suite, outcomes, tmp_path):
    """Two of three runs, told with a table and a picture."""
    made_up = Experiment(lambda *_: {}, lambda _: (), sections)
    return Chapter.of(suite, outcomes, made_up, tmp_path / suite.name)


@pytest.fixture
def make_outcome():
    """Makes finished runs: `make_outcome(seed, seconds=..., finished=...)`."""
    return outcome
