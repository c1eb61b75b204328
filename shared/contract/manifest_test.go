package contract

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lapstrake/lapstrake/shared/fault"
)

func sampleManifest() Manifest {
	at := NewTime(time.Date(2026, 11, 29, 12, 0, 0, 5_000_000, time.UTC))
	table := "orders"
	return Manifest{
		ManifestVersion: 1, RunID: "public.orders_20261129T120000.000", ExportName: "public.orders", ExportFamily: "public.orders", Mode: "batch",
		StartedAt: at, FinishedAt: at, Status: StatusSuccess,
		Source:      Source{Engine: "postgres", Table: &table, Extraction: &Extraction{Strategy: "chunked", Consistency: "per_task", Key: []string{"id"}}},
		Destination: Destination{Kind: "s3", URI: "s3://bucket/orders"}, Format: "parquet", Compression: "zstd", SchemaFingerprint: SchemaFingerprint(nil),
		RowCount: 30, PartCount: 2,
		Parts: []Part{
			{1, "part-000001.parquet", 10, 100, FingerprintOf([]byte("a")), MD5Base64([]byte("a")), PartCommitted},
			{2, "part-000002.parquet", 20, 200, "", "", PartCommitted},
			{3, "part-000002.parquet", 7, 70, "", "", PartSuperseded},
		},
		RowHash:    &RowHash{Column: RowHashColumn, Covered: json.RawMessage("true"), Render: RowHashRender},
		Generation: 4, Control: "../..",
		RunRecord: &RunRecordRef{Key: "_lapstrake/public.orders/runs/x/record-g000004.json", Fingerprint: FingerprintOf(nil)},
	}
}

func TestManifestRoundTrip(t *testing.T) {
	want := sampleManifest()
	body, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeManifest(body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestManifestTextIsRawAsTheUpstreamWritesIt(t *testing.T) {
	m := sampleManifest()
	m.Parts, m.PartCount, m.RowCount = nil, 0, 0
	m.ExportName = "a<b>&c \u2028\u2029 \\u2028 é \" \x01 \t"
	body, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\"export_name\": \"a<b>&c \u2028\u2029 \\\\u2028 é \\\" \\u0001 \\t\",\n", "\"parts\": [],\n", "\"schema\": null,\n"} {
		if !strings.Contains(string(body), want) {
			t.Errorf("%q is not in\n%s", want, body)
		}
	}
	if strings.HasSuffix(string(body), "\n") {
		t.Error("ends with a newline")
	}
	if got, err := DecodeManifest(body); err != nil || got.ExportName != m.ExportName {
		t.Errorf("reads back as %q, %v", got.ExportName, err)
	}
}

func TestManifestCheck(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(m *Manifest)
		want   string // part of the message; "" for consistent
	}{
		{"as made", func(m *Manifest) {}, ""},
		{"no parts", func(m *Manifest) { m.Parts, m.PartCount, m.RowCount = nil, 0, 0 }, ""},
		{"a tombstone", func(m *Manifest) {
			m.Status, m.SealedBy, m.Parts, m.PartCount, m.RowCount = StatusInterrupted, &SealedBy{"r", 5}, nil, 0, 0
		}, ""},
		{"the row hash covers columns", func(m *Manifest) { m.RowHash.Covered = json.RawMessage(` ["id"] `) }, ""},
		{"another version", func(m *Manifest) { m.ManifestVersion = 2 }, "manifest_version is 2"},
		{"no run", func(m *Manifest) { m.RunID = "" }, "run_id"},
		{"no export", func(m *Manifest) { m.ExportName = "" }, "export_name"},
		{"a status of nobody", func(m *Manifest) { m.Status = "succeeded" }, `status "succeeded"`},
		{"a sealed success", func(m *Manifest) { m.SealedBy = &SealedBy{"r", 5} }, "sealed_by"},
		{"one part too few", func(m *Manifest) { m.PartCount = 1 }, "part_count is 1 and 2 parts"},
		{"rows of a superseded part counted", func(m *Manifest) { m.RowCount = 37 }, "row_count is 37 and the committed parts have 30"},
		{"an id twice", func(m *Manifest) { m.Parts[1].PartID = 1 }, "part_id 1 stands twice"},
		{"an id twice, one of them superseded", func(m *Manifest) { m.Parts[2].PartID = 1 }, "part_id 1 stands twice"},
		{"an id of 0", func(m *Manifest) { m.Parts[0].PartID = 0 }, "below 1"},
		{"a path twice", func(m *Manifest) { m.Parts[1].Path = m.Parts[0].Path }, "count twice"},
		{"a path upwards", func(m *Manifest) { m.Parts[0].Path = "../other/part.parquet" }, "does not stay below"},
		{"a path upwards in the middle", func(m *Manifest) { m.Parts[0].Path = "a/../../b" }, "does not stay below"},
		{"a path from the root", func(m *Manifest) { m.Parts[0].Path = "/part.parquet" }, "does not stay below"},
		{"a path with a backslash", func(m *Manifest) { m.Parts[0].Path = `..\part` }, "does not stay below"},
		{"a path that is not text", func(m *Manifest) { m.Parts[0].Path = "\xff" }, "does not stay below"},
		{"an empty path", func(m *Manifest) { m.Parts[0].Path = "" }, "does not stay below"},
		{"a path of the prefix itself", func(m *Manifest) { m.Parts[0].Path = "." }, "does not stay below"},
		{"a path in a subfolder", func(m *Manifest) { m.Parts[0].Path = "day=2026-11-29/..part" }, ""},
		{"negative rows", func(m *Manifest) { m.Parts[0].Rows = -1 }, "negative"},
		{"a negative size", func(m *Manifest) { m.Parts[2].SizeBytes = -1 }, "negative"},
		{"more rows than a number holds", func(m *Manifest) { m.Parts[0].Rows = math.MaxInt64 }, "64 bits"},
		{"a part status of nobody", func(m *Manifest) { m.Parts[0].Status = "done" }, `status "done"`},
		{"a fingerprint in upper case", func(m *Manifest) { m.Parts[0].ContentFingerprint = "xxh3:00000000000000AB" }, "lower-case"},
		{"a row hash over nothing", func(m *Manifest) { m.RowHash.Covered = json.RawMessage("[]") }, "covered"},
		{"a row hash over false", func(m *Manifest) { m.RowHash.Covered = json.RawMessage("false") }, "covered"},
		{"a row hash without coverage", func(m *Manifest) { m.RowHash.Covered = nil }, "covered"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := sampleManifest()
			tc.change(&m)
			err := m.Check()
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || fault.ClassOf(err) != fault.Integrity {
				t.Fatalf("Check: %v, want an integrity failure with %q", err, tc.want)
			}
			if _, err := m.Encode(); fault.ClassOf(err) != fault.Bug {
				t.Fatalf("Encode: %v, want a refusal as a bug", err)
			}
		})
	}
}

