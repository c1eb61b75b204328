package contract

import (
	"encoding/json"
	"fmt"
	"time"
)

// Time is an instant as the upstream prints it: RFC 3339 in UTC with the
// offset "+00:00" and 0, 3, 6 or 9 digits of fraction, as few as hold the value
// (reference §0, T2). It reads "Z" and any offset as well.
type Time struct{ time.Time }

// NewTime returns t in UTC without a monotonic reading.
func NewTime(t time.Time) Time { return Time{t.UTC().Round(0)} }

// String returns the wire form.
func (t Time) String() string {
	layout := "2006-01-02T15:04:05"
	switch ns := t.Nanosecond(); {
	case ns == 0:
	case ns%1_000_000 == 0:
		layout += ".000"
	case ns%1_000 == 0:
		layout += ".000000"
	default:
		layout += ".000000000"
	}
	return t.UTC().Format(layout) + "+00:00"
}

// MarshalJSON prints the wire form.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON reads any RFC 3339 instant that String can print again.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	v, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return fmt.Errorf("time %q: not RFC 3339", preview(s))
	}
	if y := v.UTC().Year(); y < 0 || y > 9999 { // an offset can lead out of what RFC 3339 can say
		return fmt.Errorf("time %q: year %d in UTC", preview(s), y)
	}
	*t = NewTime(v)
	return nil
}
