package exportconfig

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/contract"
)

func TestResolvePrefix(t *testing.T) {
	late := time.Date(2026, 11, 29, 1, 30, 0, 0, time.FixedZone("", 2*3600)) // the 28th in UTC
	for _, tc := range []struct{ name, template, want string }{
		{"nothing to resolve", "", ""},
		{"the day is that of UTC", "d={date}/", "d=2026-11-28/"},
		{"the run", "{run_id}/x/", "orders_20261128T233000.000/x/"},
		{"other words stay", "{other}/{date", "{other}/{date"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ResolvePrefix(tc.template, contract.NewRunID("orders", late), late); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	if got := ResolvePrefix("{run_id}/", "{date}", late); got != "{date}/" {
		t.Errorf("a value was scanned again: %q", got)
	}
	if RunScoped("a/{date}/") || !RunScoped("{date}/{run_id}/") {
		t.Error("RunScoped does not look for {run_id}")
	}
}

// TestRootIsTheStaticPart splits paths at their first folder with a
// placeholder.
func TestRootIsTheStaticPart(t *testing.T) {
	for _, tc := range []struct{ name, destination, root, template string }{
		{"static", "{type: s3, bucket: lake, prefix: a/b}", "s3://lake/a/b", ""},
		{"the bucket", "{type: s3, bucket: lake}", "s3://lake", ""},
		{"the bucket, spelt out", "{type: s3, bucket: lake, prefix: /}", "s3://lake", ""},
		{"a placeholder inside a folder name", "{type: s3, bucket: lake, prefix: 'a/day={date}/b'}", "s3://lake/a", "day={date}/b/"},
		{"from the bucket on", "{type: s3, bucket: lake, prefix: '{run_id}'}", "s3://lake", "{run_id}/"},
		{"the export is known", "{type: s3, bucket: lake, prefix: '{export}/{table}'}", "s3://lake/orders/orders", ""},
		{"other words are names", "{type: s3, bucket: lake, prefix: '{other}/{date}'}", "s3://lake/{other}", "{date}/"},
		{"relative to the config", "{type: local, path: ../out//x/}", "file:///srv/out/x", ""},
		{"prefix instead of path", "{type: local, prefix: out}", "file:///srv/etl/out", ""},
		{"the folder of the config", "{type: local}", "file:///srv/etl", ""},
		{"absolute", "{type: local, path: '/data/{date}'}", "file:///data", "{date}/"},
		{"the root of the disk", "{type: local, path: /}", "file:///", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, err := Parse("rivet.yaml", []byte(file("table: t\nformat: csv\ndestination: "+tc.destination+"\n")), env())
			if err != nil {
				t.Fatal(err)
			}
			e := cfg.Exports[0]
			if e.Destination.URI != tc.root || e.PrefixTemplate != tc.template {
				t.Errorf("got %s and %q, want %s and %q", e.Destination.URI, e.PrefixTemplate, tc.root, tc.template)
			}
			warned := false
			for _, d := range e.Diagnostics {
				warned = warned || d.Code == "GLOB_READERS_SEE_OLD_PARTS"
			}
			if warned != (tc.template == "") {
				t.Errorf("a reader of the folder is warned of: %t", warned)
			}
		})
	}
}

func TestRelativePathsNeedAFolder(t *testing.T) {
	_, err := Parse("s3://etl/rivet.yaml", []byte(file(rest)), Env{})
	if err == nil || !strings.Contains(err.Error(), "destination.path is a relative path, and this config has no folder") {
		t.Errorf("got %v", err)
	}
}

func TestOverlap(t *testing.T) {
	for _, tc := range []struct {
		name, a, b string // prefixes of exports a and b
		want       bool
	}{
		{"apart", "x/a", "x/b", false},
		{"equal", "x/a", "x/a/", true},
		{"nested", "exports", "exports/cdc", true},
		{"nested, the other way round", "exports/cdc", "exports", true},
		{"a folder is not a start of a name (DST-03)", "exports/orders", "exports/orders_archive", false},
		{"the whole bucket", "", "x", true},
		{"by export", "x/{export}", "x/{table}", false},
		{"one day", "x/{date}", "x/{date}", true},
		{"a day and a name", "x/{date}", "x/b", false},
		{"a day and a name that is one", "x/{date}", "x/2026-11-28", true},
		{"a day and a name that is none", "x/{date}", "x/2026-1a-28", false},
		{"a day inside of a name", "x/d={date}", "x/d=2026-11-28/y", true},
		{"run ids name their export", "x/{run_id}", "x/{run_id}", false},
		{"a run id and a name that is one", "x/{run_id}", "x/a_20261128T233000.000", true},
		{"behind a day", "x/{date}/a", "x/{date}/b", false},
		{"nested behind a day", "x/{date}", "x/{date}/b", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config := src + "exports:\n" +
				"- {name: a, table: t, format: csv, destination: {type: s3, bucket: lake, prefix: '" + tc.a + "'}}\n" +
				"- {name: b, table: t, format: csv, destination: {type: s3, bucket: lake, prefix: '" + tc.b + "'}}\n"
			cfg, err := Parse("rivet.yaml", []byte(config), env())
			if refused := err != nil && strings.Contains(err.Error(), "its destination is equal"); refused != tc.want {
				t.Errorf("%s and %s: %v", tc.a, tc.b, err)
			}
			if tc.want == (len(cfg.Exports) == 2) {
				t.Errorf("%d exports can be run", len(cfg.Exports))
			}
		})
	}
}

// TestExportsThatAreAcceptedNeverMeet resolves accepted templates for days and
// runs at will: no prefix is equal to another one, or inside it (MAN-13).
func TestExportsThatAreAcceptedNeverMeet(t *testing.T) {
	folder := rapid.SampledFrom([]string{"a", "b", "{date}", "{run_id}", "{export}", "2026-11-28", "a_20261128T000000.000", "{date}x", "x{date}"})
	prefix := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(folder, 0, 3).Draw(t, "folders"), "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		config := src + "exports:\n"
		for _, name := range []string{"a", "b"} {
			config += "- {name: " + name + ", table: t, format: csv, destination: {type: s3, bucket: lake, prefix: '" + prefix.Draw(t, name) + "'}}\n"
		}
		cfg, err := Parse("rivet.yaml", []byte(config), env())
		if err != nil {
			return
		}
		day := rapid.Custom(func(t *rapid.T) time.Time {
			return time.Date(2026, 11, rapid.IntRange(27, 29).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		})
		var resolved []string
		for i, e := range cfg.Exports {
			run := contract.NewRunID(contract.ExportName(e.Name), day.Draw(t, "run"+strconv.Itoa(i)))
			resolved = append(resolved, e.Destination.URI+"/"+ResolvePrefix(e.PrefixTemplate, run, day.Draw(t, "date"+strconv.Itoa(i))))
		}
		for i, p := range resolved {
			if other := resolved[1-i]; strings.HasPrefix(strings.TrimSuffix(p, "/")+"/", strings.TrimSuffix(other, "/")+"/") {
				t.Fatalf("%s is inside %s, of\n%s", p, other, config)
			}
		}
	})
}
