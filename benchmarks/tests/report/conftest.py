"""Fixtures for the report: a finished suite with a table, a figure, and text that needs escaping."""

import struct
import zlib

import pytest

from eddi_benchmarks.harness.experiment import Experiment
from eddi_benchmarks.harness.run_result import RunResult
from eddi_benchmarks.harness.suite import Suite
from eddi_benchmarks.report.content import Figure, ReportTable, Section
from eddi_benchmarks.report.suite_report import SuiteReport

SUITE = """
title = "Ranks & <all>"
experiment = "uci"
[over]
seed = [0, 1, 2]
"""
TABLE = ReportTable(
    "Average rank, `rmse`",
    ("strategy", "ours", "theirs", "p", "better"),
    (
        ("EDDI | first", "5.10 ± 0.02", "5.08", "-", "yes"),
        ("RAND", "-7.5", "\N{EN DASH}", "< 0.001", "*no*"),
    ),
    "Lower is better, see `auic`.",
    frozenset({(0, 1)}),
)


def black_png(width):
    """A black PNG of height 1."""

    def chunk(name, content):
        checksum = zlib.crc32(name + content)
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", checksum)

    header = struct.pack(">IIBBBBB", width, 1, 8, 0, 0, 0, 0)
    chunks = (b"IHDR", header), (b"IDAT", zlib.compress(bytes(width + 1))), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*parts) for parts in chunks)


def report_sections(results, folder):
    path = folder / "my curve.png"
    path.write_bytes(black_png(2000))
    paragraphs = (f"{len(results)} of 3 runs; a < b, with `kl_weight = 1`.", "Second paragraph.")
    figure = Figure(path, 'Curves of "EDDI" [boston] with `pnp`.')
    return [Section("Ranks", paragraphs, (TABLE,), (figure,)), Section("Only text", ("None.",), ())]


def result_of_seed(seed, *, finished="2026-01-02T10:00:00+00:00", seconds=60.0, **changes):
    provenance = {
        "data": {"boston": "ab" * 32},
        "versions": {"python": "3.11", "torch": "2.13"},
        "machine": "Linux x86_64, 2 cores",
        "commit": "0123456789abcdef-dirty",
        "device": "cpu",
        "processes": 2,
        "seconds": seconds,
        "finished": finished,
        "peak_memory_mb": 700 + seed,
        **changes,
    }
    return RunResult(str(seed), {"seed": seed}, {}, provenance)


@pytest.fixture
def suite():
    return Suite.from_toml("paper-example", SUITE)


@pytest.fixture
def results():
    return [result_of_seed(0), result_of_seed(1)]


@pytest.fixture
def report(suite, results, tmp_path):
    """A report on two of three runs, with a table and a figure."""
    experiment = Experiment(lambda *_: {}, lambda _: (), report_sections)
    return SuiteReport.from_results(suite, results, experiment, tmp_path / suite.name)


@pytest.fixture
def make_result():
    """Makes results: `make_result(seed, seconds=..., finished=...)`."""
    return result_of_seed
