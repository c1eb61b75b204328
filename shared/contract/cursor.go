package contract

import "reflect"

// CursorVersion is the only version of the cursor document.
const CursorVersion = 1

// FenceState is what the owner of an export is doing (architecture §2.2).
type FenceState string

const (
	FenceOpening   FenceState = "opening"   // taken; the predecessor is being sealed
	FenceOpen      FenceState = "open"      // the owner may commit
	FenceCommitted FenceState = "committed" // the owner has committed
	FenceReleased  FenceState = "released"  // the owner failed before its commit point
)

// CursorDocument is the fence and the cursor of an export: the one object that
// says who owns it and up to where it was delivered. It changes only by
// compare-and-swap (D1, D4, M10). Every body is unique, because Nonce is: on a
// store whose versions are derived from content, an old version never returns.
type CursorDocument struct {
	CursorVersion int        `json:"cursor_version"`
	Export        ExportName `json:"export"`
	Generation    Generation `json:"generation"`
	OwnerRunID    RunID      `json:"owner_run_id"`
	OwnerPrefix   string     `json:"owner_prefix"`
	// OwnerCreation is that of the run's item for which the generation was taken:
	// a run whose item is created again, because the table was lost, does not go
	// on under the generation of its earlier life (ADR-0006).
	OwnerCreation string     `json:"owner_creation,omitempty"`
	State         FenceState `json:"state"`
	// Predecessor is the run that the owner has to seal before it opens, while
	// State is opening.
	Predecessor *Predecessor `json:"predecessor"`
	// Position is the end of what Success manifests cover, in modes with a
	// cursor; null before the first commit and in modes without one.
	Position         *Position       `json:"position"`
	PreviousPosition *Position       `json:"previous_position,omitempty"`
	CommittedBy      *CommittedBy    `json:"committed_by,omitempty"`
	SourceIdentity   *SourceIdentity `json:"source_identity,omitempty"`
	Nonce            string          `json:"nonce"`
	UpdatedAt        Time            `json:"updated_at"`
}

// CommittedEmpty reports whether run was the last one to commit, and had no
// rows to publish: the fence was its commit point, since it has no sidecar.
func (c CursorDocument) CommittedEmpty(run RunID) bool {
	return c.CommittedBy != nil && c.CommittedBy.RunID == run && c.CommittedBy.Manifest == ""
}

// Predecessor names a run that held the fence, its generation and its prefix,
// where its sidecar is.
type Predecessor struct {
	RunID      RunID      `json:"run_id"`
	Generation Generation `json:"generation"`
	Prefix     string     `json:"prefix"`
}

// CommittedBy names the run whose window the position ends.
type CommittedBy struct {
	RunID               RunID       `json:"run_id"`
	Generation          Generation  `json:"generation"`
	Manifest            string      `json:"manifest"`
	ManifestFingerprint Fingerprint `json:"manifest_fingerprint"`
}

// Names reports whether c names exactly this manifest.
func (c *CommittedBy) Names(manifest []byte) bool {
	return c != nil && c.ManifestFingerprint == FingerprintOf(manifest)
}

// Position is how far a cursor has come: the value and, where the table has a
// key, the keys already delivered at exactly that value.
type Position struct {
	Kind   string `json:"kind"` // PositionIncremental or PositionKeyset
	Column string `json:"column"`
	// Fallback is the column whose value counts where Column is NULL.
	Fallback string `json:"fallback_column,omitempty"`
	Type     string `json:"type"`
	// Collation is the source's own name of the order of text, "" where there is
	// none or it is not known.
	Collation string `json:"collation,omitempty"`
	// Relation is what is read: a table with its schema, or the fingerprint of
	// a query.
	Relation string `json:"relation,omitempty"`
	Value    string `json:"value"`
	// KeyColumns are the columns of DeliveredKeys; none where the table has no
	// key. KeyTypes are the source's own names of their types, one each, or none
	// where they are not known.
	KeyColumns    []string   `json:"key_columns,omitempty"`
	KeyTypes      []string   `json:"key_types,omitempty"`
	DeliveredKeys [][]string `json:"delivered_keys,omitempty"`
}

// The kinds of a position: the value of a cursor column, or of a unique key
// that only grows.
const (
	PositionIncremental = "incremental"
	PositionKeyset      = "keyset"
)

// Bounds of the delivered keys of a position: how many there are, and what they
// take together.
const (
	MaxDeliveredKeys     = 10_000
	MaxDeliveredKeyBytes = 1 << 20
)

// SameCursor reports whether two positions are of one cursor, so that the value
// of one means something to the other.
func (p Position) SameCursor(q Position) bool {
	return p.Kind == q.Kind && p.Column == q.Column && p.Fallback == q.Fallback && p.Type == q.Type && p.Relation == q.Relation && p.sameOrder(q)
}

// sameOrder reports whether what is behind the value of one is behind it in the
// order of the other, as far as both are known.
func (p Position) sameOrder(q Position) bool {
	return p.Collation == "" || q.Collation == "" || p.Collation == q.Collation
}

// Cursor names the column, or the two, whose values a position is of.
func (p Position) Cursor() string {
	if p.Fallback != "" {
		return "coalesce(" + p.Column + ", " + p.Fallback + ")"
	}
	return p.Column
}

// String describes the position without its value.
func (p Position) String() string {
	order := ""
	if p.Collation != "" {
		order = " collate " + p.Collation
	}
	return p.Kind + " on " + p.Cursor() + " (" + p.Type + order + ") of " + p.Relation
}

// PositionWindow is what a run with a cursor covers: (From, To], both whole.
// From is null for the first run.
type PositionWindow struct {
	Kind           string          `json:"kind"`
	Column         string          `json:"column"`
	Type           string          `json:"type"`
	From           *Position       `json:"from"`
	To             *Position       `json:"to"`
	SourceIdentity *SourceIdentity `json:"source_identity,omitempty"`
}

// SourceIdentity tells one database from another, so that a cursor is never
// applied to a different one (CUR-08).
type SourceIdentity struct {
	Engine           string `json:"engine"`
	SystemIdentifier string `json:"system_identifier,omitempty"`
	Database         string `json:"database,omitempty"`
}

// Equal compares whole positions; two nil positions are equal.
func (p *Position) Equal(q *Position) bool {
	if p == nil || q == nil {
		return p == q
	}
	if len(p.DeliveredKeys) == 0 && len(q.DeliveredKeys) == 0 {
		a, b := *p, *q
		a.DeliveredKeys, b.DeliveredKeys = nil, nil
		return reflect.DeepEqual(a, b)
	}
	return reflect.DeepEqual(p, q)
}
