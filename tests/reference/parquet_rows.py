"""Every row of a Parquet file, by pyarrow: `tests/tests/export.rs` reads the output
of `ingest export --format parquet` with it.

    pip install pyarrow==23.0.1
    python tests/reference/parquet_rows.py june.parquet

The first line is the dataset's fingerprint, the second the columns, NAME:TYPE
with a ? behind it if nulls may occur; then one line a row, its values between
tabs, `null` where there is none.
"""

import sys

import pyarrow.parquet


def main():
    file = pyarrow.parquet.ParquetFile(sys.argv[1])
    print(file.metadata.metadata[b"kibitz.fingerprint"].decode())
    print(*(f"{f.name}:{f.type}{'?' if f.nullable else ''}" for f in file.schema_arrow))
    for batch in file.iter_batches():
        columns = (column.to_pylist() for column in batch.columns)
        for row in zip(*columns):
            print(*("null" if value is None else value for value in row), sep="\t")


if __name__ == "__main__":
    main()
