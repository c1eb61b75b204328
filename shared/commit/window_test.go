package commit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// windowed is a run from a position to a value, with the keys that its tasks
// delivered at it.
func windowed(from *contract.Position, to string, chunks ...runstate.Chunk) Frozen {
	end := contract.Position{Kind: "incremental", Column: "at", Type: "bigint", Value: to, KeyColumns: []string{"id"}}
	return Frozen{
		Plan: chunkplan.Plan{
			Strategy: "incremental", NullRows: 4, Window: &contract.PositionWindow{Kind: "incremental", Column: "at", Type: "bigint", From: from, To: &end},
			Within: &keyspace.Window{Cursor: keyspace.Column{Name: "at"}, To: to, Key: []keyspace.Column{{Name: "id"}}},
		},
		Chunks: chunks,
	}
}

func task(id string, keys ...string) runstate.Chunk {
	c := runstate.Chunk{ID: contract.TaskID(id)}
	for _, k := range keys {
		c.HiKeys = append(c.HiKeys, []string{k})
	}
	return c
}

func TestTheKeysAtTheEndOfAWindow(t *testing.T) {
	at7 := &contract.Position{Kind: "incremental", Column: "at", Type: "bigint", Value: "7", KeyColumns: []string{"id"}, DeliveredKeys: [][]string{{"1"}, {"2"}}}
	other := *at7
	other.KeyColumns = []string{"code"}
	text := *at7
	text.KeyTypes = []string{"text"}
	repaired := task("000000", "9")
	repaired.SupersededBy = "000000.r1"
	for _, tc := range []struct {
		name string
		run  Frozen
		want [][]string
	}{
		{"those of all tasks, in one order", windowed(nil, "7", task("000001", "b"), task("000000", "c", "a")), [][]string{{"a"}, {"b"}, {"c"}}},
		{"not of one that was repaired", windowed(nil, "7", repaired, task("000000.r1", "8")), [][]string{{"8"}}},
		{"with those of the run before, where the position has not moved", windowed(at7, "7", task("000000", "3")), [][]string{{"1"}, {"2"}, {"3"}}},
		{"without them where it has", windowed(at7, "8", task("000000", "3")), [][]string{{"3"}}},
		{"without those of another key", windowed(&other, "7", task("000000", "3")), [][]string{{"3"}}},
		{"without those of another type", windowed(&text, "7", task("000000", "3")), [][]string{{"3"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := tc.run.Window()
			if diff := cmp.Diff(tc.want, w.To.DeliveredKeys); diff != "" {
				t.Error(diff)
			}
			if tc.run.Plan.Window.To.DeliveredKeys != nil {
				t.Error("the plan has changed")
			}
		})
	}
}

func TestTooManyKeysAtTheEndOfAWindow(t *testing.T) {
	many := task("000000")
	for i := range contract.MaxDeliveredKeys {
		many.HiKeys = append(many.HiKeys, []string{fmt.Sprint(i)})
	}
	if err := windowed(nil, "7", many).CheckWindow(); err != nil {
		t.Error(err)
	}
	for name, over := range map[string]Frozen{
		"a key too many": windowed(nil, "7", many, task("000001", "one more")),
		"too long keys":  windowed(nil, "7", task("000000", strings.Repeat("k", contract.MaxDeliveredKeyBytes)), task("000001", "k")),
	} {
		if err := over.CheckWindow(); fault.CodeOf(err) != "LAPSTRAKE_RUN_CURSOR_TIES_GREW" || fault.Retry(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExtractionSaysWhatWasRead(t *testing.T) {
	c := task("000000")
	c.Repeated = 3
	f := windowed(&contract.Position{Value: "5"}, "7", c)
	low := "5"
	f.Plan.Within.From = &low
	want := &contract.Extraction{Strategy: "incremental", CursorColumn: "at", CursorLow: "5", CursorHigh: "7", NullRows: 4, RepeatedRows: 3}
	if diff := cmp.Diff(want, f.extraction()); diff != "" {
		t.Error(diff)
	}
	f.Plan.Within = nil // there was nothing to read
	want.CursorHigh = "5"
	if diff := cmp.Diff(want, f.extraction()); diff != "" {
		t.Error(diff)
	}
}
