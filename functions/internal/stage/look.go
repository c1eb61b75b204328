package stage

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// Run is the item of run n.
func (s *Stage) Run(n int) runstate.Run {
	s.T.Helper()
	r, err := s.Table.GetRun(s.T.Context(), s.RunID(n))
	if err != nil {
		s.T.Fatalf("run %d: %v", n, err)
	}
	return r
}

// Task is the item of a task of run n.
func (s *Stage) Task(n int, id contract.TaskID) runstate.Chunk {
	s.T.Helper()
	c, err := s.Table.GetChunk(s.T.Context(), s.RunID(n), id)
	if err != nil {
		s.T.Fatalf("task %s: %v", id, err)
	}
	return c
}

// Tasks are the items of all tasks of run n.
func (s *Stage) Tasks(n int) []runstate.Chunk {
	s.T.Helper()
	all, err := dispatch.AllChunks(s.T.Context(), s.Table, s.Run(n))
	if err != nil {
		s.T.Fatal(err)
	}
	return all
}

// Fence is the export's fence document.
func (s *Stage) Fence() contract.CursorDocument {
	s.T.Helper()
	doc, err := contract.DecodeCursor(s.Body(contract.CursorKey("orders")))
	if err != nil {
		s.T.Fatal(err)
	}
	return doc
}

// Body returns an object, or nil.
func (s *Stage) Body(key string) []byte {
	s.T.Helper()
	body, _, err := s.Bucket.Get(s.T.Context(), key, 1<<20)
	if errors.Is(err, destination.ErrNotFound) {
		return nil
	}
	if err != nil {
		s.T.Fatal(err)
	}
	return body
}

// Put stores an object, over whatever is there.
func (s *Stage) Put(key, body string) {
	s.T.Helper()
	_, v, err := s.Bucket.Get(s.T.Context(), key, 1<<20)
	if err != nil && !errors.Is(err, destination.ErrNotFound) {
		s.T.Fatal(err)
	}
	if _, err := s.Bucket.Replace(s.T.Context(), key, v, []byte(body), destination.Meta{}); err != nil {
		s.T.Fatal(err)
	}
}

// Lose moves an object out of sight, as an operator or a rule of the bucket
// deletes it.
func (s *Stage) Lose(key string) {
	s.T.Helper()
	s.move(key, "lost/"+key)
}

// Restore brings back what Lose took.
func (s *Stage) Restore(key string) {
	s.T.Helper()
	s.move("lost/"+key, key)
}

func (s *Stage) move(from, to string) {
	s.T.Helper()
	o, err := s.Bucket.Head(s.T.Context(), from)
	if err == nil {
		err = s.Bucket.Move(s.T.Context(), from, to, o.Version)
	}
	if err != nil {
		s.T.Fatal(err)
	}
}

// Keys lists what is below a prefix.
func (s *Stage) Keys(prefix string) []string {
	s.T.Helper()
	var keys []string
	if err := s.Bucket.List(s.T.Context(), prefix, func(o destination.Object) error {
		keys = append(keys, o.Key)
		return nil
	}); err != nil {
		s.T.Fatal(err)
	}
	return keys
}

// Manifest is the manifest at key, or a zero one.
func (s *Stage) Manifest(key string) contract.Manifest {
	s.T.Helper()
	body := s.Body(key)
	if body == nil {
		return contract.Manifest{}
	}
	m, err := contract.DecodeManifest(body)
	if err != nil {
		s.T.Fatalf("%s: %v", key, err)
	}
	return m
}

// WantPublished fails the test unless manifest, sidecar and marker of run n are
// one set, and what they list is the table, each row once.
func (s *Stage) WantPublished(when string, n int) contract.Manifest {
	s.T.Helper()
	body := s.Body("out/" + contract.ManifestName)
	if string(body) != string(s.Body(s.Sidecar(n))) {
		s.T.Fatalf("%s: manifest and sidecar of run %d are two", when, n)
	}
	if marker := s.Body("out/" + contract.SuccessName); string(marker) != string(contract.SuccessBody(body)) {
		s.T.Fatalf("%s: the marker %q does not fit the manifest", when, marker)
	}
	return s.WantRows(when, body)
}

// WantRows fails the test unless a manifest is a success whose parts hold the
// table, each row once.
func (s *Stage) WantRows(when string, manifest []byte) contract.Manifest {
	s.T.Helper()
	m, err := contract.DecodeManifest(manifest)
	if err != nil || m.Status != contract.StatusSuccess {
		s.T.Fatalf("%s: manifest with status %q: %v", when, m.Status, err)
	}
	rows := make(map[string]int)
	for _, p := range m.Parts {
		body := s.Body("out/" + p.Path)
		if contract.FingerprintOf(body) != p.ContentFingerprint || int64(len(body)) != p.SizeBytes {
			s.T.Fatalf("%s: part %s is not as the manifest says", when, p.Path)
		}
		for line := range strings.Lines(string(body)) {
			rows[strings.TrimSpace(line)]++
		}
	}
	for i := int64(1); i <= s.DB.Rows; i++ {
		if rows[fmt.Sprint(i)] != 1 {
			s.T.Fatalf("%s: row %d is there %d times", when, i, rows[fmt.Sprint(i)])
		}
	}
	if int64(len(rows)) != s.DB.Rows {
		s.T.Fatalf("%s: %d different rows, want %d", when, len(rows), s.DB.Rows)
	}
	return m
}
