"""Datasets are found where the user put them, and their files are verified."""

import gzip
import hashlib
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eddi.errors import EddiError, EddiWarning
from eddi_benchmarks.data import datasets
from eddi_benchmarks.data.datasets import DATASETS, DatasetError

NOT_OURS = "is not the file of the published results"
REAL = Path(os.environ.get("EDDI_DATA") or "nowhere")


def test_a_dataset_is_found_in_the_folder_named_by_the_environment_variable(yacht):
    assert datasets.find("yacht") == yacht


def test_a_dataset_is_found_in_the_cache_if_the_named_folder_lacks_it(data, yacht):
    cache = data.parent / "cache" / "eddi"
    cache.mkdir(parents=True)
    yacht.rename(cache / "yacht")
    assert datasets.find("yacht") == cache / "yacht"


def test_the_cache_is_in_the_home_folder_by_default(monkeypatch, tmp_path):
    monkeypatch.delenv("EDDI_DATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / ".cache" / "eddi" / "yacht"
    folder.mkdir(parents=True)
    (folder / "data.csv").write_text("a\n1\n")
    assert datasets.find("yacht") == folder


def test_the_error_of_a_missing_dataset_names_the_folders_searched_and_the_source(data):
    with pytest.raises(EddiError) as caught:
        datasets.load("concrete")
    message = str(caught.value)
    assert str(data / "concrete") in message
    assert str(data.parent / "cache" / "eddi" / "concrete") in message
    assert "number 165 of the UCI Machine Learning Repository" in message
    assert "EDDI_DATA" in message


def test_a_dataset_with_some_of_its_files_is_missing(mnist):
    (mnist / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(DatasetError, match="t10k-labels"):
        datasets.find("mnist")


def test_the_error_of_an_unknown_dataset_lists_all():
    with pytest.raises(DatasetError, match=r"no dataset 'titanic'\. Choose one of boston, concrete"):
        datasets.find("titanic")


@pytest.mark.usefixtures("yacht")
def test_a_file_that_differs_from_the_published_one_is_read_with_a_warning():
    with pytest.warns(EddiWarning, match=NOT_OURS):
        table = datasets.load("yacht")
    assert (table.num_rows, table.column_names) == (40, ["length", "width", "crew"])


def test_the_file_of_the_published_results_gives_no_warning(yacht, monkeypatch):
    sha256 = hashlib.sha256((yacht / "data.csv").read_bytes()).hexdigest()
    monkeypatch.setitem(DATASETS, "yacht", replace(DATASETS["yacht"], files={"data.csv": sha256}))
    assert datasets.load("yacht").num_rows == 40  # a warning would be an error
    assert datasets.checksum("yacht") == sha256


@pytest.mark.usefixtures("mnist")
def test_a_row_of_mnist_has_the_pixels_of_an_image_and_then_its_digit():
    with pytest.warns(EddiWarning, match=NOT_OURS):
        table = datasets.load("mnist")
    assert table.shape == (5, 785)
    assert table["digit"].to_pylist() == [7, 8, 9, 7, 8]
    second = np.array([table[f"pixel_{i}"][1].as_py() for i in range(784)])
    assert (second == np.arange(784, 2 * 784) % 256).all()


def test_a_change_in_any_file_of_mnist_changes_its_checksum(mnist):
    before = datasets.checksum("mnist")
    (mnist / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(b"other"))
    assert datasets.checksum("mnist") != before


def test_a_file_that_is_not_idx_is_rejected_by_name(mnist):
    (mnist / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(b"hello"))
    with (
        pytest.warns(EddiWarning, match=NOT_OURS),
        pytest.raises(DatasetError, match=r"train-labels-idx1-ubyte.gz is not an IDX file"),
    ):
        datasets.load("mnist")


def test_the_public_compression_of_mnist_gives_no_warning(mnist, monkeypatch):
    entry = DATASETS["mnist"]
    downloads = {
        name: replace(remote, sha256=hashlib.sha256((mnist / name).read_bytes()).hexdigest())
        for name, remote in entry.downloads.items()
    }
    monkeypatch.setitem(DATASETS, "mnist", replace(entry, downloads=downloads))
    assert datasets.load("mnist").num_rows == 5  # a warning would be an error


@pytest.mark.parametrize("folder", ["mimic3_ihm", ""])
def test_credentialed_data_may_be_in_a_subfolder_or_directly_in_the_data_folder(data, folder):
    for part in ("train", "test"):
        part_folder = data / folder / "in-hospital-mortality" / part
        part_folder.mkdir(parents=True)
        (part_folder / "listfile.csv").write_text("stay,y_true\n")
    assert datasets.find("mimic3_ihm") == data / folder


def test_other_data_must_be_in_a_subfolder_of_its_name(data):
    (data / "stays_mean.csv.gz").write_bytes(b"")
    with pytest.raises(DatasetError, match="Open Data Commons Attribution Licence"):
        datasets.find("physionet2012")


def test_a_change_in_a_time_series_changes_the_checksum_of_the_stays(data):
    for part in ("train", "test"):
        part_folder = data / "mimic3_ihm" / "in-hospital-mortality" / part
        part_folder.mkdir(parents=True)
        (part_folder / "listfile.csv").write_text("stay,y_true\n")
    series = part_folder / "1_episode1_timeseries.csv"
    series.write_text("Hours\n1\n")
    before = datasets.checksum("mimic3_ihm")
    series.write_text("Hours\n2\n")
    assert datasets.checksum("mimic3_ihm") != before


@pytest.mark.parametrize("name", [name for name in DATASETS if name != "mimic3_ihm"])
@pytest.mark.skipif(not REAL.is_dir(), reason="needs EDDI_DATA")
def test_the_files_of_a_real_dataset_have_the_expected_checksums(name):
    if not (REAL / name).is_dir():
        pytest.skip(f"EDDI_DATA has no {name}")
    assert datasets.verify(name) == REAL / name  # a warning would be an error


@pytest.mark.parametrize("name", datasets.UCI)
@pytest.mark.skipif(not REAL.is_dir(), reason="needs EDDI_DATA")
def test_the_downloaded_file_is_converted_to_the_file_of_the_published_results(name, tmp_path):
    original = REAL / name / "original_data.txt"
    if not original.is_file():
        pytest.skip(f"EDDI_DATA has no original of {name}")
    shutil.copy(original, tmp_path / original.name)
    entry = DATASETS[name]
    remote = entry.downloads[original.name]
    content = original.read_bytes()
    assert (hashlib.sha256(content).hexdigest(), len(content)) == (remote.sha256, remote.n_bytes)
    entry.convert(tmp_path)
    converted = (tmp_path / "data.csv").read_bytes()
    assert hashlib.sha256(converted).hexdigest() == entry.files["data.csv"]
