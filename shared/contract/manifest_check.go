package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// Tombstone reports whether m says that its run can never commit (D15).
func (m Manifest) Tombstone() bool { return m.Status == StatusInterrupted && m.SealedBy != nil }

// Committed returns the parts that hold rows of the run, in order.
func (m Manifest) Committed() []Part {
	var parts []Part
	for _, p := range m.Parts {
		if p.Status == PartCommitted {
			parts = append(parts, p)
		}
	}
	return parts
}

// Check reports the first thing in m that contradicts something else in m:
// what a reader must not trust (reference §5.4).
func (m Manifest) Check() error {
	if err := m.check(); err != nil {
		return fault.Wrap(err, fault.Integrity, "LAPSTRAKE_DEST_MANIFEST_INCONSISTENT",
			"manifest of run %q is inconsistent", preview(string(m.RunID)))
	}
	return nil
}

func (m Manifest) check() error {
	switch {
	case m.ManifestVersion != ManifestVersion:
		return fmt.Errorf("manifest_version is %d, not %d", m.ManifestVersion, ManifestVersion)
	case m.RunID == "":
		return fmt.Errorf("run_id is empty")
	case m.ExportName == "":
		return fmt.Errorf("export_name is empty")
	case !slices.Contains([]Status{StatusRunning, StatusSuccess, StatusFailed, StatusInterrupted}, m.Status):
		return fmt.Errorf("status %q is unknown", preview(string(m.Status)))
	case m.SealedBy != nil && m.Status != StatusInterrupted:
		return fmt.Errorf("sealed_by is set and the status is %q", m.Status)
	}
	if err := m.RowHash.check(); err != nil {
		return err
	}
	var rows int64
	count := 0
	ids, paths := make(map[int]bool, len(m.Parts)), make(map[string]bool, len(m.Parts))
	for _, p := range m.Parts {
		if err := p.check(); err != nil {
			return fmt.Errorf("part %d: %w", p.PartID, err)
		}
		if ids[p.PartID] {
			return fmt.Errorf("part_id %d stands twice", p.PartID)
		}
		ids[p.PartID] = true
		if p.Status != PartCommitted {
			continue
		}
		if paths[p.Path] {
			return fmt.Errorf("part %d: path %q is that of another committed part, so its rows would count twice", p.PartID, p.Path)
		}
		paths[p.Path] = true
		if p.Rows > math.MaxInt64-rows {
			return fmt.Errorf("part %d: rows do not fit into 64 bits", p.PartID)
		}
		rows += p.Rows
		count++
	}
	switch {
	case count != m.PartCount:
		return fmt.Errorf("part_count is %d and %d parts are committed", m.PartCount, count)
	case rows != m.RowCount:
		return fmt.Errorf("row_count is %d and the committed parts have %d rows", m.RowCount, rows)
	}
	return nil
}

func (p Part) check() error {
	switch {
	case p.PartID < 1:
		return fmt.Errorf("part_id is below 1")
	case p.Rows < 0 || p.SizeBytes < 0:
		return fmt.Errorf("rows %d or size_bytes %d is negative", p.Rows, p.SizeBytes)
	case !slices.Contains([]PartStatus{PartCommitted, PartQuarantined, PartSuperseded}, p.Status):
		return fmt.Errorf("status %q is unknown", preview(string(p.Status)))
	case !safeRelative(p.Path):
		return fmt.Errorf("path %q does not stay below the prefix", preview(p.Path))
	}
	if p.ContentFingerprint != "" {
		if _, err := ParseFingerprint(string(p.ContentFingerprint)); err != nil {
			return err
		}
	}
	return nil
}

// check accepts what RowHash promises of Covered: true, or a list of names.
func (h *RowHash) check() error {
	if h == nil || string(bytes.TrimSpace(h.Covered)) == "true" {
		return nil
	}
	var names []string
	if err := json.Unmarshal(h.Covered, &names); err != nil || len(names) == 0 {
		return fmt.Errorf("row_hash.covered is neither true nor a list of columns")
	}
	return nil
}

// safeRelative reports whether joining p to a prefix gives a key below that
// prefix on every store.
func safeRelative(p string) bool {
	return p != "" && p != "." && utf8.ValidString(p) && path.Clean(p) == p && !path.IsAbs(p) &&
		p != ".." && !strings.HasPrefix(p, "../") && !strings.ContainsAny(p, "\\\x00")
}
