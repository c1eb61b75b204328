package rowbatch_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowbatch/rowbatchtest"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"pgregory.net/rapid"
)

// The standard library knows the same calendar, between the years that its
// own format can print.
func TestDatesAndTimestampsAreThoseOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nanos := rapid.Bool().Draw(t, "nano")
		at := time.Unix(rapid.Int64Range(-62_135_596_800, 253_402_300_799).Draw(t, "seconds"), rapid.Int64Range(0, 999_999).Draw(t, "micros")*1000).UTC()
		value := at.UnixMicro()
		if nanos {
			at = time.Unix(0, rapid.Int64().Draw(t, "nanos")).UTC()
			value = at.UnixNano()
		}
		typ := rowtype.Type{Kind: rowtype.Timestamp, Nano: nanos, UTC: true}
		if got, want := string(rowbatch.AppendTimestamp(nil, typ, value, 9)), at.Format("2006-01-02T15:04:05.000000000Z"); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		days := value / 86_400_000_000
		if want := time.Unix(86_400*days, 0).UTC().Format(time.DateOnly); !nanos && string(rowbatch.AppendDate(nil, days)) != want {
			t.Fatalf("day %d is %s, want %s", days, rowbatch.AppendDate(nil, days), want)
		}
	})
}

func TestTimesOutsideADay(t *testing.T) {
	for _, tc := range []struct {
		micros int64
		f      rowbatch.Fraction
		want   string
	}{
		{-5_400_000_000, 6, "-01:30:00.000000"},
		{-1, 6, "-00:00:00.000001"},
		{3_020_399_000_000, 6, "838:59:59.000000"},
		{86_400_000_000, rowbatch.ShortestFraction, "24:00:00"},
		{math.MinInt64, 0, "-2562047788:00:54"},
	} {
		if got := string(rowbatch.AppendTime(nil, tc.micros, tc.f)); got != tc.want {
			t.Errorf("%d: %s, want %s", tc.micros, got, tc.want)
		}
	}
}

// A decimal is printed without a float or a rounding anywhere: its digits are
// those of the unscaled integer.
func TestDecimalsArePrintedExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		precision := rapid.IntRange(1, 76).Draw(t, "precision")
		scale := rapid.IntRange(0, precision).Draw(t, "scale")
		digits := strings.TrimLeft(rapid.StringMatching(fmt.Sprintf(`[0-9]{1,%d}`, precision)).Draw(t, "digits"), "0")
		negative := rapid.Bool().Draw(t, "negative") && digits != ""
		typ := rowtype.Type{Kind: rowtype.Decimal, Precision: precision, Scale: scale}
		want := digits + ""
		for len(want) <= scale {
			want = "0" + want
		}
		if scale > 0 {
			want = want[:len(want)-scale] + "." + want[len(want)-scale:]
		}
		unscaled := "0" + digits
		if negative {
			want, unscaled = "-"+want, "-"+unscaled
		}
		if got := string(rowbatch.AppendDecimal([]byte("x"), rowbatchtest.Decimal(typ, unscaled), scale)); got != "x"+want {
			t.Fatalf("%s of %s is %s, want %s", unscaled, typ, got[1:], want)
		}
	})
}

func TestDecimalOfTheLargestMagnitude(t *testing.T) {
	for _, width := range []int{16, 32} {
		stored := make([]byte, width)
		stored[width-1] = 0x80
		want := "-" + new(big.Int).Lsh(big.NewInt(1), uint(8*width-1)).String()
		if got := string(rowbatch.AppendDecimal(nil, stored, 0)); got != want {
			t.Errorf("%d bytes: %s, want %s", width, got, want)
		}
		if stored[width-1] != 0x80 || stored[0] != 0 {
			t.Errorf("%d bytes: the stored value was changed", width)
		}
	}
}
