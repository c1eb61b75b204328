package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/runstate"
)

func kindOf(c Chunk) string {
	switch {
	case c.Status == runstate.ChunkFailed:
		return "failed"
	case c.Status != runstate.ChunkCompleted:
		return "running"
	case c.SupersededBy != "":
		return "superseded"
	case c.Attempts > 1:
		return "again"
	case c.RepairOf != "":
		return "repair"
	case c.SplitOf != "":
		return "split"
	}
	return "done"
}

// labelOf is what fits into a bar: how many attempts if there were several,
// otherwise the rows.
func labelOf(c Chunk, width float64) string {
	label := count(c.Rows)
	if c.Attempts > 1 {
		label = fmt.Sprintf("×%d", c.Attempts)
		if long := label + " · " + count(c.Rows); fits(long, width) {
			label = long
		}
	}
	if !fits(label, width) {
		return ""
	}
	return label
}

func fits(label string, width float64) bool { return float64(len([]rune(label)))*6.4+10 < width }

func detailOf(c Chunk, took time.Duration) string {
	words := []string{"task " + string(c.ID), string(c.Status), count(c.Rows) + " rows", size(c.Bytes), span(took)}
	if c.Attempts != 1 {
		words = append(words, fmt.Sprintf("%d attempts", c.Attempts))
	}
	if origin := c.Origin(); origin != "" {
		words = append(words, origin)
	}
	if c.Worker != "" {
		words = append(words, c.Worker)
	}
	return strings.Join(words, " · ")
}

// shorten cuts the middle out of a long name: the ends tell workers apart.
func shorten(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	head := most / 2
	return string(r[:head]) + "…" + string(r[len(r)-(most-head-1):])
}
