package report

import (
	"encoding/json"
	"fmt"
	"strings"
)

// reader is how to load the run with a tool, through its manifest: a glob would
// also read what the run did not publish.
type reader struct{ Name, Language, Code string }

func (s Summary) readers() []reader {
	if s.ManifestName == "" || len(s.Parts) == 0 {
		return nil
	}
	prefix := strings.TrimPrefix(strings.TrimSuffix(s.DestinationURI, "/"), "file://")
	return []reader{
		{Name: "DuckDB", Language: "sql", Code: s.duckdb(prefix)},
		{Name: "pyarrow", Language: "python", Code: s.pyarrow(prefix)},
	}
}

func (s Summary) duckdb(prefix string) string {
	scan := "read_parquet(getvariable('parts'))"
	if s.Format == "csv" {
		scan = "read_csv(getvariable('parts'), header = true, allow_quoted_nulls = false)"
	}
	return fmt.Sprintf(`SET VARIABLE parts = (
  SELECT list(%s || part.path ORDER BY part.part_id)
  FROM (SELECT unnest(parts) AS part FROM read_json(%s))
  WHERE part.status = 'committed'
);
SELECT count(*) FROM %s;`, sqlText(prefix+"/"), sqlText(prefix+"/"+s.ManifestName), scan)
}

func (s Summary) pyarrow(prefix string) string {
	load, imports := "dataset.dataset(parts, filesystem=store, format=\"parquet\").to_table()", "from pyarrow import dataset, fs"
	if s.Format == "csv" {
		imports = "import pyarrow as pa\nfrom pyarrow import csv, fs"
		load = "pa.concat_tables((\n    csv.read_csv(store.open_input_stream(part), parse_options=lines, convert_options=nulls)\n    for part in parts\n), promote_options=\"permissive\")"
		imports += "\n\nlines = csv.ParseOptions(newlines_in_values=True)\nnulls = csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)"
	}
	// A URI would have to be encoded, and S3's prefix is not part of one.
	store := "fs.LocalFileSystem()"
	if scheme, rest, ok := strings.Cut(prefix, "://"); ok {
		bucket, _, _ := strings.Cut(rest, "/")
		store, prefix = "fs.FileSystem.from_uri("+pythonText(scheme+"://"+bucket)+")[0]", rest
	}
	return fmt.Sprintf(`import json
%s

store, prefix = %s, %s
with store.open_input_stream(f"{prefix}/%s") as f:
    manifest = json.load(f)
parts = [f"{prefix}/{p['path']}" for p in manifest["parts"] if p["status"] == "committed"]
table = %s
assert table.num_rows == manifest["row_count"]`, imports, store, pythonText(prefix), s.ManifestName, load)
}

// sqlText is s as a string literal of SQL.
func sqlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// pythonText is s as a string literal of Python, which JSON's are.
func pythonText(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(b)
}
