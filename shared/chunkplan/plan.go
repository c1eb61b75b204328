// Package chunkplan decides how an export is cut into chunk tasks. Layer: L1
// (planning, no I/O).
package chunkplan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// PlanVersion is the only version of plan.json.
const PlanVersion = 1

// MaxPlanBytes bounds plan.json (architecture §7).
const MaxPlanBytes = 32 << 20

// Plan is plan.json: everything a run needs that was decided before its first
// row was read. It is written once, by whichever planner comes first, and
// never changes; the config is not read again (architecture §2.1).
type Plan struct {
	PlanVersion int                 `json:"plan_version"`
	RunID       contract.RunID      `json:"run_id"`
	CreatedAt   contract.Time       `json:"created_at"`
	Export      exportconfig.Export `json:"export"`
	Source      exportconfig.Source `json:"source"`
	// Prefix is the resolved output prefix below the root, ending in "/"
	// unless empty; RunScoped is true when it contains the run id.
	Prefix    string `json:"prefix"`
	RunScoped bool   `json:"run_scoped,omitempty"`
	// FirstGeneration is the generation that the run took the fence at: parts
	// of it may have plain names (architecture §2.5).
	FirstGeneration contract.Generation `json:"first_generation"`

	Engine         string                  `json:"engine"`
	Schema         string                  `json:"schema,omitempty"`
	Table          string                  `json:"table,omitempty"`
	Query          string                  `json:"query,omitempty"`
	SourceIdentity contract.SourceIdentity `json:"source_identity"`

	Columns           []rowtype.Column     `json:"columns"`
	SchemaFingerprint contract.Fingerprint `json:"schema_fingerprint"`
	// PublishedSchema is the schema fingerprint of what the prefix showed its
	// readers when the run was planned; "" when it showed nothing.
	PublishedSchema contract.Fingerprint `json:"published_schema_fingerprint,omitempty"`
	// Strategy is as in source.extraction.
	Strategy string            `json:"strategy"`
	Key      []keyspace.Column `json:"key,omitempty"`
	// Unique is true when no two rows have the same key. Splittable is true
	// when a task may hand the rest of its range to a child; then rows are
	// read in key order.
	Unique     bool `json:"unique,omitempty"`
	Splittable bool `json:"splittable,omitempty"`
	// Consistency is the label of architecture §4.2, such as "per_task".
	Consistency string `json:"consistency"`
	// ReadAt is the point in time that every task reads at, in the engine's own
	// terms; "" if each has one of its own.
	ReadAt string `json:"read_at,omitempty"`
	// NotBefore is how far the source had come when the plan was made; a task is
	// not read from a server that has come less far. "" if that is unknown.
	NotBefore string `json:"not_before,omitempty"`

	// Window is how far a mode that keeps a position takes it; null in others.
	// The keys delivered at its end are added when the run is finalized.
	Window *contract.PositionWindow `json:"window,omitempty"`
	// Within limits the rows of every task; null in modes without a window, and
	// when a run has nothing to read. The keys it leaves out are in Window: see
	// Limits.
	Within *keyspace.Window `json:"within,omitempty"`
	// NullRows counts the rows without a cursor, which are in no window.
	NullRows int64 `json:"null_rows,omitempty"`

	// Tasks has one range for each planned task, by index. There is none when a
	// window has nothing to read.
	Tasks []keyspace.Range `json:"tasks"`

	EstimatedRows  int64                     `json:"estimated_rows"`
	EstimatedBytes int64                     `json:"estimated_bytes"`
	Diagnostics    []exportconfig.Diagnostic `json:"diagnostics,omitempty"`
}

// SchemaChanged reports whether the run publishes other columns or types than
// stand in its prefix.
func (p Plan) SchemaChanged() bool {
	return p.PublishedSchema != "" && p.PublishedSchema != p.SchemaFingerprint
}

// Encode returns the bytes of plan.json.
func (p Plan) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(p); err != nil {
		return nil, err
	}
	if b.Len() > MaxPlanBytes {
		return nil, fault.New(fault.Permanent, "LAPSTRAKE_PLAN_TOO_LARGE", "the plan of %s has %d bytes, at most %d are allowed: use larger chunks", p.RunID, b.Len(), MaxPlanBytes)
	}
	return b.Bytes(), nil
}

// Decode reads plan.json. A plan with a field that Plan lacks is refused: a
// newer planner has decided something about the rows, and whoever left it out
// would read others (QUE-21). That may pass, since the functions of a deployment
// are not replaced at one moment.
func Decode(body []byte) (Plan, error) {
	var p Plan
	unknown := decodeExact(body, &p)
	if unknown != nil { // this is no plan, or one of a newer planner
		p = Plan{}
		if err := json.Unmarshal(body, &p); err != nil {
			return p, fmt.Errorf("plan: %w", err)
		}
	}
	if p.PlanVersion != PlanVersion {
		return p, fault.New(fault.Permanent, "LAPSTRAKE_PLAN_VERSION", "plan of run %s has version %d, this function reads version %d", p.RunID, p.PlanVersion, PlanVersion)
	}
	if unknown != nil {
		return p, fault.Wrap(unknown, fault.Retryable, "LAPSTRAKE_PLAN_FIELD_UNKNOWN", "the plan of run %s was made by a newer version than this one and says something that this one would leave out; nothing was read. Deploy all functions in one version: the run goes on then", p.RunID)
	}
	return p, nil
}

// decodeExact decodes one JSON value, every field of which p has.
func decodeExact(body []byte, p *Plan) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(p); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows the end of the plan")
	}
	return nil
}

// Naming returns how parts written under generation g are named.
func (p Plan) Naming(g contract.Generation) contract.PartNaming {
	return contract.PartNaming{
		Generation: g,
		Plain:      g == p.FirstGeneration && (p.RunScoped || g == 1),
		Ext:        p.Export.Format,
	}
}

// Limits returns Within as tasks read it, with the keys that the run before has
// delivered at its lower bound. A position whose keys are of another key does not
// tell the rows there apart: they come again.
func (p Plan) Limits() *keyspace.Window {
	if p.Within == nil || p.Window == nil || p.Window.From == nil || !p.SameKey(*p.Window.From) {
		return p.Within
	}
	w := *p.Within
	for _, key := range p.Window.From.DeliveredKeys {
		w.Except = append(w.Except, key)
	}
	return &w
}

// SameKey reports whether the delivered keys of a position are of the key that
// the rows of one cursor value are told apart by.
func (p Plan) SameKey(at contract.Position) bool {
	return p.Within != nil && SameKey(p.Within.Key, at)
}
