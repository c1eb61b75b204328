package parquet

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

//go:embed testdata/readers.py
var readersScript string

type expectedColumn struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Values []any  `json:"values"`
}

// Readers that share no code with this project, pyarrow and DuckDB, find
// exactly the values that were written, extremes included, in every codec; and
// they find the same in our file of the upstream's rows as in the upstream's.
func TestOtherReadersFindTheSameValues(t *testing.T) {
	python := testenv.Server(t, testenv.ReaderPython)
	dir := t.TempDir()
	script := filepath.Join(dir, "readers.py")
	save := func(name string, body []byte) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, body, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	save("readers.py", []byte(readersScript))

	columns := rowbatchtest.AllTypes()
	rows := rowbatchtest.Rows(columns, 2000, 11)
	expected := make([]expectedColumn, len(columns))
	for i, c := range columns {
		expected[i] = expectedColumn{Name: c.Name, Type: c.Type.String(), Values: canonical(&rows.Columns[i], 0, rows.Rows)}
	}
	body, err := json.Marshal(expected)
	if err != nil {
		t.Fatal(err)
	}
	args := []string{script, save("expected.json", body)}
	for _, compression := range []string{"zstd", "snappy", "gzip", "lz4", "none"} {
		o := partfile.Options{Columns: columns, Compression: compression, RowGroupRows: 900}
		args = append(args, save(compression+".parquet", write(t, o, rows)))
	}
	o := partfile.Options{Columns: rowbatchtest.UpstreamColumns(), Compression: "zstd"}
	args = append(args, "--same",
		save("ours.parquet", write(t, o, rowbatchtest.UpstreamRows(1, 2500))), save("theirs.parquet", upstreamPart(t, "full/*.parquet")))

	out, err := exec.CommandContext(t.Context(), python, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// canonical returns values in a form that JSON does not round: integers as
// text (also dates, times, instants and the unscaled form of decimals), floats
// by their bits, bytes in hex.
func canonical(v *rowbatch.Vector, first, last int) []any {
	out := make([]any, 0, last-first)
	for i := first; i < last; i++ {
		if v.IsNull(i) {
			out = append(out, nil)
			continue
		}
		var x any
		switch v.Type.Kind {
		case rowtype.Bool:
			x = strconv.FormatBool(v.Bool(i))
		case rowtype.Int16:
			x = fmt.Sprint(v.I16[i])
		case rowtype.Int32, rowtype.Date:
			x = fmt.Sprint(v.I32[i])
		case rowtype.Int64, rowtype.Time, rowtype.Timestamp:
			x = fmt.Sprint(v.I64[i])
		case rowtype.UInt64:
			x = fmt.Sprint(v.U64[i])
		case rowtype.Float32:
			x = "nan"
			if v.F32[i] == v.F32[i] {
				x = fmt.Sprintf("%08x", math.Float32bits(v.F32[i]))
			}
		case rowtype.Float64:
			x = "nan"
			if v.F64[i] == v.F64[i] {
				x = fmt.Sprintf("%016x", math.Float64bits(v.F64[i]))
			}
		case rowtype.Decimal:
			x = string(rowbatch.AppendDecimal(nil, v.Slice(i), 0))
		case rowtype.UUID, rowtype.Binary:
			x = hex.EncodeToString(v.Slice(i))
		case rowtype.List:
			lo, hi := v.ItemRange(i)
			x = canonical(v.Items, lo, hi)
		default:
			x = string(v.Slice(i))
		}
		out = append(out, x)
	}
	return out
}
