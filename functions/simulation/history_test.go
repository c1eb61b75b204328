package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// history is what a world came through: every state of store and table that a
// process, or a reader, could have met.
type history struct {
	name    string
	shape   shape
	w       *world
	calls   []string // of all processes, but for those in which one died
	moments []moment
}

// moment is everything that outlives a process.
type moment struct {
	after   string // the call that led to it
	objects map[string]stored
	runs    []runstate.Run
	chunks  map[contract.RunID][]runstate.Chunk
}

// stored is an object of the store; manifests, plans and the fence are also
// decoded.
type stored struct {
	body     []byte
	user     map[string]string
	manifest contract.Manifest
	fence    contract.CursorDocument
	plan     chunkplan.Plan
	err      error // of decoding
}

func decode(key string, o stored) stored {
	switch name := strings.TrimPrefix(key, out); {
	case name == contract.ManifestName || contract.IsSidecarName(name):
		o.manifest, o.err = contract.DecodeManifest(o.body)
	case key == contract.CursorKey("orders"):
		o.fence, o.err = contract.DecodeCursor(o.body)
	case strings.HasSuffix(key, "/plan.json"):
		o.plan, o.err = chunkplan.Decode(o.body)
	}
	return o
}

// readingCalls change nothing.
var readingCalls = []string{"get ", "head ", "list ", "GetRun", "GetChunk", "ListChunks", "GetFanin", "ListActive", "ListRuns"}

func reading(op string) bool {
	for _, r := range readingCalls {
		if strings.HasPrefix(op, r) {
			return true
		}
	}
	return false
}

// record begins the history of a world: from now on each of its states is kept.
func (s shape) record(t *testing.T, name string) *history {
	return s.recordOf(t, name, s.world(t))
}

func (s shape) recordOf(t *testing.T, name string, w *world) *history {
	h := &history{name: name, shape: s, w: w}
	seen, last := 0, ""
	w.before = func(op string) {
		// A call that no process came back from may have written too.
		if !reading(last) || w.calls > seen+1 {
			h.look(t, last)
		}
		h.calls = append(h.calls, op)
		seen, last = w.calls, op
	}
	return h
}

// end keeps the last state.
func (h *history) end(t *testing.T) *history {
	h.look(t, "the end")
	return h
}

func (h *history) look(t *testing.T, after string) {
	t.Helper()
	ctx := t.Context()
	m := moment{after: after, objects: make(map[string]stored), chunks: make(map[contract.RunID][]runstate.Chunk)}
	err := h.w.bucket.List(ctx, "", func(o destination.Object) error {
		m.objects[o.Key] = stored{}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := h.last()
	for key := range m.objects {
		body, _, err := h.w.bucket.Get(ctx, key, contract.MaxManifestBytes)
		if err != nil {
			t.Fatal(err)
		}
		if was, known := before.objects[key]; known && bytes.Equal(was.body, body) {
			m.objects[key] = was
			continue
		}
		o, err := h.w.bucket.Head(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		m.objects[key] = decode(key, stored{body: body, user: o.User})
	}
	for id := 1; id <= 3; id++ {
		run, err := h.w.table.GetRun(ctx, h.w.runID(id))
		if errors.Is(err, runstate.ErrNotFound) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		m.runs = append(m.runs, run)
		if m.chunks[run.RunID], err = dispatch.AllChunks(ctx, h.w.table, run); err != nil {
			t.Fatal(err)
		}
	}
	h.moments = append(h.moments, m)
}

func (h *history) last() moment {
	if len(h.moments) == 0 {
		return moment{}
	}
	return h.moments[len(h.moments)-1]
}

// callNumber returns where the last call that begins with op stands, or -1.
func (h *history) callNumber(op string) int {
	for i := len(h.calls) - 1; i >= 0; i-- {
		if strings.HasPrefix(h.calls[i], op) {
			return i
		}
	}
	return -1
}

const out = "out/"

// manifests returns the manifest and the sidecars of a moment, by name.
func (m moment) manifests() (map[string]contract.Manifest, error) {
	found := make(map[string]contract.Manifest)
	for key, o := range m.objects {
		name, ours := strings.CutPrefix(key, out)
		if !ours || name != contract.ManifestName && !contract.IsSidecarName(name) {
			continue
		}
		if o.err != nil {
			return nil, fmt.Errorf("%s: %w", name, o.err)
		}
		found[name] = o.manifest
	}
	return found, nil
}

// manifest returns manifest.json, if it stands.
func (m moment) manifest() (contract.Manifest, []byte, error) {
	o := m.objects[out+contract.ManifestName]
	return o.manifest, o.body, o.err
}

// sidecar returns a run's sidecar and its bytes, if it is a success.
func (m moment) sidecar(run contract.RunID) (contract.Manifest, []byte, bool) {
	o := m.objects[out+contract.SidecarName(run)]
	return o.manifest, o.body, o.err == nil && o.manifest.Status == contract.StatusSuccess
}

// fence returns the fence document, if there is one.
func (m moment) fence() (contract.CursorDocument, bool, error) {
	o, stands := m.objects[contract.CursorKey("orders")]
	return o.fence, stands, o.err
}

// plan returns a run's plan.
func (m moment) plan(run contract.RunID) (chunkplan.Plan, error) {
	o := m.objects[contract.PlanKey("orders", run)]
	return o.plan, o.err
}

// marked reports whether the marker stands, and whether it is that of the
// manifest.
func (m moment) marked() (stands, fits bool) {
	marker, stands := m.objects[out+contract.SuccessName]
	return stands, stands && bytes.Equal(marker.body, contract.SuccessBody(m.objects[out+contract.ManifestName].body))
}

// part returns an error unless the object that a manifest or the table lists is
// there with its size and fingerprint.
func (m moment) part(path string, size int64, fp contract.Fingerprint) error {
	o, there := m.objects[out+path]
	switch {
	case !there:
		return fmt.Errorf("part %s is missing", path)
	case int64(len(o.body)) != size || contract.FingerprintOf(o.body) != fp:
		return fmt.Errorf("part %s is not the recorded one", path)
	}
	return nil
}

// parts returns an error unless every part of a manifest is there.
func (m moment) parts(of contract.Manifest) error {
	for _, p := range of.Parts {
		if err := m.part(p.Path, p.SizeBytes, p.ContentFingerprint); err != nil {
			return err
		}
	}
	return nil
}

// rows counts the rows of a manifest's parts, as a loader reads them.
func (m moment) rows(of contract.Manifest) map[string]int {
	rows := make(map[string]int)
	for _, p := range of.Parts {
		for line := range strings.Lines(string(m.objects[out+p.Path].body)) {
			rows[strings.TrimSpace(line)]++
		}
	}
	return rows
}
