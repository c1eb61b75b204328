"""Reads a CSV file with pyarrow and DuckDB and compares every cell.

    readers.py file.csv expected.json

expected.json holds the names and the rows: text, or null for NULL. Both
readers are told that only an unquoted nothing is NULL. The exit status is 1 if
any cell differs.
"""

import json
import sys

import duckdb
import pyarrow as pa
from pyarrow import csv


def by_pyarrow(path, names):
    return csv.read_csv(
        path,
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types={n: pa.string() for n in names}, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def by_duckdb(path, names):
    options = "header=true, all_varchar=true, allow_quoted_nulls=false, nullstr='', delim=',', quote='\"', escape='\"'"
    return duckdb.sql(f"select * from read_csv('{path}', {options})").to_arrow_table()


def main(path, expected):
    with open(expected, encoding="utf-8") as f:
        want = json.load(f)
    failed = False
    for reader, read in (("pyarrow", by_pyarrow), ("duckdb", by_duckdb)):
        table = read(path, want["names"])
        got = [list(r.values()) for r in table.to_pylist()]
        if table.column_names != want["names"] or len(got) != len(want["rows"]):
            print("DIFFERENT:", reader, table.column_names, len(got), "rows, want", len(want["rows"]))
            failed = True
        for i, (w, g) in enumerate(zip(want["rows"], got)):
            if w != g:
                print("DIFFERENT:", reader, "row", i, "is", g, "want", w)
                failed = True
                break
        print(f"{reader}: {len(got)} rows")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
