package sqlserver

import (
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

// A bound divides the rows by the order that it was made in: ranges of one order
// overlap and leave rows out in another (PLN-08).
func TestAKeyInAnotherOrderIsDrift(t *testing.T) {
	now := column{server: typeOf("nvarchar(20)"), notNull: true, collation: "Latin1_General_BIN2"}
	now.Name = "k"
	planned := now.key()
	for name, tc := range map[string]struct {
		collation string
		drift     bool
	}{"the same": {now.collation, false}, "another": {"Latin1_General_CI_AS", true}, "not noted": {"", false}} {
		planned.Collation = tc.collation
		key, err := keyOf(relation{}, []keyspace.Column{planned}, []column{now})
		switch {
		case tc.drift:
			sourcetest.WantRefusal(t, err, fault.Drift, failure.Drift, "was sorted by "+tc.collation)
		case err != nil || len(key) != 1:
			t.Errorf("%s: %v, %v", name, key, err)
		}
	}
}
