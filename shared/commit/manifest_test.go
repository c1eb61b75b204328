package commit

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

func frozen(chunks ...runstate.Chunk) Frozen {
	return Frozen{
		Plan:       chunkplan.Plan{RunID: "r1", Export: testExport, Engine: "postgres", Strategy: "chunked", Prefix: "2026-11-29/r1/"},
		Generation: 2, StartedAt: testClock{}.Now(), FrozenAt: testClock{}.Now().Add(time.Minute), Chunks: chunks,
	}
}

func chunk(id contract.TaskID, parts ...string) runstate.Chunk {
	c := runstate.Chunk{ID: id, Status: runstate.ChunkCompleted}
	for _, p := range parts {
		c.Parts = append(c.Parts, runstate.PartRecord{Path: p, Rows: 1, SizeBytes: 1})
		c.Rows++
	}
	return c
}

func TestManifestListsPartsOfLiveTasksInOrder(t *testing.T) {
	replaced := chunk("000001", "b")
	replaced.SupersededBy = "000001.r1"
	m := frozen(chunk("000010", "f"), chunk("000001.s01", "d", "e"), replaced, chunk("000001.r1", "c"), chunk("000000", "a")).Manifest(contract.RunRecordRef{})
	var paths []string
	for i, p := range m.Parts {
		paths = append(paths, p.Path)
		if p.PartID != i+1 {
			t.Errorf("part %s has id %d, want %d", p.Path, p.PartID, i+1)
		}
	}
	if want := []string{"a", "c", "d", "e", "f"}; !slices.Equal(paths, want) {
		t.Errorf("parts %v, want %v", paths, want)
	}
	if m.RowCount != 5 || m.Control != "../.." || *m.Source.Schema != "public" || *m.Source.Table != "orders" {
		t.Errorf("rows %d, control %q, source %v.%v", m.RowCount, m.Control, m.Source.Schema, m.Source.Table)
	}
}

// Manifest and record are the same bytes in whatever order the table lists the
// chunks (D10, V18).
func TestManifestIsAFunctionOfTheFrozenTable(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		chunks := []runstate.Chunk{chunk("000000", "a"), chunk("000001", "b"), chunk("000001.s01", "c"), chunk("000002"), chunk("000011", "d")}
		shuffled := rapid.Permutation(chunks).Draw(rt, "order")
		encode := func(f Frozen) []byte {
			record, err := f.Record("xxh3:0000000000000000")
			if err != nil {
				rt.Fatal(err)
			}
			m, err := f.Manifest(contract.RunRecordRef{Key: "k", Fingerprint: contract.FingerprintOf(record)}).Encode()
			if err != nil {
				rt.Fatal(err)
			}
			return append(m, record...)
		}
		if !bytes.Equal(encode(frozen(chunks...)), encode(frozen(shuffled...))) {
			rt.Fatal("the bytes depend on the order of the listing")
		}
	})
}
