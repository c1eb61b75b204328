package native

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// The thorough matcher works where it makes text shorter, and nowhere else.
func TestByteArraysHaveTheCodecThatPays(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	hash := func() string {
		var b [16]byte
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return hex.EncodeToString(b[:])
	}
	words := strings.Fields("carefully regular deposits sleep furiously above the quickly final packages ironic requests nag slyly express accounts haggle among foxes")
	prose := func() string {
		chosen := make([]string, 6)
		for i := range chosen {
			chosen[i] = words[r.IntN(len(words))]
		}
		text := strings.Join(chosen, " ")
		return text[:10+r.IntN(len(text)-10)]
	}
	nothing := func() string { return "" }
	for _, tc := range []struct {
		name          string
		first, others func() string
		thorough      bool
	}{
		{"hashes", hash, hash, false},
		{"prose", prose, prose, true},
		{"prose after a page of NULL", nothing, prose, true},
	} {
		columns := []rowtype.Column{{Name: "c", Type: rowtype.Type{Kind: rowtype.Text}}}
		b := rowbatch.New(columns)
		for row := range 3 * pageRows {
			value := tc.others
			if row < pageRows {
				value = tc.first
			}
			if text := value(); text == "" {
				b.Columns[0].AppendNull()
			} else {
				b.Columns[0].AppendBytes([]byte(text))
			}
			b.Rows++
		}
		w := start(t, partfile.Options{Columns: columns, Compression: "zstd"})
		if w.scratch.text == w.scratch.light {
			t.Fatal("the usual level has one codec: there is nothing to choose")
		}
		if err := w.Append(b); err != nil {
			t.Fatal(err)
		}
		want := w.scratch.light
		if tc.thorough {
			want = w.scratch.text
		}
		if got := w.columns[0].codec; got != want {
			t.Errorf("%s: the codec is %v; the thorough one is %v", tc.name, got, w.scratch.text)
		}
	}
}
