package parquet

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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

// Readers that share no code with this project or with each other, pyarrow,
// DuckDB, Polars and parquet-rs, find exactly the values that were written, extremes
// included, in every codec and encoding and over many pages; and they find the
// same in our file of the upstream's rows as in the upstream's. Those that skip by
// bounds find the same rows as one who looks at all of them.
func TestOtherReadersFindTheSameValues(t *testing.T) {
	python := testenv.Server(t, testenv.ReaderPython)
	dir := t.TempDir()
	save := func(name string, body []byte) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, body, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	script := save("readers.py", []byte(readersScript))
	run := func(args ...string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), python, append([]string{script}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
	}

	columns := rowbatchtest.AllTypes()
	rows := rowbatchtest.Rows(columns, 2000, 11)
	args := []string{save("extremes.json", expected(t, columns, rows))}
	eachWriter(t, func(_ *testing.T, o partfile.Options) {
		for _, compression := range codecs {
			o.Columns, o.Compression, o.RowGroupRows = columns, compression, 900
			args = append(args, save(strings.Join([]string{"extremes", o.Writer, o.Encoding, compression, "parquet"}, "."), write(t, o, rows)))
		}
	})
	args = append(args, "--same")
	o := partfile.Options{Columns: rowbatchtest.UpstreamColumns(), Compression: "zstd"}
	run(append(args, save("ours.parquet", write(t, o, rowbatchtest.UpstreamRows(1, 2500))), save("theirs.parquet", upstreamPart(t, "full/*.parquet")))...)

	// Pages of one kind after another, in few columns at a time.
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 13))
		o := partfile.Options{Columns: randomColumns(r, 5), Compression: codecs[seed%5], RowGroupRows: 25_000}
		if seed%2 == 0 {
			o.Encoding = partfile.CompactEncoding
		}
		rows := randomRows(r, o.Columns, 30_000)
		run(save(fmt.Sprintf("%d.json", seed), expected(t, o.Columns, rows)), save(fmt.Sprintf("pages.%d.parquet", seed), write(t, o, rows)), "--filters")
	}
}

func expected(t *testing.T, columns []rowtype.Column, rows *rowbatch.Batch) []byte {
	t.Helper()
	out := make([]expectedColumn, len(columns))
	for i, c := range columns {
		out[i] = expectedColumn{Name: c.Name, Type: c.Type.String(), Values: canonical(&rows.Columns[i], 0, rows.Rows)}
	}
	body, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return body
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
