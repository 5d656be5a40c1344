"""All datasets by name."""

from eddi_benchmarks.data import icu, nhanes
from eddi_benchmarks.data.class_tables import CLASS_TABLES
from eddi_benchmarks.data.dataset import Dataset
from eddi_benchmarks.data.mnist import MNIST
from eddi_benchmarks.data.personality import BFI
from eddi_benchmarks.data.survival_tables import SURVIVAL_TABLES
from eddi_benchmarks.data.uci import UCI_TABLES
from eddi_benchmarks.data.visits import PBCSEQ


def _mimic(
    source: str, licence: str, *, sha256: tuple[str | None, str | None], allow_root: bool
) -> Dataset:
    train, test = sha256
    return Dataset(
        f"{source}, and the files that mimic3-benchmarks writes for mortality from it, the folder "
        "in-hospital-mortality",
        licence,
        {
            "in-hospital-mortality/train/listfile.csv": train,
            "in-hospital-mortality/test/listfile.csv": test,
        },
        read=icu.read_mimic,
        extra_files="in-hospital-mortality/*/*_timeseries.csv",
        allow_root=allow_root,
    )


DATASETS = {
    **UCI_TABLES,
    "mnist": MNIST,
    "physionet2012": Dataset(
        "the PhysioNet/CinC Challenge 2012, version 1.0.0 (physionet.org/content/challenge-2012/1.0.0): "
        "sets a, b and c, with 41 variables averaged over the first 48 hours of each stay, and the "
        "outcome, as stays_mean.csv.gz",
        "Open Data Commons Attribution Licence 1.0",
        {"stays_mean.csv.gz": "95a62535b20dc35fa4c93a0ee99c046a062568d097c06f29e7d879d5b9c3f820"},
        read=icu.read_physionet,
    ),
    "mimic3_ihm": _mimic(
        "MIMIC-III 1.4 (physionet.org/content/mimiciii/1.4, after training and a signed agreement)",
        "PhysioNet Credentialed Health Data Licence: must not be redistributed",
        sha256=(None, None),
        allow_root=True,
    ),
    "mimic3_demo_ihm": _mimic(
        "the MIMIC-III demo 1.4 (physionet.org/content/mimiciii-demo/1.4)",
        "Open Database Licence 1.0",
        sha256=(
            "55b9b49265f6c41a7ff71b3b82bb558be8a84493dc56d9d34272b491b7fad608",
            "46dd5b2a273024a21c3a04780f017229d6c454dfc8c2c895ce1085a6229e32e9",
        ),
        allow_root=False,
    ),
    "nhanes_2015_2016": Dataset(
        "NHANES 2015-2016 (wwwn.cdc.gov/nchs/nhanes; also at github.com/deepayan/nhanes-snapshot), "
        "its tables joined by person, the codebook, and a list of the variables",
        "public domain (US government); for statistics only, never to identify a person",
        {
            nhanes.MERGED: "8be909a3db76112aaa25feefc0d78e4173acea2b660d022ad31b16c3f2b6257f",
            nhanes.VARIABLES: "1fca62b824f3fe659a3d0aa54869c6a0f10dcb2b597f3c8539044ea7928535e3",
            nhanes.CODEBOOK: "2a2b4e1289b70a29459675330ec67e18494208355471f32e957e9085c4c099d0",
        },
        read=nhanes.read_table,
    ),
    **CLASS_TABLES,
    "bfi": BFI,
    "pbcseq": PBCSEQ,
    **SURVIVAL_TABLES,
}
UCI = tuple(UCI_TABLES)
"""The six regression tables of the paper's section 4.2."""
