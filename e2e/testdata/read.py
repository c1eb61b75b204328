"""Prints the rows of Parquet or CSV files, one JSON list of canonical texts a row.

usage: read.py {pyarrow|duckdb|csv} COLUMN,COLUMN... FILE...

Integers are decimal, floats the hex of their bits, decimals have their whole
scale, points in time count their unit since the epoch or midnight, bytes are
hex, lists are lists, and a NULL is null.
"""

import decimal
import json
import struct
import sys
import uuid


def plain(value, kind=""):
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return struct.pack(">f" if kind == "float" else ">d", value).hex()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, uuid.UUID):
        return value.hex
    if isinstance(value, list):
        return [plain(v, kind.removesuffix("[]").lower()) for v in value]
    return value


def pyarrow_rows(columns, files):
    import pyarrow as pa
    import pyarrow.parquet as pq

    def texts(array):
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        t = array.type
        if pa.types.is_list(t):
            items = texts(array.values)
            offsets = array.offsets.to_pylist()
            valid = array.is_valid().to_pylist()
            return [items[offsets[i] : offsets[i + 1]] if valid[i] else None for i in range(len(array))]
        if pa.types.is_timestamp(t) or pa.types.is_time64(t):
            array = array.view(pa.int64())
        elif pa.types.is_date32(t):
            array = array.view(pa.int32())
        kind = "float" if pa.types.is_float32(t) else ""
        return [plain(v, kind) for v in array.to_pylist()]

    for name in files:
        for batch in pq.ParquetFile(name).iter_batches(columns=columns):
            yield from zip(*[texts(batch.column(c)) for c in columns])


def duckdb_rows(columns, files):
    import duckdb

    connection = duckdb.connect()
    described = connection.execute("DESCRIBE SELECT * FROM read_parquet(?)", [files]).fetchall()
    types = {name: kind for name, kind, *_ in described}

    def expression(value, kind):
        if kind.endswith("[]"):
            return f"list_transform({value}, lambda x: {expression('x', kind.removesuffix('[]'))})"
        if kind in ("TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME"):
            return f"epoch_us({value})"
        if kind == "TIMESTAMP_NS":
            return f"epoch_ns({value})"
        if kind == "DATE":
            return f"({value} - DATE '1970-01-01')"
        return value

    select = ", ".join(expression(f'"{c}"', types[c]) for c in columns)
    kinds = [types[c].lower() for c in columns]
    connection.execute(f"SELECT {select} FROM read_parquet(?)", [files])
    while rows := connection.fetchmany(10000):
        for row in rows:
            yield [plain(v, k) for v, k in zip(row, kinds)]


def csv_rows(columns, files):
    # The csv module does not tell NULL, a field of nothing, from an empty text,
    # a field of two quotes.
    for name in files:
        with open(name, encoding="utf-8", newline="") as f:
            records = csv_records(f.read())
        header = next(records)
        at = [header.index(c) for c in columns]
        for record in records:
            yield [record[i] for i in at]


def csv_records(text):
    record, field, quoted, inside, i = [], [], False, False, 0
    while i < len(text):
        c = text[i]
        i += 1
        if inside:
            if c != '"':
                field.append(c)
            elif text[i : i + 1] == '"':
                field.append(c)
                i += 1
            else:
                inside = False
        elif c == '"':
            quoted = inside = True
        elif c in ",\n":
            record.append("".join(field) if field or quoted else None)
            field, quoted = [], False
            if c == "\n":
                yield record
                record = []
        else:
            field.append(c)
    if record or field or inside:
        raise ValueError("the file does not end with a line end")


def main():
    reader, columns, files = sys.argv[1], sys.argv[2].split(","), sys.argv[3:]
    rows = {"pyarrow": pyarrow_rows, "duckdb": duckdb_rows, "csv": csv_rows}[reader]
    for row in rows(columns, files) if files else []:
        print(json.dumps(list(row)))


main()
