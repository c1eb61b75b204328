package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// law is a rule that holds in every moment of every history, or of a history as
// a whole.
type law struct {
	id string
	// moment judges one moment; before is the one before it.
	moment func(before, now moment) error
	// history judges all of one.
	history func(h *history) error
}

// laws are the rules of the contract that are a matter of what stands in store
// and table, and when.
var laws = []law{
	{id: "M1", moment: partsBeforeManifest},
	{id: "M2", history: manifestBeforeSuccess},
	{id: "M3", moment: identityOfParts},
	{id: "M4", moment: oneManifestARun},
	{id: "M5", moment: successIsVerifiable},
	{id: "M7", history: manifestIsWhole},
	{id: "M10", moment: fenced, history: deliveredOnce},
	{id: "I1", moment: partsAreFinished},
	{id: "I2", moment: writtenBeforeRecorded},
	{id: "I3", moment: writtenBeforeCursor}, // MAN-19
	{id: "I4", moment: outcomeAfterVerdict},
	{id: "I5", moment: chunksGoForward},
	{id: "I6", moment: finalizedWhenComplete},
	{id: "manifest_durable_before_state_advance", moment: manifestBeforeCursor},
	{id: "manifest_driven_recovery", history: deliveredInTheEnd},
	{id: "canonical_success_pair_consistent", moment: pairIsConsistent, history: pairFitsInTheEnd},
}

// Every rule that is a matter of what stands and when, in every state that a
// crash, an overlap, a resume or the loss of the table brings about.
func TestLaws(t *testing.T) {
	everyShape(t, obey)
}

func obey(t *testing.T, s shape) {
	told := s.stories(t)
	if len(told) < 15 {
		t.Fatalf("only %d histories: the test no longer tests anything", len(told))
	}
	for _, l := range laws {
		t.Run(l.id, func(t *testing.T) {
			for _, h := range told {
				if err := l.judge(h); err != nil {
					t.Fatalf("%s: %v", h.name, err)
				}
			}
		})
	}
}

func (l law) judge(h *history) error {
	var before moment
	for i, now := range h.moments {
		if l.moment == nil {
			break
		}
		if err := l.moment(before, now); err != nil {
			return fmt.Errorf("moment %d, after %q: %w", i, now.after, err)
		}
		before = now
	}
	if l.history == nil {
		return nil
	}
	return l.history(h)
}

