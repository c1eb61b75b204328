package report

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// keys returns the names of the outermost object of a JSON document, in order.
func keys(t *testing.T, body []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	var out []string
	depth, name := 0, true
	for {
		tok, err := d.Token()
		if err != nil {
			return out
		}
		switch tok := tok.(type) {
		case json.Delim:
			if tok == '{' || tok == '[' {
				depth++
			} else {
				depth--
			}
			name = true
		default:
			if depth == 1 {
				if name {
					out = append(out, tok.(string))
				}
				name = !name
			}
		}
	}
}

func TestTheUpstreamsFieldsComeFirstAndInItsOrder(t *testing.T) {
	sample, err := os.ReadFile("../contract/testdata/upstream-sample/summary-full.json")
	if err != nil {
		t.Fatal(err)
	}
	want := keys(t, sample)
	if len(want) != 26 {
		t.Fatalf("%d fields in the sample, not 26: %v", len(want), want)
	}
	for name, in := range map[string]Input{"published": crashed(), "failed": failed(), "empty": {}} {
		body, err := New(in).JSON()
		if err != nil {
			t.Fatal(err)
		}
		got := keys(t, body)
		if d := cmp.Diff(want, got[:min(len(want), len(got))]); d != "" {
			t.Errorf("%s (-upstream +ours):\n%s", name, d)
		}
	}
}

func TestSummaryOfAPublishedRun(t *testing.T) {
	in := crashed()
	slices.Reverse(in.Chunks)
	s := New(in)
	if s.Status != "success" || s.Verdict != "passed" || s.TotalRows != 300_000 || s.FilesProduced != 12 || s.BytesWritten != 12*1_340_211 ||
		s.Retries != 4 || s.DurationMillis != 9400 || s.Resumable || s.ErrorMessage != nil || s.DestinationURI != "file:///data/exports/orders/2026-11-29/" {
		t.Errorf("summary is %+v", s)
	}
	if c := s.Chunks[0]; c.ID != "000000" || c.Attempts != 1 || c.StartedAt == nil || c.CompletedAt == nil || len(c.Parts) != 1 {
		t.Errorf("first chunk is %+v", c)
	}
	body, err := s.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var back Summary
	if err := json.Unmarshal(body, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(s, back); d != "" {
		t.Errorf("(-written +read):\n%s", d)
	}
}

func TestSummarySaysHowARunEnded(t *testing.T) {
	for _, tc := range []struct {
		name      string
		change    func(*Input)
		status    string
		resumable bool
	}{
		{name: "failed", change: func(in *Input) { *in = failed() }, status: "failed", resumable: true},
		{name: "superseded", change: func(in *Input) { in.Run.Status = runstate.RunSuperseded }, status: "interrupted"},
		{name: "refused", change: func(in *Input) { in.Run.Status = runstate.RunRefused }, status: "failed"},
		{name: "still running", change: func(in *Input) { in.Run.Status = runstate.RunRunning }, status: "running"},
		{name: "no rows, told to skip them", change: func(in *Input) {
			in.Run.Outcome, in.Manifest, in.Chunks = &runstate.RunOutcome{}, nil, nil
		}, status: "skipped"},
		{name: "no rows, published", change: func(in *Input) {
			in.Run.Outcome.Rows, in.Run.Outcome.Parts, in.Manifest, in.Chunks = 0, 0, nil, nil
		}, status: "success"},
	} {
		in := crashed()
		tc.change(&in)
		s := New(in)
		if s.Status != tc.status || s.Resumable != tc.resumable || (s.ResumeCommand != nil) != tc.resumable {
			t.Errorf("%s: status %s, resumable %v", tc.name, s.Status, s.Resumable)
		}
	}
}

func TestPartsOfATaskThatWasRepairedCountOnce(t *testing.T) {
	in := crashed()
	in.Manifest, in.Run.Outcome = nil, nil
	again := in.Chunks[3]
	again.ID, again.RepairOf = again.ID.Repair(), again.ID
	in.Chunks[3].SupersededBy = again.ID
	in.Chunks = append(in.Chunks, again)
	if s := New(in); s.TotalRows != 300_000 || s.FilesProduced != 12 {
		t.Errorf("%d rows in %d parts", s.TotalRows, s.FilesProduced)
	}
}

func TestTheManifestOfAnotherRunIsNotReported(t *testing.T) {
	in := crashed()
	in.Manifest.RunID, in.Manifest.RowCount = "newer", 1
	if s := New(in); s.TotalRows != 300_000 || s.ManifestName != "" {
		t.Errorf("%d rows, manifest %q", s.TotalRows, s.ManifestName)
	}
}

func TestStoreReplacesAnEarlierReport(t *testing.T) {
	store := memory.New("memory://b", memory.LikeS3)
	if err := Store(t.Context(), store, failed()); err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ { // another reporter comes first, at any point
		rival := crashed()
		rival.Run.FinishedAt = rival.Run.FinishedAt.Add(1e9)
		done := false
		err := Store(t.Context(), faulty.Wrap(store, faulty.Interleave{Call: n, Do: func() {
			done = true
			if err := Store(t.Context(), store, rival); err != nil {
				t.Fatal(err)
			}
		}}), crashed())
		if err != nil {
			t.Fatal(err)
		}
		if !done {
			if n <= 6 {
				t.Fatalf("only %d calls seen: the test no longer tests anything", n-1)
			}
			break
		}
	}
	var stored []string
	err := store.List(t.Context(), "", func(o destination.Object) error {
		stored = append(stored, o.Key)
		return nil
	})
	dir := "_lapstrake/public.orders/runs/public.orders_20261129T120000.000/summary."
	if d := cmp.Diff([]string{dir + "html", dir + "json", dir + "md"}, stored); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	body, _, err := store.Get(t.Context(), dir+"json", 1<<20)
	if err != nil || !strings.Contains(string(body), `"status": "success"`) {
		t.Errorf("%v: %s", err, body)
	}
}

func TestNumbersForPeople(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1\u202f000", -1234567: "-1\u202f234\u202f567"} {
		if got := count(n); got != want {
			t.Errorf("count(%d) is %q", n, got)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.00 KiB", 10 << 20: "10.0 MiB", 1<<30 - 1: "1.00 GiB", 5 << 40: "5.00 TiB"} {
		if got := size(n); got != want {
			t.Errorf("size(%d) is %q", n, got)
		}
	}
	for d, want := range map[int64]string{0: "0 ms", 999: "999 ms", 1234: "1.23 s", 59_900: "59.9 s", 61_000: "1 min 1 s", 3_600_000: "1 h 0 min", 90_000_000: "25 h 0 min"} {
		if got := span(millis(d)); got != want {
			t.Errorf("span(%d ms) is %q", d, got)
		}
	}
}

func TestFindingsAreToldInWords(t *testing.T) {
	part := contract.Part{PartID: 3, Path: "p3", SizeBytes: 10}
	for _, f := range []contract.Failure{
		contract.PartMissing(part), contract.PartSizeMismatch(part, 9), contract.PartChecksumMismatch(part, "a", "b"), contract.SuccessMalformed([]byte("x")),
		contract.SuccessStale("xxh3:1", "xxh3:2"), contract.ContentUnmet(1, 2), contract.ManifestRequired("p"), contract.ManifestMissing("p"),
		contract.RunNotSuccessful(contract.StatusFailed), contract.UntrackedObject("k", 1), contract.ValueCheckNotAvailable("csv"),
		contract.Detailed(contract.VerdictListError, "no answer"),
	} {
		if describe(f) == "" {
			t.Errorf("%s has no words", f.Kind)
		}
	}
}
