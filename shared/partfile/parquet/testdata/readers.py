"""Reads Parquet files with pyarrow, DuckDB, Polars and DataFusion, which is
parquet-rs, and compares every value.

    readers.py expected.json file.parquet... [--filters] [--same ours.parquet theirs.parquet]

expected.json lists the columns: name, type and values, in the form that
canonical() gives them here. The exit status is 1 if any value differs.
"""

import decimal
import json
import re
import struct
import sys

import datafusion
import duckdb
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

EXACT = decimal.Context(prec=200)

failures = 0


def fail(*message):
    global failures
    failures += 1
    print("DIFFERENT:", *message)


def canonical(array):
    """The values of an Arrow array as text that says exactly what they are."""
    t = array.type
    if isinstance(t, pa.BaseExtensionType):
        return canonical(array.storage)
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        items, offsets = canonical(array.values), array.offsets.to_pylist()
        return [items[offsets[i]:offsets[i + 1]] if array[i].is_valid else None for i in range(len(array))]
    if pa.types.is_boolean(t):
        return [None if x is None else str(x).lower() for x in array.to_pylist()]
    if pa.types.is_integer(t):
        return [None if x is None else str(x) for x in array.to_pylist()]
    if pa.types.is_date32(t):
        return canonical(array.cast(pa.int32()))
    if pa.types.is_time64(t) and t.unit == "ns":  # Polars has no other
        return [None if x is None else str(x // 1000) for x in array.cast(pa.int64()).to_pylist()]
    if pa.types.is_timestamp(t) or pa.types.is_time64(t):
        return canonical(array.cast(pa.int64()))
    if pa.types.is_floating(t):
        form = ">f" if t.bit_width == 32 else ">d"
        return [None if x is None else "nan" if x != x else struct.pack(form, x).hex() for x in array.to_pylist()]
    if pa.types.is_decimal(t):
        return [None if x is None else str(int(x.scaleb(t.scale, EXACT))) for x in array.to_pylist()]
    if pa.types.is_large_binary(t) or pa.types.is_binary_view(t) or pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t):
        return [None if x is None else x.hex() for x in array.to_pylist()]
    return array.to_pylist()


def column(table, i):
    return table.column(i).combine_chunks() if table.column(i).num_chunks != 1 else table.column(i).chunk(0)


def by_pyarrow(path):
    return pq.read_table(path, page_checksum_verification=True)


def by_duckdb(path):
    db = duckdb.connect()
    db.sql("set TimeZone = 'UTC'")
    return db.sql(f"select * from read_parquet('{path}')").to_arrow_table()


def by_polars(path):
    """Only the columns whose types Polars has."""
    columns = [f.name for f in pq.read_schema(path) if not pa.types.is_decimal256(f.type.value_type if pa.types.is_list(f.type) else f.type)]
    return polars.read_parquet(path, columns=columns).to_arrow()


def by_datafusion(path):
    one = datafusion.SessionConfig().with_target_partitions(1)  # rows stay in order
    return datafusion.SessionContext(one).read_parquet(path).to_arrow_table()


READERS = {"pyarrow": by_pyarrow, "duckdb": by_duckdb, "polars": by_polars, "datafusion": by_datafusion}


def lossy(reader, t):
    """DuckDB and Polars have no decimals of more than 38 digits: the former
    reads them as doubles, the latter not at all."""
    if reader not in ("duckdb", "polars"):
        return False
    name = t.removeprefix("list<").removesuffix(">")
    return name.startswith("decimal(") and int(name[8:].split(",")[0]) > 38


def check(path, expected):
    for reader, read in READERS.items():
        table = read(path)
        compared = 0
        wanted = [c for c in expected if not lossy(reader, c["type"])]
        if reader != "duckdb" and table.column_names != [c["name"] for c in wanted]:
            fail(reader, path, "columns", table.column_names)
            continue
        for c in wanted:
            got = canonical(column(table, table.column_names.index(c["name"])))
            if "uuid" in c["type"]:
                got = [undash(x) for x in got]
            if len(got) != len(c["values"]):
                fail(reader, path, c["name"], len(got), "values, want", len(c["values"]))
            for row, (want, value) in enumerate(zip(c["values"], got)):
                if want != value:
                    fail(reader, path, c["name"], "row", row, "is", value, "want", want)
                    break
            compared += len(got)
        print(f"{reader}: {path.rsplit('/', 1)[-1]}: {compared} values")


def check_filters(path):
    """Readers skip row groups and pages by their bounds and find the same rows
    as one who looks at all of them."""
    table, filters = pq.read_table(path), 0
    for name in table.column_names:
        values = table.column(name).combine_chunks()
        if isinstance(values.type, pa.BaseExtensionType) or pa.types.is_list(values.type) or pa.types.is_decimal256(values.type):
            continue
        some = [x for x in values.to_pylist() if x is not None and x == x]
        for value in [some[i * (len(some) - 1) // 4] for i in range(5)] if some else []:
            scalar = pa.scalar(value, values.type)
            for sign, compare in (("==", pc.equal), ("<", pc.less)):
                want = pc.sum(compare(values, scalar)).as_py() or 0
                column = datafusion.col(f'"{name}"')
                condition = column == datafusion.lit(scalar) if sign == "==" else column < datafusion.lit(scalar)
                got = {
                    "pyarrow": pq.read_table(path, columns=[name], filters=pc.field(name) == scalar if sign == "==" else pc.field(name) < scalar).num_rows,
                    "datafusion": datafusion.SessionContext().read_parquet(path).filter(condition).count(),
                }
                for reader, rows in got.items():
                    filters += 1
                    if rows != want:
                        fail(reader, path, name, sign, value, "finds", rows, "rows, want", want)
    print(f"filters: {path.rsplit('/', 1)[-1]}: {filters}")


def undash(x):
    """DuckDB hands UUIDs on as text."""
    if isinstance(x, list):
        return [undash(y) for y in x]
    return None if x is None else x.replace("-", "")


def same(ours, theirs):
    for reader, read in READERS.items():
        a, b = read(ours), read(theirs)
        if a.num_rows != b.num_rows or a.column_names != b.column_names:
            fail(reader, "shape of", ours, "and", theirs)
            continue
        for i, name in enumerate(a.column_names):
            kinds = [str(t.column(i).type).replace("item:", "element:") for t in (a, b)]
            if reader in ("polars", "datafusion"):  # JSON is text to them unless the Arrow schema says more, as theirs does
                kinds = [re.sub("extension<arrow.json>|large_string|string_view", "string", k) for k in kinds]
            if kinds[0] != kinds[1]:
                fail(reader, name, "is", kinds[0], "and in theirs", kinds[1])
            if canonical(column(a, i)) != canonical(column(b, i)):
                fail(reader, name, "has other values than theirs")
        print(f"{reader}: {a.num_rows} rows like the upstream's")


def main(args):
    filters = "--filters" in args
    args = [a for a in args if a != "--filters"]
    with open(args[0], encoding="utf-8") as f:
        expected = json.load(f)
    at = args.index("--same") if "--same" in args else len(args)
    for path in args[1:at]:
        check(path, expected)
        if filters:
            check_filters(path)
    if args[at + 1:]:
        same(*args[at + 1:])
    return 1 if failures else 0


sys.exit(main(sys.argv[1:]))
