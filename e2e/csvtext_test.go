package e2e

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// floatBits is the canonical text of a float, from its digits.
func floatBits(bits int) func(string) string {
	return func(s string) string {
		f, err := strconv.ParseFloat(s, bits)
		switch {
		case err != nil:
			return "not a number: " + s
		case math.IsNaN(f) && bits == 32:
			return "7fc00000"
		case math.IsNaN(f):
			return "7ff8000000000000"
		case bits == 32:
			return fmt.Sprintf("%08x", math.Float32bits(float32(f)))
		}
		return fmt.Sprintf("%016x", math.Float64bits(f))
	}
}

func withoutDashes(s string) string {
	if len(s) != 36 {
		return "not a uuid: " + s
	}
	return strings.ReplaceAll(s, "-", "")
}

// days counts from 1970, from YYYY-MM-DD with as many digits of the year as it
// takes.
func days(s string) string {
	at, rest := date(s)
	if rest != "" {
		return "not a date: " + s
	}
	return strconv.FormatInt(at.Unix()/86400, 10)
}

func microsOfTimestamp(s string) string {
	at, rest := date(s)
	clock, ok := strings.CutPrefix(rest, "T")
	if !ok {
		return "not a timestamp: " + s
	}
	m, err := microsOfDay(strings.TrimSuffix(clock, "Z"))
	if err != nil {
		return "not a timestamp: " + s
	}
	return strconv.FormatInt(at.Unix()*1e6+m, 10)
}

func microsOfTime(s string) string {
	m, err := microsOfDay(s)
	if err != nil {
		return "not a time: " + s
	}
	return strconv.FormatInt(m, 10)
}

func microsOfDay(s string) (int64, error) {
	at, err := time.Parse("15:04:05.000000", s)
	if err != nil {
		return 0, err
	}
	return int64(at.Hour()*3600+at.Minute()*60+at.Second())*1e6 + int64(at.Nanosecond()/1000), nil
}

// date returns the midnight that s begins with, and what follows.
func date(s string) (time.Time, string) {
	var year, month, day int
	day10, rest, _ := strings.Cut(s, "T")
	if rest != "" {
		rest = "T" + rest
	}
	if n, _ := fmt.Sscanf(day10, "%d-%d-%d", &year, &month, &day); n != 3 {
		return time.Time{}, "?"
	}
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC), rest
}
