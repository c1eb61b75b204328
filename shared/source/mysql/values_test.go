package mysql

import (
	"errors"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/source/mysql/packet"
)

// Every day that the server knows is that of Go's calendar, and what lies between
// two days is none.
func TestDaysAreThoseOfTheCalendar(t *testing.T) {
	want := int64(-719162)
	for year := 1; year <= 9999; year++ {
		for month := 1; month <= 12; month++ {
			last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
			for day := 1; day <= 31; day++ {
				got, err := daysOf(packet.Time{Year: year, Month: month, Day: day})
				switch {
				case day > last && !errors.Is(err, errNoDay):
					t.Fatalf("%d-%d-%d is day %d, %v", year, month, day, got, err)
				case day > last:
				case err != nil || got != want:
					t.Fatalf("%d-%d-%d is day %d and not %d, %v", year, month, day, got, want, err)
				default:
					want++
				}
			}
		}
	}
	if want != time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()/86400 {
		t.Fatalf("day %d follows the last one", want)
	}
	for _, tc := range []struct {
		date packet.Time
		want error
	}{
		{packet.Time{}, errZeroDate}, {packet.Time{Year: 2024, Month: 1}, errZeroDate}, {packet.Time{Year: 2024, Day: 1}, errZeroDate},
		{packet.Time{Month: 1, Day: 1}, errBeforeYear1},
	} {
		if _, err := daysOf(tc.date); !errors.Is(err, tc.want) {
			t.Errorf("%+v: %v, want %v", tc.date, err, tc.want)
		}
	}
}
