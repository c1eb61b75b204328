package chunkplan

import (
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// CodeTooManyTasks refuses a plan that no queue should see.
const CodeTooManyTasks fault.Code = "LAPSTRAKE_PLAN_TOO_MANY_TASKS"

// Tasks makes the ranges of the planned tasks, by index. bounds answers
// IntegerBounds and points SplitPoints; the other one is not looked at.
//
// Together the ranges hold every row once: they tile the key space from end to
// end, and a last one has the rows whose key has a NULL. There is always at
// least one, also for an empty table. The warnings are about the cuts, besides
// c.Diagnostics.
func (c Choice) Tasks(bounds Bounds, points []keyspace.Key) ([]keyspace.Range, []exportconfig.Diagnostic, error) {
	var ranges []keyspace.Range
	var warnings []exportconfig.Diagnostic
	var err error
	switch {
	case c.Cuts == IntegerBounds:
		ranges, warnings, err = c.integerTasks(bounds)
	case c.Cuts == SplitPoints:
		ranges, err = c.pointTasks(points)
	case len(c.Key) > 0:
		ranges = []keyspace.Range{{}} // open at both ends: it can be cut later
	default:
		return []keyspace.Range{{All: true}}, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if err := keyspace.Tiles(keyspace.Range{}, ranges); err != nil {
		return nil, nil, fault.Wrap(err, fault.Bug, "LAPSTRAKE_INTERNAL_PLAN_NOT_TILED", "export %q: the planned ranges do not hold every key once; nothing was read", c.export.Name)
	}
	if c.nullable() && c.Cursor == nil { // a row with a NULL cursor is in no window
		ranges = append(ranges, keyspace.Range{Null: true})
	}
	return ranges, warnings, nil
}

func (c Choice) nullable() bool {
	for _, k := range c.Key {
		if k.Nullable {
			return true
		}
	}
	return false
}

// integerTasks counts before it makes: a sparse key would otherwise ask for
// more ranges than there is memory (PLN-03).
func (c Choice) integerTasks(b Bounds) ([]keyspace.Range, []exportconfig.Diagnostic, error) {
	w := width(c.export, c.facts, b)
	n := IntegerCount(b, w)
	if n == 0 || n > MaxTasks {
		return nil, nil, fault.New(fault.Permanent, CodeTooManyTasks, "export %q: the keys of %s go from %d to %d: in ranges of %d that is more than %d tasks (%s); nothing was read. Use a larger chunk_size, chunk_count, or chunk_by_key, which follows the rows instead of the span", c.export.Name, c.Key[0].Name, b.Min, b.Max, w, MaxTasks, c.estimate())
	}
	ranges, err := IntegerRanges(b, w)
	return ranges, c.sparse(n, w), err
}

// pointTasks cuts at keys that the source has chosen, in its order. A key that
// follows itself is one cut, and one that is too long for a bound is none.
func (c Choice) pointTasks(points []keyspace.Key) ([]keyspace.Range, error) {
	if len(points)+1 > MaxTasks {
		return nil, fault.New(fault.Permanent, CodeTooManyTasks, "export %q: the source was cut into %d ranges, at most %d are allowed; nothing was read. Use a larger chunk_size, or chunk_count", c.export.Name, len(points)+1, MaxTasks)
	}
	ranges := []keyspace.Range{{}}
	for _, p := range points {
		last := &ranges[len(ranges)-1]
		if len(p) != len(c.Key) {
			return nil, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_SPLIT_POINT", "export %q: a split point has %d values, the key has %d", c.export.Name, len(p), len(c.Key))
		}
		next := keyspace.Range{After: p}
		if !p.CanBound() || last.After != nil && (keyspace.Range{After: last.After}).Equal(next) {
			continue
		}
		last.UpTo = p
		ranges = append(ranges, next)
	}
	return ranges, nil
}
