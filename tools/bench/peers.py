"""What other tools need for the same export: one connection, Parquet with zstd.

peers.py export TOOL TABLE   writes out/TABLE.parquet from $DATABASE_URL
peers.py check DIR COLUMN    prints the rows below DIR and the sum of COLUMN

A tool is used as its documentation shows. Only what a tool needs is imported,
as its start counts too.
"""

import glob
import os
import sys
from urllib.parse import urlsplit

URL = os.environ.get("DATABASE_URL", "")
POSTGRES = URL.startswith("postgres")
LEVEL = 3


def as_words():
    at = urlsplit(URL)
    return f"host={at.hostname} port={at.port} user={at.username} password={at.password} database={at.path[1:]}"


def duckdb(table, out):
    import duckdb
    import duckdb_ext

    # Extensions come from a package here and not from the tool's own server.
    extension, kind, at = ("postgres_scanner", "postgres", URL) if POSTGRES else ("mysql_scanner", "mysql", as_words())
    folder = os.path.join(list(duckdb_ext.__path__)[0], "extensions")
    found = glob.glob(os.path.join(folder, "**", extension + ".duckdb_extension"), recursive=True)
    db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    db.load_extension(found[0])
    if POSTGRES:
        db.execute("SET pg_connection_limit = 1")
    db.execute(f"ATTACH '{at}' AS source (TYPE {kind}, READ_ONLY)")
    db.execute(f"COPY (FROM source.{table}) TO '{out}' (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL {LEVEL})")


def connectorx(table, out):
    import connectorx
    import pyarrow.parquet

    rows = connectorx.read_sql(URL, f"SELECT * FROM {table}", return_type="arrow")
    pyarrow.parquet.write_table(rows, out, compression="zstd", compression_level=LEVEL)


def adbc(table, out):
    import pyarrow
    import pyarrow.parquet
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(URL) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table}")
        reader = cursor.fetch_record_batch()
        # An extension type, which numeric and the like come as, is its storage here.
        fields = [pyarrow.field(f.name, getattr(f.type, "storage_type", f.type), f.nullable) for f in reader.schema]
        schema = pyarrow.schema(fields)
        with pyarrow.parquet.ParquetWriter(out, schema, compression="zstd", compression_level=LEVEL) as writer:
            for batch in reader:
                columns = [getattr(c, "storage", c) for c in batch.columns]
                writer.write_batch(pyarrow.record_batch(columns, schema=schema))


def polars(table, out):
    import polars

    rows = polars.read_database_uri(f"SELECT * FROM {table}", URL, engine="connectorx")
    rows.write_parquet(out, compression="zstd", compression_level=LEVEL)


def chdb(table, out):
    import chdb

    at = urlsplit(URL)
    source = f"{'postgresql' if POSTGRES else 'mysql'}('{at.hostname}:{at.port}', '{at.path[1:]}', '{table}', '{at.username}', '{at.password}')"
    settings = f"output_format_parquet_compression_method = 'zstd', output_format_compression_level = {LEVEL}"
    chdb.query(f"INSERT INTO FUNCTION file('{out}', 'Parquet') SELECT * FROM {source} SETTINGS {settings}")


def check(folder, column):
    import pyarrow.compute
    import pyarrow.parquet

    count = total = 0
    for path in glob.glob(os.path.join(folder, "**", "*.parquet"), recursive=True):
        with pyarrow.parquet.ParquetFile(path) as file:
            count += file.metadata.num_rows
            for batch in file.iter_batches(columns=[column]):
                total += pyarrow.compute.sum(batch[0]).as_py() or 0
    print(count, total)


if __name__ == "__main__":
    if sys.argv[1] == "check":
        check(*sys.argv[2:])
    else:
        globals()[sys.argv[2]](sys.argv[3], os.path.abspath(os.path.join("out", sys.argv[3] + ".parquet")))
