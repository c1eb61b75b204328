package parquet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
)

// upstreamPart returns the bytes of the one part of the upstream's sample that
// matches.
func upstreamPart(t *testing.T, pattern string) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../../contract/testdata/upstream-sample", pattern))
	if err != nil || len(names) != 1 {
		t.Fatalf("%d files match %s: %v", len(names), pattern, err)
	}
	body, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// The row hashes in the upstream's files are those of the same rows.
func TestUpstreamRowHashes(t *testing.T) {
	for _, tc := range []struct {
		pattern     string
		first, last int
	}{
		{"inc/orders_inc_20261129_131843_142_*.parquet", 1, 2500},
		{"inc/orders_inc_20261129_131843_486_*.parquet", 2501, 2600},
	} {
		r := open(t, upstreamPart(t, tc.pattern))
		column, err := r.RowGroup(0).Column(r.MetaData().Schema.NumColumns() - 1)
		if err != nil {
			t.Fatal(err)
		}
		if name := column.Descriptor().Name(); name != contract.RowHashColumn {
			t.Fatalf("the last column is %s", name)
		}
		want := make([]int64, tc.last-tc.first+1)
		if _, n, err := column.(*file.Int64ColumnChunkReader).ReadBatch(int64(len(want)), want, nil, nil); err != nil || n != len(want) {
			t.Fatalf("%d hashes: %v", n, err)
		}
		rows := rowbatchtest.UpstreamRows(tc.first, tc.last)
		hasher := contract.NewRowHasher([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
		for i := range want {
			if got := hasher.Hash(rows, i); got != want[i] {
				t.Fatalf("row %d of %s: %d, the upstream's is %d", i, tc.pattern, got, want[i])
			}
		}
	}
}

// Our schema is the upstream's column for column, but for the name of a list's
// item.
func TestUpstreamSchema(t *testing.T) {
	theirs := open(t, upstreamPart(t, "full/*.parquet")).MetaData().Schema
	ours := open(t, write(t, partfile.Options{Columns: rowbatchtest.UpstreamColumns(), Compression: "none"})).MetaData().Schema.Root()
	for i := range theirs.Root().NumFields() {
		want, got := theirs.Root().Field(i), ours.Field(i)
		if want.Name() != got.Name() || want.RepetitionType() != got.RepetitionType() || !want.LogicalType().Equals(got.LogicalType()) ||
			want.ConvertedType() != got.ConvertedType() || got.Name() != "tags" && !want.Equals(got) {
			t.Errorf("theirs %v, ours %v", want, got)
		}
	}
}