func TestTombstone(t *testing.T) {
	sealed := &SealedBy{"r", 5}
	for _, tc := range []struct {
		name string
		m    Manifest
		want bool
	}{
		{"interrupted and sealed", Manifest{Status: StatusInterrupted, SealedBy: sealed}, true},
		{"interrupted, as the upstream leaves it", Manifest{Status: StatusInterrupted}, false},
		{"a success", Manifest{Status: StatusSuccess}, false},
		{"a success with sealed_by is no tombstone, and not consistent", Manifest{Status: StatusSuccess, SealedBy: sealed}, false},
	} {
		if got := tc.m.Tombstone(); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

// MAN-10, and documents that two JSON readers would understand differently.
func TestDecodeManifest(t *testing.T) {
	const rest = `,"run_id":"r","row_count":9007199254740993,"parts":[{"part_id":1,"path":"p","size_bytes":9223372036854775807}]}`
	for _, tc := range []struct {
		name string
		body string
		code fault.Code // "" for readable
	}{
		{"integers past 2^53 are exact", `{"manifest_version":1` + rest, ""},
		{"unknown fields pass, at any depth", `{"manifest_version":1,"new":{"Parts":[1,{"path":2}]},"source":{"engine":"pg","x":[[]]}` + rest, ""},
		{"version 2", `{"manifest_version":2,"parts":"another shape"}`, "LAPSTRAKE_DEST_MANIFEST_VERSION_UNKNOWN"},
		{"version 0", `{"manifest_version":0` + rest, "LAPSTRAKE_DEST_MANIFEST_VERSION_UNKNOWN"},
		{"no version", `{"run_id":"r"}`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"a version as text", `{"manifest_version":"1"` + rest, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"a version in other case", `{"Manifest_Version":1` + rest, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"a count with a fraction", `{"manifest_version":1,"row_count":1.5}`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"a size past 63 bits", `{"manifest_version":1,"parts":[{"size_bytes":9223372036854775808}]}`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"parts twice", `{"manifest_version":1,"parts":[],"parts":[]}`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"parts twice, once in other letters", `{"manifest_version":1,"parts":[] , "p\u0061rts":[]}`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"parts in other case", `{"manifest_version":1,"PARTS":[]}`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"a path twice in a part", `{"manifest_version":1,"parts":[{"path":"a","path":"b"}]}`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"not UTF-8", "{\"manifest_version\":1,\"run_id\":\"\xff\"}", "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"a byte order mark", "\uFEFF" + `{"manifest_version":1` + rest, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"cut off", `{"manifest_version":1,"parts":[`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"two documents", `{"manifest_version":1}{"manifest_version":1}`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"empty", ``, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"null", `null`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"a list", `[]`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
		{"too large", strings.Repeat(" ", MaxManifestBytes) + `{"manifest_version":1}`, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := DecodeManifest([]byte(tc.body))
			if fault.CodeOf(err) != tc.code || (err == nil) != (tc.code == "") {
				t.Fatalf("%v, want code %q", err, tc.code)
			}
			if err == nil && (m.RowCount != 9007199254740993 || m.Parts[0].SizeBytes != math.MaxInt64) {
				t.Fatalf("row_count %d, size %d", m.RowCount, m.Parts[0].SizeBytes)
			}
		})
	}
}

func FuzzDecodeManifest(f *testing.F) {
	body, err := sampleManifest().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add([]byte(`{"manifest_version":1,"run_id":"r","export_name":"e","status":"success"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := DecodeManifest(body)
		if err != nil || m.Check() != nil {
			return
		}
		again, err := m.Encode()
		if err != nil {
			t.Fatalf("readable and consistent, and not encodable: %v", err)
		}
		if second, err := DecodeManifest(again); err != nil {
			t.Fatalf("%v: %s", err, again)
		} else if third, err := second.Encode(); err != nil || string(third) != string(again) {
			t.Fatalf("encodes to two bodies: %v\n%s\n%s", err, again, third)
		}
	})
}
