package contract

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/lapstrake/lapstrake/shared/fault"
)

func sampleCursor() CursorDocument {
	p := &Position{Kind: "incremental", Column: "updated_at", Type: "timestamptz", Value: "2026-11-28T23:59:59.999999Z", DeliveredKeys: [][]string{{"4711"}}}
	return CursorDocument{
		CursorVersion: 1, Export: "public.orders", Generation: 12, OwnerRunID: "public.orders_20261129T120000.000", OwnerPrefix: "out/",
		State: FenceOpening, Predecessor: &Predecessor{RunID: "r", Generation: 11, Prefix: "out/"}, Position: p,
		CommittedBy:    &CommittedBy{RunID: "q", Generation: 10, Manifest: "manifest-q.json", ManifestFingerprint: FingerprintOf(nil)},
		SourceIdentity: &SourceIdentity{Engine: "postgres", SystemIdentifier: "7", Database: "shop"}, Nonce: "n1",
		UpdatedAt: NewTime(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)),
	}
}

func TestCursorRoundTrip(t *testing.T) {
	many := sampleCursor()
	for i := range 10_000 {
		many.Position.DeliveredKeys = append(many.Position.DeliveredKeys, []string{fmt.Sprintf("%0200d", i), "eu"})
	}
	many.PreviousPosition = many.Position
	for name, want := range map[string]CursorDocument{"one key": sampleCursor(), "10,000 keys twice": many} {
		body, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeCursor(body)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// A document that is damaged in any way is refused, in every prefix of it.
func TestCursorCutOffAnywhereIsRefused(t *testing.T) {
	body, err := sampleCursor().Encode()
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.TrimSpace(string(body))
	for n := range len(whole) {
		if _, err := DecodeCursor([]byte(whole[:n])); fault.ClassOf(err) != fault.Refused {
			t.Fatalf("the first %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func TestDecodeCursorRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, from, to string
		code           fault.Code
	}{
		{"another version", `"cursor_version": 1`, `"cursor_version": 2`, "LAPSTRAKE_STATE_CURSOR_VERSION_UNKNOWN"},
		{"no version", `"cursor_version": 1,`, ``, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"generation 0", `"generation": 12`, `"generation": 0`, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"no export", `"public.orders"`, `""`, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"no owner", `"owner_run_id": "public.orders_20261129T120000.000"`, `"owner_run_id": ""`, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"a state of nobody", `"opening"`, `"closed"`, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"a predecessor from the future", `"generation": 11`, `"generation": 12`, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"a position without a column", `"updated_at",`, `"",`, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"a field that would be lost", `"nonce"`, `"lease": 1, "nonce"`, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"a field in other case", `"nonce"`, `"Nonce"`, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"a field twice", `"nonce"`, `"nonce": "0", "nonce"`, "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"text after the end", "\n}\n", "\n}\nx", "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
		{"too large", "\n}\n", "\n}" + strings.Repeat(" ", MaxCursorBytes), "LAPSTRAKE_STATE_CURSOR_UNREADABLE"},
	} {
		body, err := sampleCursor().Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(body), tc.from) {
			t.Fatalf("%s: %q is not in the document", tc.name, tc.from)
		}
		_, err = DecodeCursor([]byte(strings.Replace(string(body), tc.from, tc.to, 1)))
		if fault.CodeOf(err) != tc.code || fault.ClassOf(err) != fault.Refused {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.code)
		}
	}
}

func TestPositionEqual(t *testing.T) {
	base := Position{Kind: "incremental", Column: "c", Type: "int64", Value: "5"}
	with := func(change func(p *Position)) *Position { p := base; change(&p); return &p }
	for _, tc := range []struct {
		name string
		p, q *Position
		want bool
	}{
		{"both absent", nil, nil, true},
		{"one absent", &base, nil, false},
		{"the other absent", nil, &base, false},
		{"equal", &base, with(func(*Position) {}), true},
		{"no keys and an empty list of keys", &base, with(func(p *Position) { p.DeliveredKeys = [][]string{} }), true},
		{"another value", &base, with(func(p *Position) { p.Value = "6" }), false},
		{"another type", &base, with(func(p *Position) { p.Type = "text" }), false},
		{"a delivered key more", &base, with(func(p *Position) { p.DeliveredKeys = [][]string{{"1"}} }), false},
		{"other delivered keys", with(func(p *Position) { p.DeliveredKeys = [][]string{{"1", "2"}} }), with(func(p *Position) { p.DeliveredKeys = [][]string{{"1"}, {"2"}} }), false},
	} {
		if got := tc.p.Equal(tc.q); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}

func FuzzDecodeCursor(f *testing.F) {
	body, err := sampleCursor().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := DecodeCursor(body)
		if err != nil {
			if fault.ClassOf(err) != fault.Refused {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		again, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		second, err := DecodeCursor(again)
		if err != nil || !cmp.Equal(d, second) {
			t.Fatalf("does not read back: %v\n%s", err, again)
		}
	})
}
