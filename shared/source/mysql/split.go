package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

// SplitPoints implements [source.Source]. It halves the key space where most
// rows are, like somebody who looks into an index: it asks the server how many
// rows it expects between two keys, guesses values between them, and takes the
// keys of rows that the server finds there. Each question is answered by a dive
// into an index; no rows are counted or skipped. A key that no index starts with
// is not cut.
func (s *Source) SplitPoints(ctx context.Context, rel source.Relation, key []keyspace.Column, w *keyspace.Window, n int) ([]keyspace.Key, error) {
	if err := s.idle(); err != nil {
		return nil, err
	}
	if n < 2 || len(key) == 0 || rel.Query != "" {
		return nil, nil
	}
	var points []keyspace.Key
	err := s.transaction(ctx, "find where to cut "+label(rel), func() error {
		r, err := s.session.find(ctx, rel)
		if err != nil || r.kind != "table" && r.kind != "partitioned table" {
			return err
		}
		columns, err := s.session.resolved(ctx, r)
		if err != nil {
			return err
		}
		d := diver{session: &s.session, r: r}
		if d.key, err = keyOf(r, key, columns); err != nil {
			return err
		}
		within, err := windowOf(w, r, columns)
		if err != nil {
			return err
		}
		if d.within, err = within.predicates(); err != nil {
			return err
		}
		if d.depth, err = s.session.indexed(ctx, r, d.key); err != nil || d.depth == 0 {
			return err
		}
		segments, err := d.segments(ctx, n)
		points = cutsOf(segments, n)
		return err
	})
	return points, err
}

// indexed is how many columns of the key, from the first on, an index has in
// this order. The columns of the primary key follow those of any index.
func (s *session) indexed(ctx context.Context, r relation, key []column) (int, error) {
	indexes, err := s.indexes(ctx, r)
	if err != nil {
		return 0, err
	}
	var appended []string
	for _, i := range indexes {
		if i.name == primary {
			appended = i.columns
		}
	}
	depth := 0
	for _, i := range indexes {
		n := 0
		for _, name := range slices.Concat(i.columns, appended) {
			if n == len(key) || key[n].fallback != "" || key[n].Name != name {
				break
			}
			n++
		}
		depth = max(depth, n)
	}
	return depth, nil
}

// diver looks for keys in an index.
type diver struct {
	session *session
	r       relation
	key     []column
	within  []string
	depth   int // columns of the key that an index finds
	asked   int // statements so far
}

// segment is the rows with a key in (lo, hi], about so many.
type segment struct {
	lo, hi keyspace.Key
	rows   int64
	whole  bool // no key was found inside
}

const (
	mostQuestions   = 4000
	segmentsPerTask = 4
	levels          = 12 // of guesses: keys may share as many characters and one begin otherwise
)

// segments cuts the rows into segments that are small beside a n-th of them,
// where that can be.
func (d *diver) segments(ctx context.Context, n int) ([]segment, error) {
	first, err := d.end(ctx, "")
	if err != nil || first == nil {
		return nil, err
	}
	last, err := d.end(ctx, " desc")
	if err != nil || slices.Equal(first, last) {
		return nil, err
	}
	all := []segment{{lo: first, hi: last}}
	if err := d.estimate(ctx, all); err != nil {
		return nil, err
	}
	for d.asked < mostQuestions {
		total, widest := int64(0), -1
		for i, s := range all {
			total += s.rows
			if !s.whole && (widest < 0 || s.rows > all[widest].rows) {
				widest = i
			}
		}
		if widest < 0 || all[widest].rows <= max(1, total/int64(n*segmentsPerTask)) {
			break
		}
		s := all[widest]
		var inside []keyspace.Key
		for level := 0; level < levels && len(inside) == 0; level++ {
			if inside, err = d.between(ctx, s, level); err != nil {
				return nil, err
			}
		}
		if len(inside) == 0 {
			all[widest].whole = true
			continue
		}
		var parts []segment
		for _, k := range inside {
			parts = append(parts, segment{lo: s.lo, hi: k})
			s.lo = k
		}
		parts = append(parts, segment{lo: s.lo, hi: s.hi})
		if err := d.estimate(ctx, parts); err != nil {
			return nil, err
		}
		all = slices.Replace(all, widest, widest+1, parts...)
	}
	return all, nil
}

