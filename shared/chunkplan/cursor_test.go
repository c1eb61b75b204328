package chunkplan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

var at = keyspace.Column{Name: "at", Native: "timestamptz", Nullable: true}

func names(key []keyspace.Column) string {
	var all []string
	for _, k := range key {
		all = append(all, k.Expression())
	}
	return strings.Join(all, ",")
}

func TestChooseByCursor(t *testing.T) {
	incremental := exportconfig.Export{Name: "orders", Mode: exportconfig.Incremental, CursorColumn: "at"}
	coalesced := incremental
	coalesced.CursorFallback = "made"
	settled := incremental
	settled.Settle = &exportconfig.Settle{After: time.Minute}
	byID := incremental
	byID.CursorColumn = "id"
	made := column("made", "timestamptz")
	for _, tc := range []struct {
		name          string
		export        exportconfig.Export
		facts         Facts
		key, identity string
		splittable    bool
		warns         []string
	}{
		{"the cursor comes before the key", incremental, facts([]UniqueKey{primary(tenant, id)}, at), "at,tenant,id", "tenant,id", true, []string{"CURSOR_NO_LAG"}},
		{"a cursor that is the key stands once", byID, facts([]UniqueKey{primary(id)}), "id", "id", true, []string{"CURSOR_NO_LAG"}},
		{"two columns are one cursor, without NULLs if one has none", coalesced, facts([]UniqueKey{primary(id)}, at, made), "coalesce(at, made),id", "id", true, []string{"CURSOR_NO_LAG"}},
		{"settle is a lag", settled, facts([]UniqueKey{primary(id)}, at), "at,id", "id", true, nil},
		{"no key", settled, facts(nil, at), "at", "", true, []string{"CURSOR_WITHOUT_KEY"}},
		{"two columns without a key cannot be split", coalesced, facts(nil, at, made), "coalesce(at, made)", "", false, []string{"CURSOR_WITHOUT_KEY", "CURSOR_NO_LAG"}},
		{"a window of time", exportconfig.Export{Name: "orders", Mode: exportconfig.TimeWindow, TimeColumn: "at"}, facts([]UniqueKey{primary(id)}, at), "at,id", "id", true, nil},
		{"a key that grows", exportconfig.Export{Name: "orders", Mode: Chunked, ChunkByKey: "id", KeysetIncremental: true}, facts([]UniqueKey{primary(id)}), "id", "", true, []string{"KEYSET_APPENDS_ONLY"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := Choose(tc.export, tc.facts, Budget{Time: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			var warns []string
			for _, d := range c.Diagnostics {
				if d.Code != "CONSISTENCY_PER_TASK" {
					warns = append(warns, d.Code)
				}
			}
			if names(c.Key) != tc.key || names(c.Identity) != tc.identity || c.Cursor == nil || c.Splittable != tc.splittable || !slices.Equal(warns, tc.warns) {
				t.Errorf("key %s, identity %s, splittable %t, warnings %v", names(c.Key), names(c.Identity), c.Splittable, warns)
			}
			ranges, _, err := c.Tasks(Bounds{}, nil)
			if err != nil || slices.ContainsFunc(ranges, func(r keyspace.Range) bool { return r.Null || r.All }) {
				t.Errorf("ranges %v, %v: rows without a cursor are in no window", ranges, err)
			}
		})
	}
}

func TestChooseByCursorRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		export exportconfig.Export
		code   fault.Code
	}{
		{"a cursor in another case", exportconfig.Export{Mode: exportconfig.Incremental, CursorColumn: "AT"}, "LAPSTRAKE_PLAN_COLUMN_CASE"},
		{"a fallback that is not there", exportconfig.Export{Mode: exportconfig.Incremental, CursorColumn: "at", CursorFallback: "made"}, "LAPSTRAKE_PLAN_COLUMN_UNKNOWN"},
		{"a fallback of another type", exportconfig.Export{Mode: exportconfig.Incremental, CursorColumn: "at", CursorFallback: "id"}, "LAPSTRAKE_PLAN_CURSOR_TYPE"},
		{"a time that is not there", exportconfig.Export{Mode: exportconfig.TimeWindow, TimeColumn: "made"}, "LAPSTRAKE_PLAN_COLUMN_UNKNOWN"},
		{"a key of two columns that grows", exportconfig.Export{Mode: Chunked, ChunkByKey: "tenant", KeysetIncremental: true}, "LAPSTRAKE_PLAN_KEY_NOT_UNIQUE"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.export.Name = "orders"
			_, err := Choose(tc.export, facts([]UniqueKey{primary(tenant, id)}, at), Budget{})
			if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), `"orders"`) {
				t.Fatalf("%v, want %s", err, tc.code)
			}
		})
	}
}

