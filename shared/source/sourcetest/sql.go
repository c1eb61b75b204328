package sourcetest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// Values writes rows of [Fixture.Insert] as SQL: literal quotes a text, at writes
// a time that has the digits of text, ago one that lies so far back.
func Values(rows [][]any, literal, at func(text string) string, ago func(time.Duration) string) string {
	var values []string
	for _, r := range rows {
		var cells []string
		for _, cell := range r {
			switch v := cell.(type) {
			case nil:
				cells = append(cells, "null")
			case int64:
				cells = append(cells, strconv.FormatInt(v, 10))
			case time.Time:
				cells = append(cells, at(v.UTC().Format("2006-01-02 15:04:05.000000")))
			case Age:
				cells = append(cells, ago(time.Duration(v)))
			case string:
				cells = append(cells, literal(v))
			}
		}
		values = append(values, "("+strings.Join(cells, ",")+")")
	}
	return strings.Join(values, ",")
}

// WantRefusal fails a test whose error has another class or code, or does not
// say all of names.
func WantRefusal(t *testing.T, err error, class fault.Class, code fault.Code, names ...string) {
	t.Helper()
	if err == nil || fault.ClassOf(err) != class || fault.CodeOf(err) != code {
		t.Fatalf("%v\nhas class %s and code %s, want %s and %s", err, fault.ClassOf(err), fault.CodeOf(err), class, code)
	}
	for _, name := range names {
		if !strings.Contains(err.Error(), name) {
			t.Fatalf("%v\ndoes not say %s", err, name)
		}
	}
}
