package postgres

import (
	"encoding/binary"
	"math/bits"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
)

var powersOf10 = [...]uint64{1, 10, 100, 1000, 10000, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// Signs of the binary format of numeric.
const (
	numericPositive    = 0x0000
	numericNegative    = 0x4000
	numericNaN         = 0xC000
	numericPlusInfinty = 0xD000
	numericMinusInfty  = 0xF000
)

// appendNumeric decodes a numeric into a decimal of the vector's precision and
// scale: exactly, or not at all (TPG-07).
//
// The format is groups of four decimal digits, base 10000, most significant
// first; the weight is the position of the first group before the point.
func appendNumeric(v *rowbatch.Vector, b []byte) error {
	if len(b) < 8 || len(b)&1 != 0 {
		return errLayout
	}
	weight := int(int16(binary.BigEndian.Uint16(b[2:])))
	sign := binary.BigEndian.Uint16(b[4:])
	groups := b[8:]
	if len(groups) != 2*int(binary.BigEndian.Uint16(b)) {
		return errLayout
	}
	switch sign {
	case numericPositive, numericNegative:
	case numericNaN:
		return errNaN
	case numericPlusInfinty, numericMinusInfty:
		return errInfiniteSum
	default:
		return errLayout
	}
	for len(groups) > 0 && groups[0] == 0 && groups[1] == 0 {
		groups, weight = groups[2:], weight-1
	}
	for n := len(groups); n > 0 && groups[n-1] == 0 && groups[n-2] == 0; n = len(groups) {
		groups = groups[:n-2]
	}
	if v.Type.Precision <= 18 {
		return appendSmall(v, groups, weight, sign == numericNegative)
	}
	return appendLarge(v, groups, weight, sign == numericNegative)
}

// appendSmall is for what an int64 holds.
func appendSmall(v *rowbatch.Vector, groups []byte, weight int, negative bool) error {
	var sum uint64
	if len(groups) > 0 {
		var err error
		if sum, err = smallDecimal(groups, weight, v.Type.Precision, v.Type.Scale); err != nil {
			return err
		}
	}
	if negative {
		sum = -sum
	}
	var out [16]byte
	binary.LittleEndian.PutUint64(out[:], sum)
	binary.LittleEndian.PutUint64(out[8:], uint64(int64(sum)>>63))
	v.AppendFixed(out[:])
	return nil
}

func appendLarge(v *rowbatch.Vector, groups []byte, weight int, negative bool) error {
	width := v.Type.Width()
	var unscaled [4]uint64 // little-endian limbs
	if len(groups) > 0 {
		if err := largeDecimal(&unscaled, width/8, groups, weight, v.Type.Precision, v.Type.Scale); err != nil {
			return err
		}
	}
	if negative {
		negate(&unscaled)
	}
	var out [32]byte
	for i, limb := range unscaled {
		binary.LittleEndian.PutUint64(out[8*i:], limb)
	}
	v.AppendFixed(out[:width])
	return nil
}

// fits checks the number of digits before anything is computed, so that no
// step can overflow.
func fits(first uint16, weight, precision, scale int) error {
	digits := weight * 4 // before the point
	switch {
	case first >= 10000:
		return errLayout
	case first >= 1000:
		digits += 4
	case first >= 100:
		digits += 3
	case first >= 10:
		digits += 2
	default:
		digits++
	}
	switch {
	case digits+scale > precision:
		return errPrecision
	case digits+scale <= 0:
		return errScale
	}
	return nil
}

// smallDecimal computes groups × 10^scale for at most 18 digits.
func smallDecimal(groups []byte, weight, precision, scale int) (uint64, error) {
	if err := fits(binary.BigEndian.Uint16(groups), weight, precision, scale); err != nil {
		return 0, err
	}
	var sum uint64
	exponent := weight*4 + scale // of 10, for the group at hand
	for i := 0; i < len(groups); i, exponent = i+2, exponent-4 {
		group := uint64(binary.BigEndian.Uint16(groups[i:]))
		times, err := step(&group, exponent)
		if err != nil {
			return 0, err
		}
		sum = sum*times + group
	}
	if exponent += 4; exponent > 0 {
		sum *= powersOf10[exponent]
	}
	return sum, nil
}

// largeDecimal is smallDecimal for n limbs.
func largeDecimal(sum *[4]uint64, n int, groups []byte, weight, precision, scale int) error {
	if err := fits(binary.BigEndian.Uint16(groups), weight, precision, scale); err != nil {
		return err
	}
	exponent := weight*4 + scale
	for i := 0; i < len(groups); i, exponent = i+2, exponent-4 {
		group := uint64(binary.BigEndian.Uint16(groups[i:]))
		times, err := step(&group, exponent)
		if err != nil {
			return err
		}
		multiplyAdd(sum, n, times, group)
	}
	for exponent += 4; exponent > 0; exponent -= 18 {
		multiplyAdd(sum, n, powersOf10[min(exponent, 18)], 0)
	}
	return nil
}

// step returns by how much the sum moves up for a group whose lowest digit
// stands at 10^exponent, and cuts from the group the digits beyond the scale,
// which must be zeros.
func step(group *uint64, exponent int) (times uint64, err error) {
	switch {
	case *group >= 10000:
		return 0, errLayout
	case exponent >= 0:
		return 10000, nil
	case exponent <= -4:
		if *group != 0 {
			return 0, errScale
		}
		return 1, nil
	}
	beyond := powersOf10[-exponent]
	if *group%beyond != 0 {
		return 0, errScale
	}
	*group /= beyond
	return powersOf10[4+exponent], nil
}

// multiplyAdd sets sum to sum × times + plus over its first n limbs.
func multiplyAdd(sum *[4]uint64, n int, times, plus uint64) {
	for i := range n {
		high, low := bits.Mul64(sum[i], times)
		low, carry := bits.Add64(low, plus, 0)
		sum[i], plus = low, high+carry
	}
}

func negate(x *[4]uint64) {
	carry := uint64(1)
	for i := range x {
		x[i], carry = bits.Add64(^x[i], 0, carry)
	}
}
