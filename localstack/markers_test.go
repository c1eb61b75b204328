package localstack

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// created is what a bucket says of a new object.
func created(bucket, key, sequencer string) []byte {
	return fmt.Appendf(nil, `{"Records":[{"eventVersion":"2.1","eventSource":"aws:s3","awsRegion":"us-east-1","eventName":"ObjectCreated:Put","s3":{"s3SchemaVersion":"1.0","bucket":{"name":%q},"object":{"key":%q,"size":22,"eTag":"0","sequencer":%q}}}]}`,
		bucket, key, sequencer)
}

func TestMarkersDeliveredTwiceAndOutOfOrder(t *testing.T) {
	w := deploy(t, nil)
	w.makeOrders(1_000)
	config := w.config(ordersConfig)
	var runs []contract.RunID
	for range 2 {
		id := w.start(w.trigger("orders", config))
		if run := w.await(id); run.Status != runstate.RunSucceeded {
			t.Fatalf("the run ended as %+v", run)
		}
		if doc := w.verdict(ordersPrefix, id); doc.Verdict != verify.Passed {
			t.Errorf("the verdict is %+v", doc)
		}
		runs = append(runs, id)
	}
	w.eventually("empty queues", w.drained)
	before := w.keys("")
	marker := ordersPrefix + "/" + contract.SuccessName
	for _, body := range [][]byte{
		created(w.Bucket, marker, "0A"),
		created(w.Bucket, marker, "09"), // the marker of the run before, late
		created(w.Bucket, marker, "0A"),
		fmt.Appendf(nil, `{"source":"aws.s3","detail-type":"Object Created","detail":{"bucket":{"name":%q},"object":{"key":%q}}}`, w.Bucket, marker),
		fmt.Appendf(nil, `{"Service":"Amazon S3","Event":"s3:TestEvent","Time":"2026-11-29T12:00:00.000Z","Bucket":%q}`, w.Bucket),
		created(w.Bucket, ordersPrefix+"/part-000001.parquet", "0B"),
	} {
		if err := w.Send(t.Context(), wire.ValidateQueue, body); err != nil {
			t.Fatal(err)
		}
	}
	w.eventually("empty queues", w.drained)
	if after := w.keys(""); !slices.Equal(before, after) {
		t.Errorf("objects before: %v\nafter: %v", before, after)
	}
	for _, id := range runs {
		if got := w.verdicts(ordersPrefix, id); len(got) != 1 {
			t.Errorf("run %s has the verdicts %v, want one", id, got)
		}
	}
}

// A marker that somebody else made over a damaged prefix has a verdict too: a
// failed one.
func TestAMarkerOverADamagedRunFails(t *testing.T) {
	w := deploy(t, nil)
	w.makeOrders(1_000)
	id := w.start(w.trigger("orders", w.config(ordersConfig)))
	w.await(id)
	w.verdict(ordersPrefix, id)

	store := w.store(ordersPrefix)
	m := w.manifest(ordersPrefix)
	part, err := store.Head(t.Context(), m.Parts[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Move(t.Context(), m.Parts[0].Path, "elsewhere/"+m.Parts[0].Path, part.Version); err != nil {
		t.Fatal(err)
	}
	m.RunID += "9" // another manifest, so that it has no verdict yet
	w.replace(store, contract.ManifestName, mustEncode(t, m))
	w.replace(store, contract.SuccessName, []byte(string(contract.FingerprintOf(mustEncode(t, m)))+"\n"))
	if doc := w.verdict(ordersPrefix, m.RunID); doc.Verdict != verify.Failed {
		t.Errorf("the verdict is %+v", doc)
	}
}

func (w *world) replace(store destination.Store, key string, body []byte) {
	w.t.Helper()
	_, version, err := store.Get(w.t.Context(), key, 64<<20)
	if err == nil {
		_, err = store.Replace(w.t.Context(), key, version, body, destination.Meta{})
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func mustEncode(t *testing.T, m contract.Manifest) []byte {
	t.Helper()
	body, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return body
}
