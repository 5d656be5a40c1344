"""Hostile tables of all formats: damage to the bytes of valid files, and content made to exhaust a reader."""

import codecs
import gzip
import io
import zipfile
from collections.abc import Callable
from random import Random

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from eddi_benchmarks.faults.bytes_damage import damage_bytes
from eddi_benchmarks.faults.workbooks import write_xls, write_xlsx

Table = tuple[str, bytes, str]
"""Name of the file, its bytes, and what is hostile about it."""

N_ROWS = 60
FORMATS = ("csv", "tsv", "csv.gz", "parquet", "xlsx", "xls")


def make_valid_files() -> dict[str, bytes]:
    """Return the same small table in every format."""
    frame = pd.DataFrame(
        {
            "age": [20 + n % 50 for n in range(N_ROWS)],
            "weight": [60.5 + n % 7 for n in range(N_ROWS)],
            "smoker": ["yes" if n % 3 else "no" for n in range(N_ROWS)],
            "note": [f"text {n}, é" if n % 4 else None for n in range(N_ROWS)],
        }
    )
    parquet, excel = io.BytesIO(), io.BytesIO()
    frame.to_parquet(parquet)
    frame.to_excel(excel, index=False)
    text = frame.to_csv(index=False).encode()
    cells = {(row, column): float(row + column) for row in range(N_ROWS) for column in range(4)}
    return {
        "csv": text,
        "tsv": frame.to_csv(index=False, sep="\t").encode(),
        "csv.gz": gzip.compress(text),
        "parquet": parquet.getvalue(),
        "xlsx": excel.getvalue(),
        "xls": write_xls(cells),
    }


def damage_file(files: dict[str, bytes], random: Random) -> Table:
    """Damage the bytes of a valid file; of a workbook also those of an unpacked member."""
    name = random.choice(FORMATS)
    content = files[name]
    if name == "xlsx" and random.random() < 0.7:
        content, detail = _damage_member(content, random)
    else:
        content, detail = damage_bytes(content, random)
    return f"t.{name}", content, detail


