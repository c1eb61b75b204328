package chunkplan

import (
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// WRT-03, WRT-04: the plan names the columns that not every reader takes as they
// are, the readers, and the override that they take.
func TestTypesThatNotEveryReaderKnows(t *testing.T) {
	column := func(name string, of rowtype.Type) rowtype.Column { return rowtype.Column{Name: name, Type: of} }
	nano := rowtype.Type{Kind: rowtype.Timestamp, Nano: true}
	clock := rowtype.Type{Kind: rowtype.Time}
	for _, tc := range []struct {
		name    string
		format  string
		columns []rowtype.Column
		want    [][]string // of each warning
	}{
		{name: "nanoseconds", columns: []rowtype.Column{column("at", nano)}, want: [][]string{{"at: ", "Spark", "timestamp_ns"}}},
		{name: "unsigned integers", columns: []rowtype.Column{column("n", rowtype.Type{Kind: rowtype.UInt64})}, want: [][]string{{"n: ", "Athena", "decimal(20,0)"}}},
		{name: "times", columns: []rowtype.Column{column("opens", clock), column("id", rowtype.Type{Kind: rowtype.Int64}), column("closes", clock)}, want: [][]string{{"opens, closes: ", "Spark", "text"}}},
		{name: "a list of times", columns: []rowtype.Column{column("l", rowtype.Type{Kind: rowtype.List, Elem: &clock})}, want: [][]string{{"l: "}}},
		{name: "long decimals", columns: []rowtype.Column{column("d", rowtype.Type{Kind: rowtype.Decimal, Precision: 39}), column("short", rowtype.Type{Kind: rowtype.Decimal, Precision: 38})}, want: [][]string{{"d: decimals", "DuckDB"}}},
		{name: "several kinds", columns: []rowtype.Column{column("opens", clock), column("at", nano)}, want: [][]string{{"at: "}, {"opens: "}}},
		{name: "many columns", columns: []rowtype.Column{column("a", clock), column("b", clock), column("c", clock), column("d", clock), column("e", clock), column("f", clock), column("g", clock)}, want: [][]string{{"a, b, c, d, e and 2 more: "}}},
		{name: "what every reader knows", columns: []rowtype.Column{column("a", rowtype.Type{Kind: rowtype.Timestamp, UTC: true}), column("b", rowtype.Type{Kind: rowtype.Text})}},
		{name: "CSV", format: "csv", columns: []rowtype.Column{column("at", nano)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			export := exportconfig.Export{Format: "parquet"}
			if tc.format != "" {
				export.Format = tc.format
			}
			got := Readers(export, tc.columns)
			if len(got) != len(tc.want) {
				t.Fatalf("%d warnings, want %d: %v", len(got), len(tc.want), got)
			}
			for i, words := range tc.want {
				for _, word := range words {
					if got[i].Code != "NOT_EVERY_READER" || !strings.Contains(got[i].Message, word) {
						t.Errorf("%q lacks %q", got[i].Message, word)
					}
				}
			}
		})
	}
}
