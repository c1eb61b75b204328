package postgres

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
)

// appendInterval writes an interval as the server does with intervalstyle
// iso_8601: months, days and time stay three amounts, each with its own sign
// (TPG-04).
func appendInterval(v *rowbatch.Vector, b []byte) error {
	if len(b) != 16 {
		return errLayout
	}
	micros := int64(binary.BigEndian.Uint64(b))
	days := int32(binary.BigEndian.Uint32(b[8:]))
	months := int32(binary.BigEndian.Uint32(b[12:]))
	if micros == math.MaxInt64 && days == math.MaxInt32 && months == math.MaxInt32 ||
		micros == math.MinInt64 && days == math.MinInt32 && months == math.MinInt32 {
		return errInfiniteSpan
	}
	var scratch [96]byte
	v.AppendVarying(isoInterval(scratch[:0], months, days, micros))
	return nil
}

func isoInterval(to []byte, months, days int32, micros int64) []byte {
	if months == 0 && days == 0 && micros == 0 {
		return append(to, "PT0S"...)
	}
	to = append(to, 'P')
	to = amount(to, int64(months/12), 'Y')
	to = amount(to, int64(months%12), 'M')
	to = amount(to, int64(days), 'D')
	if micros == 0 {
		return to
	}
	to = append(to, 'T')
	to = amount(to, micros/3600e6, 'H')
	to = amount(to, micros/60e6%60, 'M')
	rest := micros % 60e6
	if rest == 0 {
		return to
	}
	if rest < 0 {
		to = append(to, '-')
		rest = -rest
	}
	to = strconv.AppendInt(to, rest/1e6, 10)
	if fraction := rest % 1e6; fraction > 0 {
		to = append(to, '.')
		for unit := int64(1e5); fraction > 0; unit /= 10 {
			to = append(to, byte('0'+fraction/unit))
			fraction %= unit
		}
	}
	return append(to, 'S')
}

func amount(to []byte, n int64, unit byte) []byte {
	if n == 0 {
		return to
	}
	return append(strconv.AppendInt(to, n, 10), unit)
}
