package schedule

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

// stamp is a value of the cursor column.
type stamp struct {
	at   int64
	null bool
}

// stamp gives a new version of a row its value: up to three new rows share one,
// a row that changes or comes back has a later one than before, and some have
// none.
func (r *relation) stamp(x row) {
	if r.stamps == nil {
		return // a world that is too large to remember
	}
	if r.known[x.key] || x.version%3 == 0 {
		r.clock++
	}
	r.known[x.key] = true
	r.highest = max(r.highest, x.key)
	r.stamps[x.version] = stamp{r.clock, x.version%11 == 10}
}

// at returns the value that the export goes by, false for NULL.
func (r *relation) at(x row) (int64, bool) {
	if r.cursor == "id" {
		return x.key, true
	}
	s := r.stamps[x.version]
	return s.at, !s.null
}

func (r *relation) keyOf(x row, columns []keyspace.Column) []int64 {
	key := make([]int64, len(columns))
	for i, c := range columns {
		if key[i] = x.key; c.Name == "at" {
			key[i], _ = r.at(x)
		}
	}
	return key
}

func numbers(k keyspace.Key) []int64 {
	n := make([]int64, len(k))
	for i := range k {
		n[i] = number(k[i])
	}
	return n
}

func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (r *relation) between(x row, columns []keyspace.Column, g keyspace.Range) bool {
	key := r.keyOf(x, columns)
	return (g.After == nil || slices.Compare(key, numbers(g.After)) > 0) && (g.UpTo == nil || slices.Compare(key, numbers(g.UpTo)) <= 0)
}

// within reports whether a row lies in a window.
func (r *relation) within(x row, w *keyspace.Window) bool {
	at, has := r.at(x)
	id := strconv.FormatInt(x.key, 10)
	names := func(keys []keyspace.Key) bool {
		return slices.ContainsFunc(keys, func(k keyspace.Key) bool { return k[0] == id })
	}
	to := number(w.To)
	switch {
	case !has, at > to, w.ToExcluded && at == to, w.OnlyAtTo && at == to && !names(w.Only):
		return false
	case w.From == nil || at > number(*w.From):
		return true
	}
	return at == number(*w.From) && w.FromIncluded && !names(w.Except)
}

func (s *session) CursorEnd(_ context.Context, _ source.Relation, q source.CursorQuery) (source.CursorEnd, error) {
	end := source.CursorEnd{Order: -1}
	greatest := int64(0)
	for _, x := range s.rows {
		at, has := s.at(x)
		switch {
		case !has:
			end.Nulls++
			continue
		case q.Below != nil && at >= number(*q.Below):
			continue
		case !end.Found || at > greatest:
			end.Found, greatest, end.Ties, end.TieBytes = true, at, 0, 0
		}
		id := strconv.FormatInt(x.key, 10)
		if at == greatest && len(q.Key) > 0 {
			end.Ties, end.TieBytes = end.Ties+1, end.TieBytes+int64(len(id))
		}
		delivered := slices.ContainsFunc(q.Delivered, func(k keyspace.Key) bool { return k[0] == id })
		if q.From != nil && at == number(*q.From) && !delivered && len(q.Key) > 0 {
			end.FromTies, end.FromTieBytes = end.FromTies+1, end.FromTieBytes+int64(len(id))
		}
	}
	switch end.Value = strconv.FormatInt(greatest, 10); {
	case !end.Found:
		end.Value = ""
	case q.From == nil:
		end.Order = 1
	default:
		end.Order = cmp.Compare(greatest, number(*q.From))
	}
	return end, nil
}

func (s *session) TimeWindow(_ context.Context, _ source.Relation, column keyspace.Column, _ bool, from, to time.Time) (keyspace.Window, int64, error) {
	begin := strconv.FormatInt(from.Unix(), 10)
	var nulls int64
	for _, x := range s.rows {
		if _, has := s.at(x); !has {
			nulls++
		}
	}
	return keyspace.Window{Cursor: column, From: &begin, FromIncluded: true, To: strconv.FormatInt(to.Unix(), 10), ToExcluded: true}, nulls, nil
}

func (s *session) EstimateRows(_ context.Context, _ source.Relation, w keyspace.Window) (int64, error) {
	return int64(len(s.in(source.ReadSpec{Window: &w}))), nil
}

func (r *reader) Edge(rows int) (e source.Edge) {
	w := r.spec.Window
	if w == nil {
		return e
	}
	for _, x := range r.batched[:rows] {
		switch at, _ := r.at(x); {
		case len(w.Key) > 0 && !w.ToExcluded && at == number(w.To):
			e.AtTo = append(e.AtTo, keyspace.Key{strconv.FormatInt(x.key, 10)})
		case len(w.Key) == 0 && w.From != nil && w.FromIncluded && at == number(*w.From):
			e.AtFrom++
		}
	}
	return e
}
