package exportconfig

import (
	"regexp"
	"strconv"
	"time"
)

// Modes whose rows lie in a window.
const (
	Incremental = "incremental"
	TimeWindow  = "time_window"
)

// Settle is settle: rows younger than After by the clock of the source hold the
// cursor back, so that those which commit late are still met.
type Settle struct {
	After time.Duration `json:"after"`
	// Column has the age of a row; "" is the cursor itself.
	Column string `json:"column,omitempty"`
}

// KeepsPosition reports whether the export continues where its last run ended.
func (e Export) KeepsPosition() bool { return e.Mode == Incremental || e.KeysetIncremental }

// window reads what the modes with a window are told: which column the rows are
// chosen by, and how.
func (r *reader) window(m *mapping, e *Export) {
	if m.has("mode") && m.get("mode") == nil {
		return // the mode has been refused, and would decide the rest
	}
	for _, of := range []struct {
		mode string
		keys []string
	}{
		{Incremental, []string{"cursor_column", "cursor_fallback_column", "incremental_cursor_mode", "settle"}},
		{TimeWindow, []string{"time_column", "time_column_type", "days_window"}},
	} {
		given := m.given(of.keys...)
		if e.Mode != of.mode && len(given) > 0 {
			r.fail(m.scope, m.lineOf(given[0]), "%s is read with mode: %s only, and the mode is %s", given[0], of.mode, e.Mode)
			return
		}
	}
	switch e.Mode {
	case Incremental:
		r.cursor(m, e)
	case TimeWindow:
		for _, name := range []string{"time_column", "days_window"} {
			if !m.has(name) {
				r.fail(m.scope, m.line, "%s is missing: mode: time_window needs it", name)
			}
		}
		e.TimeColumn, e.TimeColumnType, e.DaysWindow = m.text("time_column"), m.or("time_column_type", "timestamp"), int(m.number("days_window"))
	}
	if m.yes("keyset_incremental") {
		e.KeysetIncremental = true
		if !m.has("chunk_by_key") {
			r.fail(m.scope, m.lineOf("keyset_incremental"), "keyset_incremental needs mode: chunked with chunk_by_key, the key that it continues by")
		}
	}
}

func (r *reader) cursor(m *mapping, e *Export) {
	if !m.has("cursor_column") {
		r.fail(m.scope, m.line, "cursor_column is missing: mode: incremental needs it")
	}
	e.CursorColumn, e.CursorFallback = m.text("cursor_column"), m.text("cursor_fallback_column")
	switch coalesce := m.or("incremental_cursor_mode", "single_column") == "coalesce"; {
	case coalesce && !m.has("cursor_fallback_column"):
		r.fail(m.scope, m.lineOf("incremental_cursor_mode"), "cursor_fallback_column is missing: incremental_cursor_mode: coalesce needs it")
	case !coalesce && m.has("cursor_fallback_column"):
		r.fail(m.scope, m.lineOf("cursor_fallback_column"), "cursor_fallback_column is read with incremental_cursor_mode: coalesce only")
	case coalesce && e.CursorFallback != "" && e.CursorFallback == e.CursorColumn:
		r.fail(m.scope, m.lineOf("cursor_fallback_column"), "cursor_fallback_column is cursor_column again: name another column")
	}
	if s := m.block("settle"); s != nil {
		e.Settle = &Settle{Column: s.text("column")}
		if v := s.get("after"); v != nil {
			after, ok := parseAge(v.text)
			if !ok {
				r.fail(m.scope, v.line, "settle.after must be an age such as 90s, 5m, 2h or 1d, not %s", quote(v.raw))
			}
			e.Settle.After = after
		}
	}
}

var ageRule = regexp.MustCompile(`^([0-9]{1,7})([smhd])$`)

// parseAge reads an age of at least a second and at most ten years.
func parseAge(s string) (time.Duration, bool) {
	parts := ageRule.FindStringSubmatch(s)
	if parts == nil {
		return 0, false
	}
	n, err := strconv.Atoi(parts[1])
	unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[parts[2]]
	return time.Duration(n) * unit, err == nil && n > 0 && n <= int(10*365*24*time.Hour/unit)
}
