package validator

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/faulty"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

const (
	export = contract.ExportName("public.orders")
	run1   = contract.RunID("public.orders_20261129T120000.000")
	run2   = contract.RunID("public.orders_20261130T120000.000")
	root   = "exports/orders"
	prefix = root + "/2026-11-29/"
)

var at = time.Date(2026, 11, 29, 12, 30, 0, 0, time.UTC)

// world is a bucket, and everybody who hears of a verdict.
type world struct {
	t      *testing.T
	time   time.Time
	cloud  memory.Cloud
	bucket *memory.Store
	faults []faulty.Fault
	told   []string // "status CODE,…"
	judged []verify.Document
	log    strings.Builder
}

// newWorld returns a bucket with the control folder of the export, the fence
// committed by run1, and run1 published.
func newWorld(t *testing.T) *world {
	w := &world{t: t, time: at, cloud: memory.Cloud{Like: memory.LikeS3}}
	w.bucket = w.cloud.Make("b")
	w.publish(run1, 1)
	w.fence(run1, 1, contract.FenceCommitted)
	return w
}

func (w *world) Notify(_ context.Context, e notify.Event) error {
	w.told = append(w.told, strings.TrimSpace(e.Status+" "+strings.ReplaceAll(strings.Join(e.Findings, ","), "RIVET_VERIFY_", "")))
	return fmt.Errorf("nobody listens")
}

func (w *world) Judged(_ context.Context, d verify.Document) { w.judged = append(w.judged, d) }

func (w *world) Open(ctx context.Context, l wire.Location) (destination.Store, error) {
	s, err := w.cloud.Open(ctx, l)
	if err != nil {
		return nil, err
	}
	return faulty.Wrap(s, w.faults...), nil
}

func (w *world) Now() time.Time                       { return w.time }
func (w *world) After(time.Duration) <-chan time.Time { panic("the handler does not wait") }

func (w *world) handle(at string) (wire.Outcome, error) {
	d := Deps{Destinations: w, Notifier: w, Clock: w, Log: slog.New(slog.NewTextHandler(&w.log, nil)), Observer: w}
	return Handle(w.t.Context(), d, wire.ValidateTask{Version: wire.Version, Root: wire.Location{Kind: "memory", URI: "memory://b"}, Prefix: at})
}

// mustHandle handles the event of a marker in prefix and wants an outcome.
func (w *world) mustHandle(want wire.OutcomeKind) wire.Outcome {
	w.t.Helper()
	out, err := w.handle(prefix)
	if err != nil || out.Kind != want {
		w.t.Fatalf("outcome %+v, error %v; want kind %d", out, err, want)
	}
	return out
}

func (w *world) put(key string, body []byte) {
	w.t.Helper()
	o, _ := w.bucket.Head(w.t.Context(), key)
	if _, err := w.bucket.Replace(w.t.Context(), key, o.Version, body, destination.Meta{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(key string) {
	w.t.Helper()
	o, _ := w.bucket.Head(w.t.Context(), key)
	if err := w.bucket.Move(w.t.Context(), key, "removed/"+strings.ReplaceAll(key, "/", "-"), o.Version); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) get(key string) []byte {
	w.t.Helper()
	body, _, err := w.bucket.Get(w.t.Context(), key, 1<<20)
	if err != nil {
		w.t.Fatal(err)
	}
	return body
}

// manifest stores the parts of a run and returns its manifest.
func (w *world) manifest(id contract.RunID, g contract.Generation) contract.Manifest {
	body := []byte("id\n1\n2\n")
	name := contract.PartNaming{Generation: g, Ext: "csv"}.Name(contract.BaseTaskID(0), 0)
	w.put(prefix+name, body)
	return contract.Manifest{
		ManifestVersion: contract.ManifestVersion, RunID: id, ExportName: export, Mode: "batch", StartedAt: contract.NewTime(at), FinishedAt: contract.NewTime(at),
		Status: contract.StatusSuccess, Source: contract.Source{Engine: "postgres"}, Destination: contract.Destination{Kind: "memory", URI: "memory://b/" + prefix},
		Format: "csv", Compression: "none", RowCount: 2, PartCount: 1, Generation: g, Control: "..",
		Parts: []contract.Part{{PartID: 1, Path: name, Rows: 2, SizeBytes: int64(len(body)), ContentFingerprint: contract.FingerprintOf(body), ContentMD5: contract.MD5Base64(body), Status: contract.PartCommitted}},
	}
}

// publish writes parts, sidecar and canonical pair of a run.
func (w *world) publish(id contract.RunID, g contract.Generation) []byte {
	w.t.Helper()
	body := w.writeManifest(w.manifest(id, g))
	w.put(prefix+"_SUCCESS", contract.SuccessBody(body))
	return body
}

// writeManifest is a publication up to F8: the marker stays what it was.
func (w *world) writeManifest(m contract.Manifest) []byte {
	w.t.Helper()
	body, err := m.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(prefix+contract.SidecarName(m.RunID), body)
	w.put(prefix+"manifest.json", body)
	return body
}

func (w *world) fence(owner contract.RunID, g contract.Generation, state contract.FenceState) {
	w.t.Helper()
	body, err := contract.CursorDocument{
		CursorVersion: contract.CursorVersion, Export: export, Generation: g, OwnerRunID: owner, OwnerPrefix: "2026-11-29/", State: state,
		Nonce: fmt.Sprint(owner, g, state), UpdatedAt: contract.NewTime(at),
	}.Encode()
	if err != nil {
		w.t.Fatal(err)
	}
	w.put(root+"/"+contract.CursorKey(export), body)
}

// verdicts returns the stored verdict documents, by their key below the root.
func (w *world) verdicts() map[string]verify.Document {
	w.t.Helper()
	out := make(map[string]verify.Document)
	err := w.bucket.List(w.t.Context(), "", func(o destination.Object) error {
		if strings.Contains(o.Key, "/verdict-") || strings.HasPrefix(o.Key, "verdict-") {
			d, err := verify.DecodeDocument(w.get(o.Key))
			if err != nil {
				return err
			}
			out[o.Key] = d
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func verdictKey(id contract.RunID, manifest []byte) string {
	return root + "/" + contract.VerdictKey(export, id, contract.FingerprintOf(manifest))
}

func encoded(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
