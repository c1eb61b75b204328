package slack

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/notify/notifytest"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func TestConformance(t *testing.T) {
	var address string
	notifytest.Run(t, notifytest.Driver{
		Open: func(t *testing.T, a notifytest.Answer) (notify.Notifier, func() int) {
			var sent atomic.Int64
			gone := make(chan struct{})
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent.Add(1)
				switch a {
				case notifytest.Refuses:
					w.WriteHeader(http.StatusForbidden)
				case notifytest.Hangs:
					<-gone
				}
			}))
			t.Cleanup(s.Close)
			t.Cleanup(func() { close(gone) })
			address = s.URL
			n, err := New(Config{URL: s.URL, On: []string{OnFailure, OnDegraded}})
			if err != nil {
				t.Fatal(err)
			}
			return n, func() int { return int(sent.Load()) }
		},
		Wanted: []notify.Event{
			{Kind: notify.RunEnded, RunID: "r1", Status: "failed"},
			{Kind: notify.RunEnded, RunID: "r1", Status: "superseded"},
			{Kind: notify.Validated, Status: "reduced"},
		},
		Unwanted: []notify.Event{
			{Kind: notify.RunEnded, RunID: "r1", Status: "success"},
			{Kind: notify.Answered, RunID: "r1", Status: "failed", Callback: &wire.Callback{Kind: wire.StepFunctions, Token: "t"}},
			{Kind: notify.AtWork, RunID: "r1", Status: "running"},
		},
		Secrets: func() []string { return []string{address} },
	})
}