// A small window is one task, a large one has as many as its rows ask for, and
// the size of the whole table does not matter.
func TestAWindowIsCutByItsOwnSize(t *testing.T) {
	f := facts([]UniqueKey{primary(id)}, at)
	f.Rows, f.Bytes = 1<<30, 1<<40 // a KiB a row
	e := exportconfig.Export{Name: "orders", Mode: exportconfig.Incremental, CursorColumn: "at"}
	c, err := Choose(e, f, Budget{})
	if err != nil {
		t.Fatal(err)
	}
	for rows, want := range map[int64]int{0: 1, 1000: 1, 1 << 22: 4, 1 << 28: 256, -1: unknownPieces} {
		sized, err := c.Sized(rows, Budget{})
		if err != nil || sized.Pieces != want || (want > 1) != (sized.Cuts == SplitPoints) {
			t.Errorf("%d rows: %d pieces by %s, want %d (%v)", rows, sized.Pieces, sized.Cuts, want, err)
		}
	}
	f.Keys = nil
	if c, err = Choose(e, f, Budget{}); err != nil {
		t.Fatal(err)
	}
	if sized, err := c.Sized(1<<28, Budget{}); err != nil || sized.Pieces != 1 {
		t.Errorf("without a key: %d pieces, %v", sized.Pieces, err)
	}
}

// The key that the delivered rows are known by is taken, as long as it is there.
func TestTheKeyOfThePositionIsPreferred(t *testing.T) {
	c, err := Choose(exportconfig.Export{Name: "orders", Mode: exportconfig.Incremental, CursorColumn: "at"}, facts([]UniqueKey{primary(id), unique(code)}, at), Budget{})
	if err != nil {
		t.Fatal(err)
	}
	if c.PreferIdentity(contract.Position{KeyColumns: []string{"guid"}}) || names(c.Identity) != "id" {
		t.Errorf("identity %s for a key that is not there", names(c.Identity))
	}
	if !c.PreferIdentity(contract.Position{KeyColumns: []string{"code"}}) || names(c.Identity) != "code" || names(c.Key) != "at,code" || !c.Unique {
		t.Errorf("identity %s, key %s", names(c.Identity), names(c.Key))
	}
}

func TestLimits(t *testing.T) {
	from := &contract.Position{Value: "7", KeyColumns: []string{"id"}, DeliveredKeys: [][]string{{"1"}, {"2"}}}
	p := Plan{Window: &contract.PositionWindow{From: from}, Within: &keyspace.Window{To: "9", Key: []keyspace.Column{id}}}
	if w := p.Limits(); len(w.Except) != 2 || w.Except[1][0] != "2" || len(p.Within.Except) != 0 {
		t.Errorf("limits %+v of %+v", w, p.Within)
	}
	from.KeyColumns = []string{"code"}
	if w := p.Limits(); len(w.Except) != 0 {
		t.Errorf("keys of other columns are left out: %+v", w)
	}
	from.KeyColumns, from.KeyTypes = []string{"id"}, []string{"text"}
	if w := p.Limits(); len(w.Except) != 0 {
		t.Errorf("keys of another type are left out: %+v", w)
	}
}

func TestDeliveredKeysAreOfTheKeyWhoseTextsTheyAre(t *testing.T) {
	key := func(natives ...string) (k []keyspace.Column) {
		for i, native := range natives {
			k = append(k, keyspace.Column{Name: []string{"id", "region"}[i], Native: native})
		}
		return k
	}
	for _, tc := range []struct {
		name string
		now  []keyspace.Column
		was  []string
		want bool
	}{
		{"the types that they had", key("uuid", "text"), []string{"uuid", "text"}, true},
		{"a wider integer", key("bigint"), []string{"integer"}, true},
		{"a narrower integer", key("int"), []string{"bigint unsigned"}, true},
		{"text of another length", key("text"), []string{"character varying"}, true},
		{"text instead of a number", key("text"), []string{"integer"}, false},
		{"a number instead of text", key("integer"), []string{"varchar"}, false},
		{"a date instead of a time", key("date"), []string{"timestamp without time zone"}, false},
		{"a time with a zone", key("timestamp with time zone"), []string{"timestamp without time zone"}, false},
		{"text that is padded", key("character"), []string{"text"}, false},
		{"another type of the second column", key("int", "uuid"), []string{"int", "text"}, false},
		{"types that are not known", key("text", "uuid"), nil, true},
		{"a type too few", key("int", "text"), []string{"int"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := contract.Position{KeyTypes: tc.was}
			for _, k := range tc.now {
				p.KeyColumns = append(p.KeyColumns, k.Name)
			}
			if got := SameKey(tc.now, p); got != tc.want {
				t.Errorf("%v of a position by %v: same %t", tc.now, tc.was, got)
			}
			p.KeyColumns[0] = "code"
			if SameKey(tc.now, p) {
				t.Error("a key of another column is taken for the same")
			}
		})
	}
	if SameKey(key("int"), contract.Position{KeyColumns: []string{"id", "region"}}) {
		t.Error("a key of fewer columns is taken for the same")
	}
}
