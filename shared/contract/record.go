package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// RecordVersion is the version of run records that this package writes, and the
// only one that it reads. Records of version 1 do not say what the key of the
// predicates is.
const RecordVersion = 2

// MaxRecordBytes bounds what a reader loads: the record of the most tasks that
// a run may have, with keys of a few hundred bytes.
const MaxRecordBytes = 64 << 20

// RunRecord is record-gNNNNNN.json: what each task of one generation of a run
// covered. With the manifest that names it, it shows without the state table
// and without the database that no row was left out and none taken twice.
type RunRecord struct {
	RecordVersion int        `json:"record_version"`
	RunID         RunID      `json:"run_id"`
	Export        ExportName `json:"export"`
	Generation    Generation `json:"generation"`
	// RevokedBy is the generation that has revoked this one, which then never
	// commits (ADR-0007).
	RevokedBy Generation   `json:"revoked_by,omitempty"`
	Plan      RunRecordRef `json:"plan"`
	// Key is what the predicates of the tasks are of; empty when one task has
	// every row.
	Key []keyspace.Column `json:"key,omitempty"`
	// Window is what the run covered, in modes with a position; Within what its
	// tasks were limited to, whatever their predicates.
	Window *PositionWindow  `json:"window,omitempty"`
	Within *keyspace.Window `json:"within,omitempty"`
	Tasks  []TaskRecord     `json:"tasks"`
}

// TaskRecord is one completed task, by its id.
type TaskRecord struct {
	Task      TaskID    `json:"task"`
	Predicate Predicate `json:"predicate"`
	// SplitOf is the task whose predicate ended where this one's begins;
	// RepairOf the one that this task did again, and SupersededBy the one that
	// did this task again: then its parts do not count.
	SplitOf      TaskID   `json:"split_of,omitempty"`
	RepairOf     TaskID   `json:"repair_of,omitempty"`
	SupersededBy TaskID   `json:"superseded_by,omitempty"`
	Rows         int64    `json:"rows"`
	Parts        []string `json:"parts"`
	// ReadPosition is where the source was read, in the engine's own terms.
	ReadPosition string `json:"read_position,omitempty"`
	// EndKeys and RepeatedRows are of modes with a position: how many rows the
	// task delivered at the end of the window, and at its start.
	EndKeys      int   `json:"end_keys,omitempty"`
	RepeatedRows int64 `json:"repeated_rows,omitempty"`
}

// Live reports whether the task counts: no repair has replaced it.
func (t TaskRecord) Live() bool { return t.SupersededBy == "" }

// PredicateKind says which rows a predicate speaks of.
type PredicateKind string

const (
	AllRows  PredicateKind = "all_rows"  // whatever their key
	NullKey  PredicateKind = "null_key"  // those whose key has a NULL
	KeyRange PredicateKind = "key_range" // those whose key lies between two bounds
)

// Predicate is which rows a task has read. An absent bound is open; a range
// without bounds holds every row whose key has no NULL.
type Predicate struct {
	Kind  PredicateKind `json:"kind"`
	Lower *Bound        `json:"lower,omitempty"`
	Upper *Bound        `json:"upper,omitempty"`
}

// Bound is one end of a range: one text a key column, in the canonical form of
// the source. Only the source can order two of them; equal texts of one plan
// are equal keys.
type Bound struct {
	Key       keyspace.Key `json:"key"`
	Inclusive bool         `json:"inclusive"`
}

// PredicateOf returns what a task with this range reads.
func PredicateOf(r keyspace.Range) Predicate {
	switch {
	case r.All:
		return Predicate{Kind: AllRows}
	case r.Null:
		return Predicate{Kind: NullKey}
	}
	p := Predicate{Kind: KeyRange}
	if r.After != nil {
		p.Lower = &Bound{Key: r.After}
	}
	if r.UpTo != nil {
		p.Upper = &Bound{Key: r.UpTo, Inclusive: true}
	}
	return p
}

// Encode returns the bytes of the record. Equal records have equal bytes.
func (r RunRecord) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return b.Bytes(), err
}

// DecodeRunRecord reads a record and refuses one of another version, and one
// whose predicates are not of a known form. Fields that it does not know are
// ignored.
func DecodeRunRecord(body []byte) (RunRecord, error) {
	if len(body) > MaxRecordBytes {
		return RunRecord{}, unreadableRecord(fmt.Errorf("%d bytes or more, at most %d are read", len(body), MaxRecordBytes))
	}
	var v struct {
		Version   int64      `json:"record_version"`
		RevokedBy Generation `json:"revoked_by"`
	}
	if err := decodeExact(body, &v); err != nil {
		return RunRecord{}, unreadableRecord(err)
	}
	if v.Version != RecordVersion && v.RevokedBy == 0 {
		return RunRecord{}, fault.New(fault.Refused, "LAPSTRAKE_DEST_RECORD_VERSION_UNKNOWN",
			"run record has version %d and this program reads version %d only", v.Version, RecordVersion)
	}
	var r RunRecord
	if err := decodeExact(body, &r); err != nil {
		return RunRecord{}, unreadableRecord(err)
	}
	for _, t := range r.Tasks {
		if err := t.Predicate.check(); err != nil {
			return RunRecord{}, unreadableRecord(fmt.Errorf("task %q: %w", preview(string(t.Task)), err))
		}
	}
	return r, nil
}

func (p Predicate) check() error {
	switch {
	case !slices.Contains([]PredicateKind{AllRows, NullKey, KeyRange}, p.Kind):
		return fmt.Errorf("predicate of kind %q is unknown", preview(string(p.Kind)))
	case p.Kind != KeyRange && (p.Lower != nil || p.Upper != nil):
		return fmt.Errorf("predicate of kind %s has bounds", p.Kind)
	}
	return nil
}

func unreadableRecord(err error) error {
	return fault.Wrap(err, fault.Permanent, "LAPSTRAKE_DEST_RECORD_UNREADABLE", "run record cannot be read")
}
