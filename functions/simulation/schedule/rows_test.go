package schedule

import (
	"slices"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

// row is one version of a row. No two versions of any rows have the same
// number.
type row struct {
	key     int64
	null    bool // its key is NULL
	version int64
}

// lived is when a version of a row was in the table: from the first moment on,
// until the last, which is 0 while it still is.
type lived struct{ from, until int }

// relation is the source: a relation with an integer key and a version.
type relation struct {
	rows     []row // as they are now, by key, NULL keys last
	versions int64
	history  map[row]lived
	// stamps are the values of the cursor column, at, by version. They repeat
	// and only grow, as those of a clock that rows take when they change.
	stamps  map[int64]stamp
	clock   int64
	known   map[int64]bool // keys that have been there
	highest int64
	cursor  string // what the export goes by: "", at, id or time
	now     int    // counts the changes
	keyed   bool
	open    int // sessions
}

func newRelation(t topology) *relation {
	r := &relation{
		history: make(map[row]lived), keyed: t.keyed, cursor: t.cursor,
		stamps: make(map[int64]stamp), known: make(map[int64]bool), clock: firstTime.Unix() - 5,
	}
	for i := range t.rows {
		r.insert(int64(i+1), false)
	}
	for range t.nulls {
		r.insert(0, true)
	}
	return r
}

func (r *relation) find(key int64) int {
	return slices.IndexFunc(r.rows, func(x row) bool { return !x.null && x.key == key })
}

func (r *relation) insert(key int64, null bool) {
	r.now++
	r.versions++
	x := row{key, null, r.versions}
	r.history[x] = lived{from: r.now}
	r.stamp(x)
	r.rows = append(r.rows, x)
	slices.SortStableFunc(r.rows, func(a, b row) int {
		switch {
		case a.null != b.null && a.null:
			return 1
		case a.null != b.null:
			return -1
		}
		return int(a.key - b.key)
	})
}

func (r *relation) remove(i int) {
	r.now++
	x := r.rows[i]
	r.history[x] = lived{from: r.history[x].from, until: r.now}
	r.rows = slices.Delete(r.rows, i, i+1)
}

// in returns the rows that a task reads, as they are now and in the order of its
// key.
func (r *relation) in(spec source.ReadSpec) []row {
	var found []row
	g := spec.Range
	for _, x := range r.rows {
		switch {
		case spec.Window != nil:
			if !r.within(x, spec.Window) || !r.between(x, spec.Key, g) {
				continue
			}
		case g.All:
		case x.null != g.Null:
			continue
		case !x.null && (x.key <= bound(g.After, -1<<62) || x.key > bound(g.UpTo, 1<<62)):
			continue
		}
		found = append(found, x)
	}
	if spec.Window != nil {
		slices.SortStableFunc(found, func(a, b row) int { return slices.Compare(r.keyOf(a, spec.Key), r.keyOf(b, spec.Key)) })
	}
	return found
}

func bound(k keyspace.Key, open int64) int64 {
	if k == nil {
		return open
	}
	n, err := strconv.ParseInt(k[0], 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}
