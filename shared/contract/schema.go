package contract

import (
	"cmp"
	"slices"

	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/zeebo/xxh3"
)

// SchemaFingerprint returns the fingerprint of the columns as they are
// written: names and Arrow types, whatever their order (reference §5.6).
func SchemaFingerprint(columns []rowtype.Column) Fingerprint {
	sorted := slices.SortedStableFunc(slices.Values(columns), func(a, b rowtype.Column) int { return cmp.Compare(a.Name, b.Name) })
	h := xxh3.New()
	for _, c := range sorted {
		h.WriteString(c.Name + "\t" + c.Type.ArrowDebug() + "\n")
	}
	return FingerprintOf64(h.Sum64())
}
