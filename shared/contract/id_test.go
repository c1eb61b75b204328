package contract

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestNewRunID(t *testing.T) {
	cest := time.FixedZone("CEST", 7200)
	for _, tc := range []struct {
		name string
		at   time.Time
		want RunID
	}{
		{"in UTC", time.Date(2026, 5, 21, 14, 0, 0, 0, cest), "public.orders_20260521T120000.000"},
		{"milliseconds are cut, not rounded", time.Date(2026, 5, 21, 12, 0, 0, 999_999_999, time.UTC), "public.orders_20260521T120000.999"},
	} {
		if got := NewRunID("public.orders", tc.at); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

func TestRunIDsOfTriggers(t *testing.T) {
	for _, tc := range []struct {
		id   RunID
		want bool
	}{
		{NewRunID("my orders", time.Unix(0, 0)), true},
		{"orders-2026.11.29_a", true},
		{"", false},
		{"my orders_", false},
		{".", false},
		{"..", false},
		{".hidden", false},
		{"a/b", false},
		{"a b", false},
		{"my orders_a/b", false},
		{RunID(strings.Repeat("a", MaxRunIDBytes)), true},
		{RunID(strings.Repeat("a", MaxRunIDBytes+1)), false},
	} {
		if got := tc.id.MayName("my orders"); got != tc.want {
			t.Errorf("%q: %v, want %v", tc.id, got, tc.want)
		}
	}
}

func TestTaskIDs(t *testing.T) {
	id := BaseTaskID(3)
	for _, tc := range []struct {
		name   string
		got    TaskID
		want   TaskID
		suffix string
		depth  int
	}{
		{"planned", id, "000003", "", 0},
		{"split once", id.SplitChild(), "000003.s01", ".s01", 1},
		{"split twice", id.SplitChild().SplitChild(), "000003.s02", ".s02", 2},
		{"repaired", id.Repair(), "000003.r1", ".r1", 0},
		{"repaired twice", id.Repair().Repair(), "000003.r2", ".r2", 0},
		{"split, then repaired", id.SplitChild().Repair(), "000003.s01.r1", ".s01.r1", 0},
		{"repaired, then split", id.Repair().SplitChild(), "000003.r1.s01", ".r1.s01", 1},
		{"the millionth", BaseTaskID(1_000_000), "1000000", "", 0},
	} {
		if tc.got != tc.want || tc.got.Suffix() != tc.suffix || tc.got.SplitDepth() != tc.depth {
			t.Errorf("%s: %s, suffix %q, depth %d", tc.name, tc.got, tc.got.Suffix(), tc.got.SplitDepth())
		}
		if _, err := ParseTaskID(string(tc.got)); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if base, ok := tc.got.Base(); !ok || (base != 3 && base != 1_000_000) {
			t.Errorf("%s: base %d, %v", tc.name, base, ok)
		}
	}
	for _, s := range []string{"", "3", "00000a", "000003.", "000003.s1", "000003.r", "000003.x01", "000003 ", "-00003", "000003\n"} {
		if id, err := ParseTaskID(s); err == nil {
			t.Errorf("%q parses as %s", s, id)
		}
		if _, ok := TaskID(s).Base(); ok {
			t.Errorf("%q has a base", s)
		}
	}
}

// drawTask draws a task as splits and repairs make it.
func drawTask(t *rapid.T, label string) TaskID {
	id := BaseTaskID(rapid.IntRange(0, 1_200_000).Draw(t, label+" index"))
	for range rapid.IntRange(0, 4).Draw(t, label+" splits") {
		id = id.SplitChild()
	}
	return id
}

func TestTaskIDsOfOneTreeAreDistinct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := drawTask(t, "task")
		for _, other := range []TaskID{id.SplitChild(), id.Repair(), id.SplitChild().Repair(), id.Repair().SplitChild()} {
			if other == id || !strings.HasPrefix(string(other), string(BaseTaskID(mustBase(t, id)))) {
				t.Fatalf("%s follows %s", other, id)
			}
		}
	})
}

func mustBase(t *rapid.T, id TaskID) int {
	n, ok := id.Base()
	if !ok {
		t.Fatalf("%q has no base", id)
	}
	return n
}