def _damage_member(content: bytes, random: Random) -> tuple[bytes, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = random.choice([name for name in sorted(members) if name.startswith("xl/")])
    members[name], detail = damage_bytes(members[name], random)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, text in members.items():
            archive.writestr(member, text)
    return file.getvalue(), f"{name}: {detail}"


def make_text(random: Random) -> Table:
    """Return a text file that is hard to read."""
    size = random.choice([1_000, 100_000, 1_000_000])
    contents: dict[str, Callable[[], bytes]] = {
        "long cell": lambda: b"a,b\n" + b"x" * (200_000 + size) + b",1\n2,3\n",
        "unclosed quote": lambda: b'a,b\n1,"2\n' + b"3,4\n" * (size // 4),
        "broken utf-16": lambda: codecs.BOM_UTF16_LE + random.randbytes(size + 1),
        "many columns": lambda: b"," * size + b"\n" + b"1,2\n",
        "equal names": lambda: b",".join([b"a"] * 3000) + b"\n" + b",".join([b"1"] * 3000) + b"\n",
        "long name": lambda: b"a" * size + b",b\n1,2\n3,4\n",
        "empty lines": lambda: b"a\n" + b"\n" * size,
        "zeros": lambda: bytes(size),
        "random": lambda: random.randbytes(size),
        "quotes": lambda: b'"' * size,
        "carriage returns": lambda: b"a,b\r1,2\r" * (size // 8),
        "ragged": lambda: b"a,b\n" + b"1\n1,2,3\n" * 100,
        "huge numbers": lambda: b"a,b\n" + b"1e999,-1e999\n" + b"9" * 5000 + b",1\n" * 20,
        "many levels": lambda: b"a,b\n" + b"".join(b"l%d,%d\n" % (n, n) for n in range(size // 100)),
        "control characters": lambda: b"a,b\n\x1c,\x85\n\x00,\x01\n" * 50,
    }
    detail = random.choice(sorted(contents))
    return "t.csv", contents[detail](), detail


def make_compressed(random: Random) -> Table:
    """Return a compressed text file that unpacks to much more than its size."""
    size = random.choice([10**5, 10**6, 5 * 10**7])
    detail = random.choice(["numbers", "zeros", "one line", "truncated"])
    text = {"numbers": b"a,b\n" + b"1,2\n" * (size // 4), "zeros": bytes(size)}.get(
        detail, b"a," * (size // 2)
    )
    content = gzip.compress(text, 1)
    return "t.csv.gz", content[: len(content) // 2] if detail == "truncated" else content, detail


def make_parquet(random: Random) -> Table:
    """Return a Parquet file with repeated text, invalid text, nested values or false counts."""
    detail = random.choice(
        ["repeated text", "not UTF-8", "nested", "repeated list", "many columns", "zeros"]
    )
    n_rows = random.choice([100, 20_000, 62_000])
    file = io.BytesIO()
    pq.write_table(_make_arrow_table(detail, n_rows), file, compression="zstd", store_schema=False)
    return "t.parquet", file.getvalue(), detail


def _make_arrow_table(detail: str, n_rows: int) -> pa.Table:
    indices = pa.array([0] * n_rows, pa.int32())
    text = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 100_000]))
    match detail:
        case "repeated text":
            return pa.table({"text": text})
        case "repeated list":
            offsets = pa.array(range(0, n_rows + 1, n_rows // 10), pa.int32())
            return pa.table({"lists": pa.ListArray.from_arrays(offsets, text)})
        case "not UTF-8":
            column = pa.array([b"\xff\xfe", b"fine"] * n_rows).view(pa.string())
            return pa.table({"a": column, "b": range(2 * n_rows)})
        case "nested":
            return pa.table(
                {"a": [[{"b": [n, None]}] for n in range(100)], "b": [{"c": n} for n in range(100)]}
            )
        case "many columns":
            return pa.Table.from_arrays([pa.array([1, 2])] * 2500, [f"c{n % 7}" for n in range(2500)])
        case _:
            return pa.table({f"c{n}": pa.array([0] * (20 * n_rows), pa.int64()) for n in range(20)})


def make_sheet(random: Random) -> Table:
    """Return a workbook with cells far away, a large member, repeated texts or overlapping merges."""
    contents: dict[str, Callable[[], bytes]] = {
        "far cell": lambda: write_xlsx(_row(1, "A") + _row(1_048_576, "XFD")),
        "far cell in quotes": lambda: write_xlsx(
            (_row(1, "A") + _row(900_000, "XFD")).replace('"', "'")
        ),
        "no references": lambda: write_xlsx(
            "<row><c><v>1</v></c></row>" * 9000 + "<row>" + "<c/>" * 9000
        ),
        "far row": lambda: write_xlsx(_row(1, "A") + _row(1_048_576, "A")),
        "bomb": lambda: write_xlsx(_row(1, "A"), {"xl/sharedStrings.xml": b"0" * 300_000_000}),
        "repeated text": lambda: _repeat_text(random.choice([100, 1000])),
        "overlapping merges": _overlap_merges,
        "billion laughs": _nest_entities,
        "long reference": lambda: write_xlsx(f'<row r="1"><c r="{"A" * 10_000}1"><v>1</v></c></row>'),
        "negative row": lambda: write_xlsx('<row r="-1"><c r="A-1"><v>1</v></c></row>' * 3),
        "deep tags": lambda: write_xlsx("<row>" * 100_000),
        "errors": lambda: write_xlsx('<row r="1"><c r="A1" t="e"><v>#REF!</v></c></row>' * 3),
        "dates": lambda: write_xlsx('<row><c t="d"><v>9999999-99-99</v></c></row>' * 3),
        "false type": lambda: write_xlsx('<row><c t="s"><v>-5</v></c><c t="b"><v>x</v></c></row>' * 3),
        "old far cell": lambda: write_xls({(0, 0): 1.0, (65_535, 65_535): 1.0}),
        "old far row": lambda: write_xls({(0, 0): 1.0, (65_535, 0): 1.0}, n_padding=5000),
    }
    detail = random.choice(sorted(contents))
    return ("t.xls" if detail.startswith("old") else "t.xlsx"), contents[detail](), detail


def _row(number: int, column: str) -> str:
    return f'<row r="{number}"><c r="{column}{number}"><v>1</v></c></row>'


def _repeat_text(n_rows: int) -> bytes:
    rows = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, n_rows + 1))
    return write_xlsx(rows, {"xl/sharedStrings.xml": f"<sst><si><t>{'x' * 10**7}</t></si></sst>"})


def _overlap_merges() -> bytes:
    rows = "".join(_row(n, "A") + _row(n, "B") for n in range(1, 500))
    merges = '<mergeCell ref="A1:B499"/>' * 20_000
    return write_xlsx(f"{rows}</sheetData><mergeCells>{merges}</mergeCells><sheetData>")


def _nest_entities() -> bytes:
    entities = '<!ENTITY e0 "x">' + "".join(
        f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12)
    )
    strings = f"<?xml version='1.0'?><!DOCTYPE sst [{entities}]><sst><si><t>&e11;</t></si></sst>"
    row = '<row r="1"><c r="A1" t="s"><v>0</v></c></row>'
    return write_xlsx(row, {"xl/sharedStrings.xml": strings})


BUILDERS: dict[str, Callable[[Random], Table]] = {
    "text": make_text,
    "compressed text": make_compressed,
    "Parquet": make_parquet,
    "Excel": make_sheet,
}
