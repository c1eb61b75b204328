package contract

import (
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPartNames(t *testing.T) {
	plain := PartNaming{Generation: 1, Plain: true, Ext: "parquet"}
	later := PartNaming{Generation: 12, Ext: "csv"}
	for _, tc := range []struct{ got, want string }{
		{plain.Name(BaseTaskID(0), 0), "part-000001.parquet"},
		{plain.Name(BaseTaskID(0), 1), "part-000001-002.parquet"},
		{plain.Name(BaseTaskID(0).SplitChild(), 1), "part-000001-s01-002.parquet"},
		{plain.Name(BaseTaskID(0).Repair(), 0), "part-000001.parquet"},
		{later.Name(BaseTaskID(0), 0), "part-g000012-000001.csv"},
		{later.Name(BaseTaskID(999_999), 0), "part-g000012-1000000.csv"},
		{Distinct("part-000001.parquet", "xxh3:2d06800538d394c2"), "part-000001-2d06800538d394c2.parquet"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s, want %s", tc.got, tc.want)
		}
	}
}

func TestAListingOfPartsFindsEveryTask(t *testing.T) {
	for _, n := range []PartNaming{{Generation: 1, Plain: true, Ext: "csv"}, {Generation: 12, Ext: "csv"}, {Generation: 1_234_567, Ext: "csv"}} {
		for _, index := range []int{0, 99_998, 99_999, 999_999} {
			if name := n.Name(BaseTaskID(index), 0); !strings.HasPrefix(name, n.PartPrefix()) {
				t.Errorf("%s does not start with %s", name, n.PartPrefix())
			}
		}
	}
}

type namedPart struct {
	naming PartNaming
	task   TaskID
	seq    int
}

func drawNamed(t *rapid.T, label string) namedPart {
	generation := Generation(rapid.Int64Range(1, 2_000_000).Draw(t, label+" generation"))
	return namedPart{
		naming: PartNaming{Generation: generation, Plain: generation == 1, Ext: "parquet"},
		task:   drawTask(t, label),
		seq:    rapid.IntRange(0, 1_200).Draw(t, label+" seq"),
	}
}

// No two parts share a name, and the name alone says of which generation it
// is, also once the fingerprint has been appended.
func TestPartNamesAreDistinctAndTellTheirGeneration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawNamed(t, "a"), drawNamed(t, "b")
		if rapid.Bool().Draw(t, "near") { // close neighbours collide first
			b.naming = a.naming
		}
		nameA, nameB := a.naming.Name(a.task, a.seq), b.naming.Name(b.task, b.seq)
		if (a == b) != (nameA == nameB) {
			t.Fatalf("%+v and %+v are called %s and %s", a, b, nameA, nameB)
		}
		f := FingerprintOf([]byte(rapid.String().Draw(t, "content")))
		for _, name := range []string{nameA, Distinct(nameA, f)} {
			g, plain, ok := PartGeneration(name)
			if !ok || plain != a.naming.Plain || !plain && g != a.naming.Generation {
				t.Fatalf("%s reads as generation %d, plain %v, %v; made by %+v", name, g, plain, ok, a.naming)
			}
			if !strings.HasPrefix(name, a.naming.PartPrefix()) {
				t.Fatalf("%s does not start with %s", name, a.naming.PartPrefix())
			}
		}
	})
}

func TestNamesThatAreNotParts(t *testing.T) {
	for _, name := range []string{
		"", "part-.parquet", "part-000001", "part-000001.parquet.tmp", "part-000001.json", "part-g12-000001.parquet", "xpart-000001.parquet",
		"part-000001-zz.parquet", "part-000001-2D06800538D394C2.parquet", "part-000001.parquet\n", "orders_20261129_131843_chunk0_e990e4b57559bd75.parquet",
	} {
		if g, plain, ok := PartGeneration(name); ok {
			t.Errorf("%q is of generation %d, plain %v", name, g, plain)
		}
	}
}

// A listing of generations begins with the newest, and a name tells which it is.
func TestGenerationsAreListedNewestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := Generation(rapid.Int64Range(1, 20_000_000).Draw(t, "generation"))
		if older, newer := GenerationKey("e", g), GenerationKey("e", g+1); newer >= older || !strings.HasPrefix(older, GenerationsDir("e")) || TracedGeneration(path.Base(older)) != g {
			t.Fatalf("%s and %s of generation %d", older, newer, g)
		}
	})
	for _, name := range []string{"", "g000001.json", "9999999998-g1.json", "9999999998-g000001.json.tmp", "record-g000001.json"} {
		if g := TracedGeneration(name); g != 0 {
			t.Errorf("%q is of generation %d", name, g)
		}
	}
}

func TestSidecarNames(t *testing.T) {
	if got := SidecarName("shop/orders é_20261129T120000.000"); got != "manifest-shop-orders--_20261129T120000.000.json" {
		t.Error(got)
	}
	for name, want := range map[string]bool{
		SidecarName("r"): true, "manifest-notes.json": true, "manifest-.json": true, "manifest.json": false, "manifest-.jso": false,
		"manifest-a.json.tmp": false, "Manifest-a.json": false, "x/manifest-a.json": false, "": false,
	} {
		if got := IsSidecarName(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if name := SidecarName(RunID(rapid.String().Draw(t, "run"))); !IsSidecarName(name) || strings.Contains(name, "/") {
			t.Fatalf("%q is not the name of a sidecar in its prefix", name)
		}
	})
}

func TestControlKeysStayInTheControlFolder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		export := ExportName(rapid.StringMatching(`[a-z./ é]{1,12}x`).Draw(t, "export"))
		run := RunID(rapid.StringMatching(`[a-z./ é]{1,12}x`).Draw(t, "run"))
		for _, key := range []string{
			CursorKey(export), PlanKey(export, run), RecordKey(export, run, 7), GenerationKey(export, 7), SummaryKey(export, run, "json"), VerdictKey(export, run, FingerprintOf(nil)),
		} {
			if !strings.HasPrefix(key, ControlDir+"/") || strings.Contains(key, "/../") {
				t.Fatalf("%q leaves the control folder", key)
			}
		}
	})
	if got := RecordKey("e", "r", 7); got != "_lapstrake/e/runs/r/record-g000007.json" {
		t.Error(got)
	}
	if got := QuarantineName("r/1", "part-000001.parquet"); got != "_quarantine/r-1/part-000001.parquet" {
		t.Error(got)
	}
}
