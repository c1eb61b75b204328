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

// number is a numeric as it comes: groups of four decimal digits, base 10000,
// most significant first, without those that are zero at either end. The weight
// is the position of the first group before the point.
type number struct {
	groups   []byte
	weight   int
	negative bool
}

func parseNumeric(b []byte) (number, error) {
	if len(b) < 8 || len(b)&1 != 0 {
		return number{}, errLayout
	}
	n := number{groups: b[8:], weight: int(int16(binary.BigEndian.Uint16(b[2:])))}
	if len(n.groups) != 2*int(binary.BigEndian.Uint16(b)) {
		return number{}, errLayout
	}
	switch binary.BigEndian.Uint16(b[4:]) {
	case numericPositive:
	case numericNegative:
		n.negative = true
	case numericNaN:
		return number{}, errNaN
	case numericPlusInfinty, numericMinusInfty:
		return number{}, errInfiniteSum
	default:
		return number{}, errLayout
	}
	for len(n.groups) > 0 && n.groups[0] == 0 && n.groups[1] == 0 {
		n.groups, n.weight = n.groups[2:], n.weight-1
	}
	for i := len(n.groups); i > 0 && n.groups[i-1] == 0 && n.groups[i-2] == 0; i = len(n.groups) {
		n.groups = n.groups[:i-2]
	}
	return n, nil
}

// smallPrecision is the most digits that an int64 always holds.
const smallPrecision = 18

// pushSmallNumeric decodes a numeric into a decimal of at most smallPrecision
// digits: exactly, or not at all (TPG-07).
func pushSmallNumeric(v *rowbatch.Vector, b []byte) error {
	if unscaled, ok := usualNumeric(b, v.Type.Precision, v.Type.Scale); ok {
		v.PushWord(unscaled)
		return nil
	}
	n, err := parseNumeric(b)
	if err != nil {
		return err
	}
	var sum uint64
	if len(n.groups) > 0 {
		if sum, err = smallDecimal(n.groups, n.weight, v.Type.Precision, v.Type.Scale); err != nil {
			return err
		}
	}
	if n.negative {
		sum = -sum
	}
	v.PushWord(int64(sum))
	return nil
}

// usualNumeric decodes a numeric of up to four groups without a branch for each
// of them. It leaves to others, ok is false, what is longer or is no such decimal.
func usualNumeric(b []byte, precision, scale int) (unscaled int64, ok bool) {
	if len(b) == 8 && binary.BigEndian.Uint64(b)>>16&^0xFFFF_0000 == 0 { // zero, whatever its weight
		return 0, true
	}
	count := (len(b) - 8) / 2
	if count < 1 || count > 4 || len(b)&1 != 0 || int(binary.BigEndian.Uint16(b)) != count {
		return 0, false
	}
	const tooMuch, top = 0x58F0_58F0_58F0_58F0, 0x8000_8000_8000_8000 // 10000 and tooMuch are top
	x := binary.BigEndian.Uint64(b[len(b)-8:]) & (1<<(16*count) - 1)
	sign := binary.BigEndian.Uint16(b[4:])
	if (x+tooMuch|x)&top != 0 || sign&^numericNegative != 0 {
		return 0, false
	}
	sum := ((x>>48*10000+x>>32&0xFFFF)*10000+x>>16&0xFFFF)*10000 + x&0xFFFF
	switch exponent := 4*(int(int16(binary.BigEndian.Uint16(b[2:])))-count+1) + scale; {
	case exponent == -2: // cents, say: a division by a constant
		if sum%100 != 0 {
			return 0, false
		}
		sum /= 100
	case exponent < -3 || exponent >= len(powersOf10):
		return 0, false
	case exponent < 0:
		beyond := powersOf10[-exponent]
		if sum%beyond != 0 {
			return 0, false
		}
		sum /= beyond
	default:
		high, low := bits.Mul64(sum, powersOf10[exponent])
		if high != 0 {
			return 0, false
		}
		sum = low
	}
	if sum >= powersOf10[precision] {
		return 0, false
	}
	if sign == numericNegative {
		return -int64(sum), true
	}
	return int64(sum), true
}

// pushLargeNumeric is pushSmallNumeric for a decimal of more digits.
func pushLargeNumeric(v *rowbatch.Vector, b []byte) error {
	n, err := parseNumeric(b)
	if err != nil {
		return err
	}
	width := v.Type.Width()
	var unscaled [4]uint64 // little-endian limbs
	if len(n.groups) > 0 {
		if err := largeDecimal(&unscaled, width/8, n.groups, n.weight, v.Type.Precision, v.Type.Scale); err != nil {
			return err
		}
	}
	if n.negative {
		negate(&unscaled)
	}
	for _, limb := range unscaled[:width/8] {
		v.Data = binary.LittleEndian.AppendUint64(v.Data, limb)
	}
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
