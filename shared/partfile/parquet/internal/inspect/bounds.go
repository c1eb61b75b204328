package inspect

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
)

// indexes checks what a reader may skip pages by: both indexes and the bounds of
// the chunk.
func (f *file) indexes(c object, pages []page, v *rowbatch.Vector, rows int64) error {
	m := c.object(3)
	offsets, n, err := decodeObject(f.body[c.int(4) : c.int(4)+c.int(5)])
	if err != nil || int64(n) != c.int(5) || len(offsets.list(1)) != len(pages) {
		return fmt.Errorf("offset index of %d pages: %w", len(offsets.list(1)), err)
	}
	var columns object
	if c.int(7) > 0 {
		if columns, n, err = decodeObject(f.body[c.int(6) : c.int(6)+c.int(7)]); err != nil || int64(n) != c.int(7) {
			return fmt.Errorf("column index: %w", err)
		}
		for _, id := range []int16{1, 2, 3, 5} {
			if len(columns.list(id)) != len(pages) {
				return fmt.Errorf("column index: %d values in field %d for %d pages", len(columns.list(id)), id, len(pages))
			}
		}
	}
	all := summary{order: orderOf(v.Type)}
	indexable := true
	var stored []span
	for i, p := range pages {
		at := offsets.list(1)[i].(object)
		first, last := at.int(3), rows
		if i+1 < len(pages) {
			last = offsets.list(1)[i+1].(object).int(3)
		}
		if at.int(1) != p.at || at.int(2) != int64(p.size) || first >= last || i == 0 && first != 0 {
			return fmt.Errorf("page %d: the index says %v, it is at %d with %d bytes", i, at, p.at, p.size)
		}
		s := summary{order: all.order}
		s.addRows(v, int(f.firstRow+first), int(f.firstRow+last))
		if p.values != s.levels {
			return fmt.Errorf("page %d: %d values, its rows have %d", i, p.values, s.levels)
		}
		all.merge(s)
		indexable = indexable && (s.some || s.levels == s.nulls)
		if columns == nil {
			continue
		}
		low, high := columns.list(2)[i].([]byte), columns.list(3)[i].([]byte)
		if columns.list(5)[i] != s.nulls || columns.list(1)[i] != (s.levels == s.nulls) {
			return fmt.Errorf("page %d: %v NULLs, empty %v; it has %d of %d", i, columns.list(5)[i], columns.list(1)[i], s.nulls, s.levels)
		}
		if s.levels == s.nulls {
			if len(low)+len(high) > 0 {
				return fmt.Errorf("page %d has no values but bounds", i)
			}
			continue
		}
		if err := s.within(low, high); err != nil {
			return fmt.Errorf("page %d: %w", i, err)
		}
		stored = append(stored, span{all.order.read(low), all.order.read(high)})
	}
	if columns == nil && indexable && all.order.kind != byBytes {
		return errors.New("there is no column index")
	}
	if columns != nil {
		if got, want := columns.int(4), boundaryOrder(all.order, stored); got != want {
			return fmt.Errorf("boundary order %d, want %d", got, want)
		}
	}
	if m.int(5) != all.levels {
		return fmt.Errorf("%d values, its rows have %d", m.int(5), all.levels)
	}
	return all.statistics(m.object(12))
}

// statistics checks the bounds of the chunk.
func (s *summary) statistics(t object) error {
	if t.int(3) != s.nulls {
		return fmt.Errorf("statistics: %d NULLs, want %d", t.int(3), s.nulls)
	}
	_, some := t[6]
	if !s.some && some {
		return errors.New("statistics: bounds of nothing")
	}
	if t[1] != nil || t[2] != nil || t[4] != nil {
		return errors.New("statistics: bounds of no order, or a count of distinct values that nobody counted")
	}
	if !some {
		if s.some && s.order.kind != byBytes {
			return errors.New("statistics: no bounds")
		}
		return nil
	}
	if err := s.within(t.bytes(6), t.bytes(5)); err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	for name, b := range map[string]struct {
		exact  any
		is     []byte
		actual any
	}{"lower": {t[8], t.bytes(6), s.low}, "upper": {t[7], t.bytes(5), s.high}} {
		is := s.order.read(b.is)
		equal := s.order.compare(is, b.actual) == 0 || is == 0.0 && b.actual == 0.0
		if b.exact == true && !equal {
			return fmt.Errorf("statistics: the %s bound is called exact and is not", name)
		}
		if b.exact != true && (s.order.kind != byBytes || len(b.actual.([]byte)) <= 64) {
			return fmt.Errorf("statistics: the %s bound could be exact", name)
		}
	}
	return nil
}

type span struct{ low, high any }

func boundaryOrder(o order, pages []span) int64 {
	rises, falls := true, true
	for i := 1; i < len(pages); i++ {
		low, high := o.compare(pages[i-1].low, pages[i].low), o.compare(pages[i-1].high, pages[i].high)
		rises = rises && low <= 0 && high <= 0
		falls = falls && low >= 0 && high >= 0
	}
	switch {
	case rises:
		return 1
	case falls:
		return 2
	}
	return 0
}

// within checks that low and high cover the values and are no further away than
// they must be.
func (s *summary) within(low, high []byte) error {
	l, h := s.order.read(low), s.order.read(high)
	if s.order.kind == byFloat {
		if l == 0.0 && bits(l.(float64)) == 0 || h == 0.0 && bits(h.(float64)) != 0 {
			return errors.New("a bound of zero leaves out the other zero")
		}
	}
	if s.order.compare(l, s.low) > 0 || s.order.compare(h, s.high) < 0 {
		return fmt.Errorf("values from %v to %v are beyond the bounds %v to %v", s.low, s.high, l, h)
	}
	if s.order.kind == byBytes {
		return s.cut(low, high)
	}
	zero := s.order.kind == byFloat && (s.low == 0.0 || s.high == 0.0)
	if !zero && (s.order.compare(l, s.low) != 0 || s.order.compare(h, s.high) != 0) {
		return fmt.Errorf("bounds %v to %v of values from %v to %v", l, h, s.low, s.high)
	}
	return nil
}

// cut checks that bounds are the values themselves, or the first bytes of long
// ones.
func (s *summary) cut(low, high []byte) error {
	least, most := s.low.([]byte), s.high.([]byte)
	text := s.order.t.IsText()
	switch {
	case len(least) <= 64 && !bytes.Equal(low, least) || len(most) <= 64 && !bytes.Equal(high, most):
		return fmt.Errorf("bounds %q to %q of values from %q to %q", low, high, least, most)
	case len(least) > 64 && (!bytes.HasPrefix(least, low) || len(low) > 64 || len(low) < 61):
		return fmt.Errorf("lower bound %q of a value %q", low, least)
	case len(most) > 64 && len(high) > 67:
		return fmt.Errorf("upper bound %q of a value %q", high, most)
	case text && !(utf8.Valid(low) && utf8.Valid(high)):
		return fmt.Errorf("bounds %q to %q are not text", low, high)
	}
	return nil
}
