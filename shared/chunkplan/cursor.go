package chunkplan

import (
	"slices"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// Strategies of the modes whose rows lie in a window, as source.extraction
// names them.
const (
	Incremental = "incremental"
	TimeWindow  = "timewindow"
)

// byCursor reads an incremental export by its cursor and then by the preferred
// unique key: ranges, splits and the last row of a task follow the order of the
// cursor, and its index.
func (c *Choice) byCursor() error {
	e := c.export
	cursor, err := findColumn(e, c.facts, "cursor_column", e.CursorColumn)
	if err != nil {
		return err
	}
	if e.CursorFallback != "" {
		second, err := findColumn(e, c.facts, "cursor_fallback_column", e.CursorFallback)
		if err != nil {
			return err
		}
		if second.Native != cursor.Native {
			return fault.New(fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "export %q: cursor_column %s is %s and cursor_fallback_column %s is %s: they have to be of one type; nothing was read", e.Name, cursor.Name, cursor.Native, second.Name, second.Native)
		}
		cursor.Fallback, cursor.Nullable = second.Name, cursor.Nullable && second.Nullable
	}
	c.windowed(Incremental, cursor)
	if len(c.Identity) == 0 {
		c.warn("CURSOR_WITHOUT_KEY", "the %s has no unique key without NULLs: rows at the stored position come again in the next run, because nothing tells them from those that came later; such repeats are counted, and every row comes at least once, not exactly once", c.facts.Kind)
	}
	if e.Settle == nil {
		c.warn("CURSOR_NO_LAG", "a row that commits late, with a smaller %s than a row that was read already, is missed: set settle.after to how long a transaction may last", cursor.Expression())
	}
	return nil
}

// byTime reads a time_window export like an incremental one.
func (c *Choice) byTime() error {
	column, err := findColumn(c.export, c.facts, "time_column", c.export.TimeColumn)
	if err != nil {
		return err
	}
	c.windowed(TimeWindow, column)
	return nil
}

func (c *Choice) windowed(strategy string, cursor keyspace.Column) {
	c.Strategy, c.Cursor, c.Key = strategy, &cursor, []keyspace.Column{cursor}
	if len(c.facts.Keys) == 0 {
		return
	}
	c.Identity, c.Unique = c.facts.Keys[0].Columns, true
	for _, k := range c.Identity {
		if cursor.Fallback != "" || k.Name != cursor.Name {
			c.Key = append(c.Key, k)
		}
	}
}

// continuing makes a keyset export continue behind its last key, which has to
// be unique by itself.
func (c *Choice) continuing(k UniqueKey) error {
	if len(k.Columns) != 1 {
		return fault.New(fault.Usage, "LAPSTRAKE_PLAN_KEY_NOT_UNIQUE", "export %q: keyset_incremental: chunk_by_key %s is not unique by itself, so rows could be skipped; nothing was read. Usable: %s", c.export.Name, k.Columns[0].Name, c.usable())
	}
	c.Cursor = &k.Columns[0]
	c.warn("KEYSET_APPENDS_ONLY", "rows behind the last %s are never read again: one that commits late with a smaller key, or is changed, is missed", k.Columns[0].Name)
	return nil
}

// PreferIdentity takes the unique key that the delivered keys of a position are
// of, if there still is one, so that they tell the rows at it apart. It reports
// whether they are of the identity now.
func (c *Choice) PreferIdentity(p contract.Position) bool {
	if SameKey(c.Identity, p) {
		return true
	}
	at := slices.IndexFunc(c.facts.Keys, func(k UniqueKey) bool { return SameKey(k.Columns, p) })
	if at < 0 {
		return false
	}
	preferred := *c
	preferred.facts.Keys = []UniqueKey{c.facts.Keys[at]}
	preferred.windowed(c.Strategy, *c.Cursor)
	c.Identity, c.Key, c.Unique = preferred.Identity, preferred.Key, preferred.Unique
	return true
}

// Sized plans for a window of about so many rows, -1 if unknown: how many tasks
// it is cut into, and whether one that cannot be split would end in time.
func (c Choice) Sized(rows int64, b Budget) (Choice, error) {
	if c.facts.Rows > 0 && c.facts.Bytes > 0 && rows >= 0 {
		c.facts.Bytes = int64(float64(c.facts.Bytes) / float64(c.facts.Rows) * float64(rows))
	} else {
		c.facts.Bytes = -1
	}
	c.facts.Rows = rows
	c.Cuts, c.Pieces = NoCuts, 1
	if c.Unique && c.facts.Kind != "query" && rows != 0 {
		c.Pieces = min(keysetPieces(c.export, c.facts), MaxTasks)
		if c.Pieces > 1 {
			c.Cuts = SplitPoints
		}
	}
	return c, b.check(&c)
}

// EstimatedRows and EstimatedBytes are those of the window, -1 if unknown.
func (c Choice) EstimatedRows() int64  { return c.facts.Rows }
func (c Choice) EstimatedBytes() int64 { return c.facts.Bytes }
