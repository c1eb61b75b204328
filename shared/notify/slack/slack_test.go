package slack

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
)

// receiver is a webhook that keeps what it gets.
type receiver struct {
	bodies []string
	status int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	b, _ := io.ReadAll(req.Body)
	r.bodies = append(r.bodies, req.Header.Get("Content-Type")+" "+string(b))
	w.WriteHeader(r.status)
}

func TestNotifyPostsTheWantedOccasions(t *testing.T) {
	failed := notify.Event{Kind: notify.RunEnded, Export: "public.orders", RunID: "r1", Status: "failed", Rows: 12, DurationMillis: 3400,
		Failure: &fault.Failure{Class: fault.Permanent, Code: "LAPSTRAKE_TYPE_UNMAPPED", Message: "column <x> & more"}}
	for _, tc := range []struct {
		name  string
		on    []string
		event notify.Event
		want  []attachment
	}{
		{name: "a failed run is red and names its error", on: []string{OnFailure}, event: failed, want: []attachment{{
			Color: red, Title: "lapstrake: r1", Footer: "lapstrake export notification",
			Text: "*public.orders* | status: `failed` | rows: 12 | duration: 3400ms\nerror: [LAPSTRAKE_TYPE_UNMAPPED] column &lt;x&gt; &amp; more",
		}}},
		{name: "nobody asked for failures", on: []string{OnSchemaChange, OnDegraded}, event: failed},
		{name: "success is not news", on: []string{OnFailure, OnSchemaChange, OnDegraded},
			event: notify.Event{Kind: notify.RunEnded, RunID: "r2", Status: "success"}},
		{name: "a success whose output did not pass is a failure", on: []string{OnFailure},
			event: notify.Event{Kind: notify.RunEnded, Export: "o", RunID: "r2", Status: "success", Verdict: "failed", Rows: 1, Findings: []string{"RIVET_VERIFY_PART_MISSING"}},
			want: []attachment{{Color: red, Title: "lapstrake: r2", Footer: "lapstrake export notification",
				Text: "*o* | status: `success` | rows: 1 | duration: 0ms | verdict: `failed`\nfound: RIVET_VERIFY_PART_MISSING"}}},
		{name: "a success with another schema is amber", on: []string{OnSchemaChange},
			event: notify.Event{Kind: notify.RunEnded, Export: "o", RunID: "r2", Status: "success", SchemaChanged: true},
			want: []attachment{{Color: amber, Title: "lapstrake: r2", Footer: "lapstrake export notification",
				Text: "*o* | status: `success` | rows: 0 | duration: 0ms\nschema changed"}}},
		{name: "a prefix without a manifest is degraded", on: []string{OnDegraded},
			event: notify.Event{Kind: notify.Validated, Status: "reduced", Prefix: "s3://b/legacy/"},
			want: []attachment{{Color: amber, Title: "lapstrake: s3://b/legacy/", Footer: "lapstrake export notification",
				Text: "*s3://b/legacy/* | status: `reduced` | rows: 0"}}},
		{name: "a failed verdict lists at most five findings", on: []string{OnFailure},
			event: notify.Event{Kind: notify.Validated, Export: "o", RunID: "r3", Status: "failed", Rows: 5, Findings: []string{"A", "B", "C", "D", "E", "F", "G"}},
			want: []attachment{{Color: red, Title: "lapstrake: r3", Footer: "lapstrake export notification",
				Text: "*o* | status: `failed` | rows: 5\nfound: A, B, C, D, E and 2 more"}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &receiver{status: http.StatusOK}
			s := httptest.NewServer(r)
			defer s.Close()
			n, err := New(Config{URL: s.URL, On: tc.on})
			if err != nil {
				t.Fatal(err)
			}
			if err := n.Notify(t.Context(), tc.event); err != nil {
				t.Fatal(err)
			}
			var got []attachment
			for _, b := range r.bodies {
				body, ok := strings.CutPrefix(b, "application/json ")
				if !ok {
					t.Fatalf("posted %q without the content type", b)
				}
				var p payload
				if err := json.Unmarshal([]byte(body), &p); err != nil {
					t.Fatal(err)
				}
				got = append(got, p.Attachments...)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("posted (-want +got):\n%s", d)
			}
		})
	}
}

func TestNotifyNeverPrintsTheWebhook(t *testing.T) {
	const secret = "T0KEN"
	event := notify.Event{Kind: notify.RunEnded, RunID: "r1", Status: "failed"}
	refusing := httptest.NewServer(&receiver{status: http.StatusForbidden})
	defer refusing.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	for _, tc := range []struct{ name, url, want string }{
		{name: "the receiver refuses", url: refusing.URL + "/" + secret, want: "403"},
		{name: "nobody listens", url: gone.URL + "/" + secret, want: "r1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n, err := New(Config{URL: tc.url, On: []string{OnFailure}})
			if err != nil {
				t.Fatal(err)
			}
			err = n.Notify(t.Context(), event)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), secret) {
				t.Errorf("error is %v: want one with %q and without the URL", err, tc.want)
			}
		})
	}
	for _, bad := range []string{"", "ftp://h/" + secret, "://" + secret, "hooks/" + secret} {
		if _, err := New(Config{URL: bad}); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("New(%q): %v", bad, err)
		}
	}
	if _, err := New(Config{URL: refusing.URL, On: []string{"success"}}); err == nil {
		t.Error("an unknown occasion was accepted")
	}
}