func partsBeforeManifest(_, now moment) error {
	manifests, err := now.manifests()
	for name, m := range manifests {
		if err := now.parts(m); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return err
}

func manifestBeforeSuccess(h *history) error {
	bodies := make(map[string]bool) // of markers that would fit a manifest so far
	for _, now := range h.moments {
		if body := now.objects[out+contract.ManifestName].body; body != nil {
			bodies[string(contract.SuccessBody(body))] = true
		}
		if marker, stands := now.objects[out+contract.SuccessName]; stands && !bodies[string(marker.body)] {
			return fmt.Errorf("after %q the marker is of no manifest that has stood", now.after)
		}
	}
	return nil
}

func identityOfParts(_, now moment) error {
	for _, run := range now.runs {
		m, _, committed := now.sidecar(run.RunID)
		if !committed || len(now.chunks[run.RunID]) == 0 {
			continue
		}
		recorded := make(map[string]runstate.PartRecord)
		for _, c := range now.chunks[run.RunID] {
			for _, p := range c.Parts {
				if c.Live() {
					recorded[p.Path] = p
				}
			}
		}
		if len(m.Parts) != len(recorded) {
			return fmt.Errorf("%d parts are listed, %d recorded", len(m.Parts), len(recorded))
		}
		for _, p := range m.Parts {
			r, there := recorded[p.Path]
			if !there || r.SizeBytes != p.SizeBytes || r.Fingerprint != p.ContentFingerprint || p.ContentFingerprint == "" {
				return fmt.Errorf("part %s is listed as %d bytes %s and recorded as %+v", p.Path, p.SizeBytes, p.ContentFingerprint, r)
			}
			if err := now.part(p.Path, p.SizeBytes, p.ContentFingerprint); err != nil {
				return err
			}
		}
	}
	return nil
}

func oneManifestARun(before, now moment) error {
	for key, o := range before.objects {
		name := strings.TrimPrefix(key, out)
		if contract.IsSidecarName(name) && !bytes.Equal(o.body, now.objects[key].body) {
			return fmt.Errorf("%s is not what it was", name)
		}
	}
	m, body, err := now.manifest()
	if err != nil || body == nil {
		return err
	}
	if _, sidecar, _ := now.sidecar(m.RunID); !bytes.Equal(sidecar, body) {
		return fmt.Errorf("the manifest of run %s is not its sidecar", m.RunID)
	}
	return nil
}

func successIsVerifiable(_, now moment) error {
	if _, fits := now.marked(); !fits {
		return nil
	}
	m, _, err := now.manifest()
	if err != nil {
		return err
	}
	return now.parts(m)
}

func manifestIsWhole(h *history) error {
	for _, now := range h.moments {
		manifests, err := now.manifests()
		if err != nil {
			return err
		}
		for name, m := range manifests {
			if m.PartCount != len(m.Parts) || m.Tombstone() != (name != contract.ManifestName && m.Status != contract.StatusSuccess) {
				return fmt.Errorf("after %q, %s is not whole", now.after, name)
			}
		}
	}
	for _, call := range h.calls {
		verb, key, _ := strings.Cut(call, " ")
		if key == out+contract.ManifestName && !reading(call) && verb != "replace" {
			return fmt.Errorf("the manifest is written by %s", verb)
		}
	}
	return nil
}

func fenced(before, now moment) error {
	was, stood, err := before.fence()
	if err != nil {
		return err
	}
	is, stands, err := now.fence()
	switch {
	case err != nil:
		return err
	case stood && !stands:
		return fmt.Errorf("the fence is gone")
	case !stands:
		return nil
	case is.Generation < was.Generation:
		return fmt.Errorf("the fence went from generation %d to %d", was.Generation, is.Generation)
	case stood && is.Generation == was.Generation && is.OwnerRunID != was.OwnerRunID:
		return fmt.Errorf("generation %d has two owners", is.Generation)
	case stood && was.State == contract.FenceCommitted && is.Generation == was.Generation && is.Nonce != was.Nonce:
		return fmt.Errorf("a committed fence has changed under generation %d", is.Generation)
	}
	if p, q := was.Position, is.Position; p != nil && (q == nil || number(q.Value) < number(p.Value)) {
		return fmt.Errorf("the position went from %+v to %+v", p, q)
	}
	then, _, _ := before.manifest()
	m, _, err := now.manifest()
	if m.Generation < then.Generation {
		return fmt.Errorf("the manifest went from generation %d to %d", then.Generation, m.Generation)
	}
	return err
}

// deliveredOnce holds at the end of every history: the runs that have committed
// delivered the source, each of them or all together, and no row is twice in one.
func deliveredOnce(h *history) error {
	now := h.last()
	if h.shape.shared {
		return h.shape.delivered(h.w, now)
	}
	manifests, err := now.manifests()
	if err != nil {
		return err
	}
	committed := 0
	for name, m := range manifests {
		if m.Tombstone() {
			continue
		}
		committed++
		if got, want := now.rows(m), h.shape.rows(h.w); !maps.Equal(got, want) {
			return fmt.Errorf("%s lists %v, the source has %v", name, got, want)
		}
	}
	if committed == 0 {
		return errors.New("nothing was delivered")
	}
	return nil
}

func partsAreFinished(_, now moment) error {
	recorded := make(map[string]int64)
	for _, chunks := range now.chunks {
		for _, c := range chunks {
			for _, p := range c.Parts {
				recorded[p.Path] = p.Rows
			}
		}
	}
	for key, o := range now.objects {
		name, ours := strings.CutPrefix(key, out)
		if !ours || !strings.HasPrefix(name, "part-") {
			continue
		}
		rows, known := recorded[name]
		if meta := o.user[commit.MetaRows]; meta != "" { // taken when the file was closed
			var err error
			if rows, err = strconv.ParseInt(meta, 10, 64); err != nil {
				return err
			}
			known = true
		}
		if known && rows != int64(bytes.Count(o.body, []byte("\n"))) {
			return fmt.Errorf("%s holds %d rows of %d: it is not finished", name, bytes.Count(o.body, []byte("\n")), rows)
		}
	}
	return nil
}

var forward = map[runstate.ChunkStatus][]runstate.ChunkStatus{
	runstate.ChunkPending: {runstate.ChunkPending, runstate.ChunkRunning, runstate.ChunkFailed, runstate.ChunkCompleted},
	runstate.ChunkRunning: {runstate.ChunkRunning, runstate.ChunkFailed, runstate.ChunkCompleted},
	runstate.ChunkFailed:  {runstate.ChunkFailed, runstate.ChunkRunning, runstate.ChunkCompleted},
}
