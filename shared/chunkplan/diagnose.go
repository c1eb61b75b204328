package chunkplan

import (
	"fmt"
	"math"
	"strings"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
)

const (
	// Ranges whose pages are read so many times over, of a table of so many
	// rows, are worth a warning.
	manyReads = 2
	manyRows  = 100_000

	pageBytes = 8 << 10
)

// diagnose adds what is worth a warning about the choice as a whole.
func (c *Choice) diagnose() {
	if len(c.Key) == 0 {
		return
	}
	if !c.facts.OneSnapshot {
		sees := "sees a snapshot of its own"
		if c.facts.Consistency != "" {
			sees = "reads on its own (" + c.facts.Consistency + ")"
		}
		c.warn("CONSISTENCY_PER_TASK", "every task %s: a row whose %s changes during the run can be missed or doubled; a row that keeps it comes once", sees, c.keyNames())
	}
	first := c.Key[0].Name
	r, known := c.facts.Correlation[first]
	if known && c.Cursor == nil && c.facts.Rows >= manyRows {
		n := c.ranges()
		if times := rereads(n, r, c.facts); times >= manyReads {
			c.warn("KEY_ORDER_REREADS_HEAP", "the order of %s is not that of the rows on disk (correlation %.2f): %d ranges of it lie on the same pages, and together they read the table about %.0f times; larger chunks, mode: full, or a key that grows with time read less", first, r, n, times)
		}
	}
	if c.facts.Rows <= 0 && c.facts.Bytes <= 0 && c.export.ChunkCount == 0 {
		c.warn("ESTIMATES_UNKNOWN", "the source has no statistics of the %s: tasks may be much larger or smaller than intended; ANALYZE it, or set chunk_count", c.facts.Kind)
	}
}

// ranges is about how many tasks there will be: those of an integer key follow
// from its extent, which is not known yet.
func (c *Choice) ranges() int64 {
	switch e := c.export; {
	case c.Cuts == SplitPoints:
		return int64(c.Pieces)
	case c.Cuts == NoCuts:
		return 1
	case e.ChunkCount > 0:
		return int64(e.ChunkCount)
	case e.ChunkSize > 0:
		return ceilDiv(c.facts.Rows, e.ChunkSize)
	}
	return max(pieces(c.export, c.facts), 1)
}

// rereads is how many times n ranges of a key read the table together. In the
// order of the disk, every range has pages of its own. In no order, a range of
// the n-th part of the rows has one of them on nearly every page that holds many.
// What lies between is weighed by the square of the correlation, as the server's
// own planner does.
func rereads(n int64, correlation float64, f Facts) float64 {
	perPage := 100.0
	if f.Bytes > 0 {
		perPage = max(float64(f.Rows)*pageBytes/float64(f.Bytes), 1)
	}
	apart := float64(n) * (1 - math.Pow(1-1/float64(n), perPage))
	return 1 + (1-correlation*correlation)*(apart-1)
}

func (c *Choice) keyNames() string {
	var names []string
	for _, k := range c.Key {
		names = append(names, k.Expression())
	}
	return strings.Join(names, ", ")
}

// sparse warns of ranges that mostly hold nothing, by the upstream's measure:
// at least 64 ranges, and four times as many as the rows would fill.
func (c Choice) sparse(ranges int, width uint64) []exportconfig.Diagnostic {
	if c.facts.Rows <= 0 || c.export.ChunkCount > 0 || ranges < 64 || uint64(ranges)/4 < (uint64(c.facts.Rows)-1)/width+1 {
		return nil
	}
	c.Diagnostics = nil
	c.warn("CHUNK_KEY_SPARSE", "%d ranges of %d keys are read for %s: most hold nothing; chunk_by_key or chunk_count would be faster", ranges, width, c.estimate())
	return c.Diagnostics
}

// estimate puts the source's estimates into words.
func (c Choice) estimate() string {
	if c.facts.Rows <= 0 {
		return "the number of rows is not known"
	}
	return fmt.Sprintf("about %d rows by the source's statistics", c.facts.Rows)
}
