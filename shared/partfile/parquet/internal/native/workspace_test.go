package native

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// A part has the workspace of the one before, and none of its choices: not the
// codec of a column, not its dictionary, not another level.
func TestAPartChoosesForItself(t *testing.T) {
	columns := []rowtype.Column{{Name: "c", Type: rowtype.Type{Kind: rowtype.Text}}}
	r := rand.New(rand.NewPCG(4, 4))
	rows := func(text func(row int) string) *rowbatch.Batch {
		b := rowbatch.New(columns)
		for row := range 2000 {
			b.Columns[0].AppendBytes([]byte(text(row)))
			b.Rows++
		}
		return b
	}
	words := strings.Fields("carefully regular deposits sleep furiously above the quickly final packages ironic requests nag slyly express")
	prose := rows(func(row int) string {
		var text []string
		for range 8 {
			text = append(text, words[r.IntN(len(words))])
		}
		return strings.Join(text, " ")
	})
	hashes := rows(func(int) string { return fmt.Sprintf("%016x%016x", r.Uint64(), r.Uint64()) })
	codes := rows(func(row int) string { return words[row%7] })
	write := func(b *rowbatch.Batch, level int, m *partfile.Memory) ([]byte, *workspace) {
		w := start(t, partfile.Options{Columns: columns, Compression: "zstd", Level: level, Memory: m})
		used := w.workspace
		if err := w.Append(b); err != nil {
			t.Fatal(err)
		}
		part, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		return part.Body, used
	}
	for name, first := range map[string]*rowbatch.Batch{"prose": prose, "hashes": hashes, "codes": codes} {
		for after, second := range map[string]*rowbatch.Batch{"prose": prose, "hashes": hashes, "codes": codes} {
			m := &partfile.Memory{}
			_, left := write(first, 0, m)
			got, used := write(second, 0, m)
			if want, _ := write(second, 0, nil); !bytes.Equal(got, want) {
				t.Errorf("%s after %s have other bytes than alone", after, name)
			}
			if used != left {
				t.Errorf("%s after %s have another workspace", after, name)
			}
		}
	}
	m := &partfile.Memory{}
	write(prose, 0, m)
	got, _ := write(prose, 19, m)
	if want, _ := write(prose, 19, nil); !bytes.Equal(got, want) {
		t.Error("a part has the level of the one before")
	}
}