// cutsOf joins segments to n tasks of about equally many rows and returns the
// keys between them.
func cutsOf(segments []segment, n int) []keyspace.Key {
	total, sum := int64(0), int64(0)
	for _, s := range segments {
		total += s.rows
	}
	var cuts []keyspace.Key
	for i, s := range segments {
		sum += s.rows
		if i < len(segments)-1 && len(cuts) < n-1 && sum*int64(n) >= total*int64(len(cuts)+1) {
			cuts = append(cuts, s.hi)
		}
	}
	return cuts
}

// texts are the key of a row as a list of expressions.
func (d *diver) texts() string {
	var texts []string
	for _, k := range d.key {
		texts = append(texts, k.keyText(k.expression()))
	}
	return strings.Join(texts, ", ")
}

// where joins the conditions of the window, those of a key without NULLs, and
// others.
func (d *diver) where(others ...string) string {
	conditions := slices.Clone(d.within)
	for _, k := range d.key {
		if !k.notNull {
			conditions = append(conditions, k.expression()+" is not null")
		}
	}
	if conditions = append(conditions, others...); len(conditions) == 0 {
		return ""
	}
	return " where " + strings.Join(conditions, " and ")
}

// end returns the key of a row at one end, nil if there is no row.
func (d *diver) end(ctx context.Context, direction string) (keyspace.Key, error) {
	d.asked++
	rows, err := d.session.query(ctx, "select "+d.texts()+" from "+d.r.from()+d.where()+orderBy(d.key[:d.depth], direction)+" limit 1")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return keyOfRow(rows[0]), nil
}

func keyOfRow(r row) keyspace.Key {
	key := make(keyspace.Key, len(r))
	for i := range r {
		key[i] = r.text(i)
	}
	return key
}

// estimate asks how many rows the segments have.
func (d *diver) estimate(ctx context.Context, segments []segment) error {
	for i := range segments {
		s := &segments[i]
		above, err := compared(d.key, ">", s.lo)
		if err != nil {
			return err
		}
		upTo, err := compared(d.key, "<=", s.hi)
		if err != nil {
			return err
		}
		d.asked++
		rows, err := d.session.estimate(ctx, "select 1 from "+d.r.from()+d.where(above, upTo))
		if err != nil {
			return err
		}
		s.rows = max(rows, 1)
	}
	return nil
}

// between returns keys of rows inside a segment, in the server's order, that
// are the first ones behind some guessed values of the first column in which
// its ends differ.
func (d *diver) between(ctx context.Context, s segment, level int) ([]keyspace.Key, error) {
	at := 0
	for at < d.depth && s.lo[at] == s.hi[at] {
		at++
	}
	if at == d.depth {
		return nil, nil
	}
	above, err := compared(d.key, ">", s.lo)
	if err != nil {
		return nil, err
	}
	below, err := compared(d.key, "<", s.hi)
	if err != nil {
		return nil, err
	}
	var values, order, texts []string
	for i, k := range d.key {
		name := fmt.Sprintf("k%d", i)
		values = append(values, k.expression()+" as "+name)
		order = append(order, "found."+name)
		texts = append(texts, k.keyText("found."+name))
	}
	is := d.key[at].expression() // that of the lower end is less, or the row next to it would be found
	lower, err := equal(d.key, s.lo)
	if err != nil {
		return nil, err
	}
	var looks []string
	look := func(order string, conditions ...string) {
		looks = append(looks, "(select "+strings.Join(values, ", ")+" from "+d.r.from()+d.where(append(conditions, above, below)...)+order+" limit 1)")
	}
	for _, guess := range guesses(d.key[at], s.lo[at], s.hi[at], level) {
		value, err := d.key[at].constant(guess)
		if err != nil {
			return nil, err
		}
		look(orderBy(d.key[at:at+1], ""), is+" >= "+value, "not exists (select 1 from "+d.r.from()+" where "+lower+" and "+is+" >= "+value+")")
	}
	if level == 0 && at+1 < d.depth { // the last row that shares the column with the lower end
		value, err := d.key[at].constant(s.lo[at])
		if err != nil {
			return nil, err
		}
		look(orderBy(d.key[at:d.depth], " desc"), is+" = "+value)
	}
	if len(looks) == 0 {
		return nil, nil
	}
	d.asked++
	rows, err := d.session.query(ctx, "select distinct "+strings.Join(texts, ", ")+", "+strings.Join(order, ", ")+" from ("+strings.Join(looks, " union all ")+") as found order by "+strings.Join(order, ", "))
	if err != nil {
		return nil, err
	}
	var keys []keyspace.Key
	for _, r := range rows {
		keys = append(keys, keyOfRow(r[:len(d.key)]))
	}
	return slices.CompactFunc(keys, slices.Equal[keyspace.Key]), nil
}
