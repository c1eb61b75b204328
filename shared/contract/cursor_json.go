package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// MaxCursorBytes bounds what a reader loads of a cursor document. It is far
// above what 10,000 delivered keys in each of two positions take.
const MaxCursorBytes = 16 << 20

// Encode returns the bytes of the document.
func (d CursorDocument) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// DecodeCursor reads a cursor document and refuses everything that is not a
// whole and meaningful one. A refusal never means that there is no cursor: a
// caller that took it for that would deliver every row again, so an export
// stops until somebody has looked (architecture §2.2). Unlike in a manifest, an
// unknown field is refused: writing the document back would lose it.
func DecodeCursor(body []byte) (CursorDocument, error) {
	if len(body) > MaxCursorBytes {
		return CursorDocument{}, unreadableCursor(fmt.Errorf("%d bytes or more, at most %d are read", len(body), MaxCursorBytes))
	}
	var v struct {
		Version *int64 `json:"cursor_version"`
	}
	if err := decodeExact(body, &v); err != nil {
		return CursorDocument{}, unreadableCursor(err)
	}
	if v.Version == nil {
		return CursorDocument{}, unreadableCursor(fmt.Errorf("no cursor_version"))
	}
	if *v.Version != CursorVersion {
		return CursorDocument{}, fault.New(fault.Refused, "LAPSTRAKE_STATE_CURSOR_VERSION_UNKNOWN",
			"cursor document has version %d and this program knows version %d only: nothing was changed; use a newer program", *v.Version, CursorVersion)
	}
	var d CursorDocument
	if err := decodeExact(body, &d); err != nil {
		return CursorDocument{}, unreadableCursor(err)
	}
	strict := json.NewDecoder(bytes.NewReader(body))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new(CursorDocument)); err != nil {
		return CursorDocument{}, unreadableCursor(err)
	}
	if err := d.check(); err != nil {
		return CursorDocument{}, unreadableCursor(err)
	}
	return d, nil
}

func (d CursorDocument) check() error {
	switch {
	case d.Export == "":
		return fmt.Errorf("export is empty")
	case d.OwnerRunID == "":
		return fmt.Errorf("owner_run_id is empty")
	case d.Generation < 1:
		return fmt.Errorf("generation %d is below 1", d.Generation)
	case !slices.Contains([]FenceState{FenceOpening, FenceOpen, FenceCommitted, FenceReleased}, d.State):
		return fmt.Errorf("state %q is unknown", preview(string(d.State)))
	}
	if p := d.Predecessor; p != nil && (p.RunID == "" || p.Generation < 1 || p.Generation >= d.Generation) {
		return fmt.Errorf("predecessor %q at generation %d cannot precede generation %d", p.RunID, p.Generation, d.Generation)
	}
	for _, p := range []*Position{d.Position, d.PreviousPosition} {
		if p != nil && (p.Kind == "" || p.Column == "" || p.Type == "") {
			return fmt.Errorf("a position lacks its kind, column or type")
		}
	}
	return nil
}

func unreadableCursor(err error) error {
	return fault.Wrap(err, fault.Refused, "LAPSTRAKE_STATE_CURSOR_UNREADABLE",
		"cursor document cannot be read and is not treated as absent, nothing was changed: restore its newest version, or re-anchor the export")
}
