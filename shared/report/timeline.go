package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Measures of the drawing, in its own units.
const (
	drawingWidth = 960
	margin       = 16
	namesWidth   = 96 // left of the lanes, if they have names
	axisHeight   = 26
	notesHeight  = 16 // below the lanes, if there were restarts
	laneHeight   = 22
	laneGap      = 6
	thinLane     = 7
	thinLanes    = 40   // from so many on, lanes are thin and have no names
	plainBars    = 1500 // from so many on, bars have neither text nor hints
)

// timeline is the drawing of a run: a bar for the last attempt of each task, in
// lanes of attempts that did not overlap.
type timeline struct {
	Width, Height, Bottom int // Bottom is where the lanes end
	Gutter                int
	LaneHeight            int
	Lanes                 []lane
	Bars                  []bar
	Gaps                  []gap
	Ticks                 []tick
	Restarts              []restart
	Legend                []legend // of the kinds that are there
}

type legend struct{ Kind, Text string }

// legends are all kinds of bars, in the order in which they are explained.
var legends = []legend{
	{"done", "completed at once"}, {"again", "completed after a repeated attempt"}, {"split", "rest of a split task"}, {"repair", "repair of a damaged part"},
	{"superseded", "replaced by a repair"}, {"failed", "failed"}, {"running", "running"},
}

type lane struct {
	Y    int
	Name string
}

type bar struct {
	X, W   float64
	Y      int
	Kind   string // done, again, split, repair, failed, superseded or running: a CSS class
	Label  string
	Detail string
}

// gap is a time in which nothing was running: what a crash leaves behind.
type gap struct {
	X, W  float64
	Label string
}

type tick struct {
	X     float64
	Label string
}

// Anchor keeps a text inside the drawing.
func (t tick) Anchor() string { return anchor(t.X, "middle") }

func anchor(x float64, otherwise string) string {
	if x > drawingWidth-70 {
		return "end"
	}
	return otherwise
}

// restart is where the first attempt of a later generation began.
type restart struct {
	X     float64
	Label string
}

// Anchor keeps a text inside the drawing.
func (r restart) Anchor() string { return anchor(r.X, "start") }

// Middle is where the text of a gap stands.
func (t *timeline) Middle() int { return (axisHeight+t.Bottom)/2 + 2 }

// draw lays the chunks of s out; nil if no attempt has begun.
func draw(s Summary) *timeline {
	attempts, begin, last := attemptsOf(s)
	if len(attempts) == 0 {
		return nil
	}
	names := assignLanes(attempts, last)
	t := &timeline{Width: drawingWidth, Gutter: margin, LaneHeight: laneHeight}
	if len(names) < thinLanes && strings.Join(names, "") != "" {
		t.Gutter = namesWidth
	}
	whole := max(last.Sub(begin), time.Millisecond)
	scale := func(at time.Time) float64 {
		return float64(t.Gutter) + float64(at.Sub(begin))/float64(whole)*float64(drawingWidth-t.Gutter-margin)
	}
	step := laneHeight + laneGap
	if len(names) >= thinLanes {
		t.LaneHeight, step, names = thinLane, thinLane+1, make([]string, len(names))
	}
	for i, name := range names {
		t.Lanes = append(t.Lanes, lane{Y: axisHeight + i*step, Name: shorten(name, 14)})
	}
	t.Bottom = axisHeight + len(names)*step

	busy := attempts[0].from
	generation := attempts[0].Generation
	for _, a := range attempts {
		if idle := a.from.Sub(busy); idle > max(whole/50, 100*time.Millisecond) {
			g := gap{X: scale(busy), W: scale(a.from) - scale(busy)}
			if g.W > 40 {
				g.Label = span(idle)
			}
			t.Gaps = append(t.Gaps, g)
		}
		busy = later(busy, a.to)
		if a.Generation > generation {
			generation = a.Generation
			t.Restarts = append(t.Restarts, restart{X: scale(a.from), Label: fmt.Sprintf("generation %d", generation)})
		}
		b := bar{X: scale(a.from), Y: t.Lanes[a.lane].Y, Kind: kindOf(a.Chunk)}
		b.W = max(scale(a.to)-b.X, 1.5)
		if len(attempts) < plainBars {
			b.Detail = detailOf(a.Chunk, a.to.Sub(a.from))
			b.Label = labelOf(a.Chunk, b.W)
		}
		if t.LaneHeight == thinLane {
			b.Label = ""
		}
		t.Bars = append(t.Bars, b)
	}
	t.Height = t.Bottom + 4
	if len(t.Restarts) > 0 {
		t.Height += notesHeight
	}
	for _, l := range legends {
		if slices.ContainsFunc(t.Bars, func(b bar) bool { return b.Kind == l.Kind }) {
			t.Legend = append(t.Legend, l)
		}
	}
	if len(t.Gaps) > 0 {
		t.Legend = append(t.Legend, legend{"gapkey", "nothing was running"})
	}
	t.Ticks = ticks(whole, func(d time.Duration) float64 { return scale(begin.Add(d)) })
	return t
}

// ticks puts three to eight marks at round times.
func ticks(whole time.Duration, at func(time.Duration) float64) []tick {
	steps := []time.Duration{1, 2, 5, 10, 20, 50, 100, 200, 500}
	for i := range steps {
		steps[i] *= time.Millisecond
	}
	for _, s := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400} {
		steps = append(steps, s*time.Second)
	}
	step := steps[len(steps)-1]
	for _, s := range steps {
		if whole/s <= 8 {
			step = s
			break
		}
	}
	var out []tick
	for d := time.Duration(0); d <= whole && len(out) < 50; d += step {
		out = append(out, tick{X: at(d), Label: clockLabel(d, step)})
	}
	return out
}

// clockLabel prints a time since the start in the unit of the step.
func clockLabel(d, step time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case step < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case step < time.Minute && d < 2*time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d:%02d:%02d", d/time.Hour, d%time.Hour/time.Minute, d%time.Minute/time.Second)
}
