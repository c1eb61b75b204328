// Package keyspace describes which rows a chunk task reads: a half-open range
// of the chunk key. Layer: leaf.
//
// Bounds travel as text in the source's own canonical form and are compared by
// the server only; nothing here orders two text keys (PLN-07, PLN-08).
package keyspace

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Key is one value of the chunk key: one text a key column, in key order.
type Key []string

// longest is how many bytes of a key can be a bound. Engines with an index on
// their keys hold fewer; where a key may have megabytes, as the _id of MongoDB,
// the items of the run's table could not hold it (QUE-22).
const longest = 4 << 10

// CanBound reports whether ranges may begin and end at k: whoever cuts a range
// passes over a longer key.
func (k Key) CanBound() bool {
	n := 0
	for _, text := range k {
		n += len(text)
	}
	return n <= longest
}

// Column is a column of the chunk key.
type Column struct {
	Name string `json:"name"`
	// Fallback is the column, of the same type, whose value counts where that
	// of Name is NULL; "" is none.
	Fallback string `json:"fallback,omitempty"`
	// Native is the source's own name of the type, such as "bigint": bounds
	// are cast to it.
	Native   string `json:"native"`
	Nullable bool   `json:"nullable,omitempty"`
	// Collation is the source's own name of the order of text, "" where there is
	// none or it is not known. A bound divides the rows by this order only.
	Collation string `json:"collation,omitempty"`
}

// Reordered reports whether the column's values are in another order than they
// were in when it was planned.
func (c Column) Reordered(planned Column) bool {
	return planned.Collation != "" && c.Collation != planned.Collation
}

// Range selects rows: those whose key is in (After, UpTo]. A nil bound is
// open. A range with both bounds open holds every row whose key is not NULL.
type Range struct {
	// All selects every row, whatever its key; the other fields are unset.
	All bool `json:"all,omitempty"`
	// Null selects the rows whose key has a NULL; the other fields are unset.
	Null  bool `json:"null,omitempty"`
	After Key  `json:"after,omitempty"`
	UpTo  Key  `json:"up_to,omitempty"`
}

// String prints the range for logs and errors. Keys can be personal data: use
// Shape where they must not be shown.
func (r Range) String() string {
	switch {
	case r.All:
		return "all rows"
	case r.Null:
		return "rows with a NULL key"
	}
	lo, hi := "(-∞", "+∞)"
	if r.After != nil {
		lo = "(" + strings.Join(r.After, ",")
	}
	if r.UpTo != nil {
		hi = strings.Join(r.UpTo, ",") + "]"
	}
	return lo + ", " + hi
}

// CutAt returns the two ranges that r becomes when it is read up to and
// including key at: (After, at] and (at, UpTo].
func (r Range) CutAt(at Key) (done, rest Range, err error) {
	if r.Null || len(at) == 0 {
		return r, Range{}, fmt.Errorf("range %s cannot be cut at %v", r, at)
	}
	if equal(r.After, at) || equal(r.UpTo, at) {
		return r, Range{}, fmt.Errorf("cutting %s at its own bound leaves nothing to do", r)
	}
	if r.All {
		return r, Range{}, fmt.Errorf("a range of all rows has no key to be cut at")
	}
	return Range{After: r.After, UpTo: at}, Range{After: at, UpTo: r.UpTo}, nil
}

// Equal reports whether two ranges select the same rows by the same text.
func (r Range) Equal(s Range) bool {
	return r.All == s.All && r.Null == s.Null && equal(r.After, s.After) && equal(r.UpTo, s.UpTo)
}

// Tiles reports, by an error that names the first gap or overlap, whether the
// ranges in parts, in any order, follow one another from whole.After to
// whole.UpTo: every bound that ends one range starts exactly one other. Bounds
// are compared as text, so both must come from the same plan.
func Tiles(whole Range, parts []Range) error {
	if whole.All || whole.Null {
		if len(parts) != 1 || !parts[0].Equal(whole) {
			return fmt.Errorf("%d ranges cover %s", len(parts), whole)
		}
		return nil
	}
	next := make(map[string]Range, len(parts))
	for _, p := range parts {
		if p.All || p.Null {
			return fmt.Errorf("range %s lies outside %s", p, whole)
		}
		if q, dup := next[bound(p.After)]; dup {
			return fmt.Errorf("ranges %s and %s overlap", p, q)
		}
		next[bound(p.After)] = p
	}
	at := whole.After
	for n := 0; ; n++ {
		p, ok := next[bound(at)]
		if !ok {
			return fmt.Errorf("no range of %s starts after %s", whole, bound(at))
		}
		delete(next, bound(at))
		if equal(p.UpTo, whole.UpTo) {
			break
		}
		if p.UpTo == nil {
			return fmt.Errorf("range %s reaches past %s", p, whole)
		}
		at = p.UpTo
	}
	for _, p := range next {
		return fmt.Errorf("range %s is reached by no other of %s", p, whole)
	}
	return nil
}

// bound encodes a key injectively; an open bound is the empty string.
func bound(k Key) string {
	if k == nil {
		return ""
	}
	b, _ := json.Marshal([]string(k)) // strings always marshal
	return string(b)
}

func equal(a, b Key) bool { return bound(a) == bound(b) }

// Shape prints the range without its keys, which can be personal data.
func (r Range) Shape() string {
	switch {
	case r.All, r.Null:
		return r.String()
	case r.After == nil && r.UpTo == nil:
		return "every key"
	case r.After == nil:
		return "the first range"
	case r.UpTo == nil:
		return "the last range"
	}
	return "a range between two keys"
}
