package chunkplan

import (
	"fmt"
	"math"
	"strings"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
)

const (
	// lowCorrelation is where reading in key order visits the pages of a table
	// in no order at all, and manyRows the size from which that is felt.
	lowCorrelation = 0.1
	manyRows       = 100_000
)

// diagnose adds what is worth a warning about the choice as a whole.
func (c *Choice) diagnose() {
	if len(c.Key) == 0 {
		return
	}
	c.warn("CONSISTENCY_PER_TASK", "every task sees a snapshot of its own: a row whose %s changes during the run can be missed or doubled; a row that keeps it comes once", c.keyNames())
	first := c.Key[0].Name
	r, known := c.facts.Correlation[first]
	if known && c.Cursor == nil && math.Abs(r) < lowCorrelation && c.facts.Rows >= manyRows {
		c.warn("KEY_ORDER_REREADS_HEAP", "the order of %s is not that of the rows on disk (correlation %.2f): tasks read the same pages again and again; mode: full, or a key that grows with time, reads each page once", first, r)
	}
	if c.facts.Rows <= 0 && c.facts.Bytes <= 0 && c.export.ChunkCount == 0 {
		c.warn("ESTIMATES_UNKNOWN", "the source has no statistics of the %s: tasks may be much larger or smaller than intended; ANALYZE it, or set chunk_count", c.facts.Kind)
	}
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
