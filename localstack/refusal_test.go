package localstack

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/localstack/cloud"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// A password that no message may hold.
const password = "hunter2-in-clear"

// refused calls the planner with a config and returns the error that it
// answers. No secret may be in the answer or the log.
func (w *world) refused(config string) *cloud.FunctionError {
	w.t.Helper()
	payload, err := json.Marshal(w.trigger("orders", w.config(config)))
	if err != nil {
		w.t.Fatal(err)
	}
	answer, log, err := w.Invoke(w.t.Context(), "planner", payload)
	var failed *cloud.FunctionError
	if !errors.As(err, &failed) {
		w.t.Fatalf("the planner answered %s, %v; want a refusal", answer, err)
	}
	for what, text := range map[string]string{"answer": failed.Payload, "log": string(log)} {
		if strings.Contains(text, password) {
			w.t.Errorf("the %s holds the password: %s", what, text)
		}
	}
	if !strings.Contains(string(log), failed.Type) {
		w.t.Errorf("the log does not say %s: %s", failed.Type, log)
	}
	return failed
}

// published returns what an export shows to its readers.
func (w *world) shown(prefix string) []string {
	w.t.Helper()
	var all []string
	for _, key := range w.keys(prefix + "/") {
		if !strings.Contains(key, "/"+contract.ControlDir+"/") {
			all = append(all, key)
		}
	}
	return all
}

func TestAPasswordInTheConfigIsRefused(t *testing.T) {
	w := deploy(t, nil)
	for _, tc := range []struct{ name, source string }{
		{"in a URL", "url: postgres://shop:" + password + "@127.0.0.1:5432/shop"},
		{"by itself", "{ host: 127.0.0.1, user: shop, database: shop, password: " + password + " }"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config := strings.Replace(ordersConfig, "url: SOURCE\n  tls: { mode: disable }", strings.ReplaceAll(strings.Trim(tc.source, "{ }"), ", ", "\n  "), 1)
			if got := w.refused(config); got.Type != "LAPSTRAKE_CONFIG_INLINE_SECRET" {
				t.Errorf("refused as %s: %s", got.Type, got.Message)
			}
			if got := w.keys(ordersPrefix); len(got) > 0 {
				t.Errorf("the destination holds %v", got)
			}
		})
	}
	active, err := w.table.ListActive(t.Context())
	if err != nil || len(active) > 0 {
		t.Errorf("active runs: %v, %v", active, err)
	}
}

func TestAWrongPasswordFailsTheRun(t *testing.T) {
	w := deploy(t, nil)
	w.makeOrders(10)
	wrong, err := url.Parse(w.db.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	wrong.User = url.UserPassword(wrong.User.Username(), password)
	w.secret("wrong", wrong.String())
	got := w.refused(strings.Replace(ordersConfig, "url: SOURCE", "url: secretsmanager://STACK/wrong", 1))
	if got.Type != "LAPSTRAKE_SOURCE_AUTH" {
		t.Errorf("refused as %s: %s", got.Type, got.Message)
	}
	runs, err := w.table.ListRuns(t.Context(), "orders", 10)
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs: %v, %v; want one", runs, err)
	}
	run := runs[0]
	if run.Status != runstate.RunFailed || run.Error == nil || run.Error.Code != "LAPSTRAKE_SOURCE_AUTH" || strings.Contains(run.Error.Message, password) {
		t.Errorf("the run is %s, error %+v", run.Status, run.Error)
	}
	if got := w.shown(ordersPrefix); len(got) > 0 {
		t.Errorf("published in spite of it: %v", got)
	}
	if err := w.Sweep(t.Context()); err != nil { // a failed run leaves nothing to sweep
		t.Error(err)
	}

	// The next run, with the right password, is not held up.
	id := w.start(w.trigger("orders", w.config(ordersConfig)))
	if run := w.await(id); run.Status != runstate.RunSucceeded {
		t.Fatalf("the run ended as %+v", run)
	}
	w.wantPublished(ordersPrefix)
}

func TestADestinationOnDiskIsRefused(t *testing.T) {
	w := deploy(t, nil)
	config := strings.Replace(ordersConfig, "{ type: s3, bucket: BUCKET, prefix: exports/orders }", "{ type: local, path: /tmp/orders }", 1)
	if got := w.refused(config); got.Type != "LAPSTRAKE_CONFIG_DESTINATION_LOCAL" {
		t.Errorf("refused as %s: %s", got.Type, got.Message)
	}
}

func TestPayloadsThatAreNoTriggers(t *testing.T) {
	w := deploy(t, nil)
	for _, tc := range []struct{ name, payload, code string }{
		{"an event of a schedule without an input", `{"version":"0","id":"1","detail-type":"Scheduled Event","source":"aws.events","account":"1","time":"2026-11-29T12:00:00Z","region":"us-east-1","resources":[],"detail":{}}`, "LAPSTRAKE_RUN_TRIGGER_FORM"},
		{"an unknown field", `{"version":1,"action":"run","exprot":"orders"}`, "LAPSTRAKE_RUN_MESSAGE_INVALID"},
		{"another version", `{"version":2,"action":"run"}`, "LAPSTRAKE_RUN_MESSAGE_VERSION"},
		{"an unknown action", `{"version":1,"action":"walk"}`, "LAPSTRAKE_RUN_ACTION_UNKNOWN"},
		{"a run without its time", `{"version":1,"action":"run","export":"orders","config_uri":"` + w.config(ordersConfig) + `"}`, "LAPSTRAKE_RUN_NO_SCHEDULED_TIME"},
		{"an export that the config has not", `{"version":1,"action":"run","export":"users","scheduled_time":"2026-11-29T12:00:00Z","config_uri":"` + w.config(ordersConfig) + `"}`, "LAPSTRAKE_CONFIG_EXPORT_UNKNOWN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := w.Invoke(t.Context(), "planner", []byte(tc.payload))
			var failed *cloud.FunctionError
			if !errors.As(err, &failed) || failed.Type != tc.code {
				t.Errorf("answered %v, want %s", err, tc.code)
			}
		})
	}
	if got, err := w.Trigger(t.Context(), wire.Trigger{Version: wire.Version, Action: wire.ActionSweep}); err != nil || got.Status != wire.Succeeded || got.Chunks != 0 {
		t.Errorf("a sweep of nothing answered %+v, %v", got, err)
	}
}
