package rowbatch

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// Why a text cannot be a decimal of a vector's precision and scale.
var (
	ErrDecimalText      = errors.New("the text is no decimal number")
	ErrDecimalPrecision = errors.New("it has more digits before the point than the column is delivered with")
	ErrDecimalScale     = errors.New("it has more digits after the point than the column is delivered with")
)

// AppendDecimalText adds a row to a Decimal vector: a number as digits with an
// optional sign and point, such as -12.50. It is stored exactly, or not at all.
func (v *Vector) AppendDecimalText(text []byte) error {
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative, text = text[0] == '-', text[1:]
	}
	var sum [4]uint64 // little-endian limbs, of the groups that are full
	full := false     // if there are any
	group, times := uint64(0), uint64(1)
	whole, fraction, point, digits := 0, 0, false, 0
	for _, c := range text {
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			return ErrDecimalText
		}
		digits++
		switch {
		case !point && (whole > 0 || c != '0'):
			if whole++; whole > v.Type.Precision-v.Type.Scale {
				return ErrDecimalPrecision
			}
		case point && fraction == v.Type.Scale:
			if c != '0' {
				return ErrDecimalScale
			}
			continue // a zero that the scale has no place for
		case point:
			fraction++
		}
		group, times = group*10+uint64(c-'0'), times*10
		if times == 1e18 {
			multiplyAdd(&sum, times, group)
			group, times, full = 0, 1, true
		}
	}
	if digits == 0 {
		return ErrDecimalText
	}
	for ; fraction < v.Type.Scale; fraction++ {
		group, times = group*10, times*10
		if times == 1e18 {
			multiplyAdd(&sum, times, group)
			group, times, full = 0, 1, true
		}
	}
	if !full { // most: 64 bits hold it
		v.appendWhole(group, negative)
		return nil
	}
	multiplyAdd(&sum, times, group)
	var out [32]byte
	for i, limb := range sum {
		binary.LittleEndian.PutUint64(out[8*i:], limb)
	}
	if negative {
		negate(out[:])
	}
	v.AppendFixed(out[:v.Type.Width()])
	return nil
}

// appendWhole adds a number of less than 63 bits.
func (v *Vector) appendWhole(n uint64, negative bool) {
	sign := uint64(0)
	if negative && n > 0 {
		n, sign = -n, ^uint64(0)
	}
	v.appendValidity(true)
	v.Data = binary.LittleEndian.AppendUint64(v.Data, n)
	for range v.Type.Width()/8 - 1 {
		v.Data = binary.LittleEndian.AppendUint64(v.Data, sign)
	}
	v.Len++
}

// multiplyAdd sets sum to sum × times + plus. It cannot overflow: 76 digits fit
// into four limbs.
func multiplyAdd(sum *[4]uint64, times, plus uint64) {
	for i := range sum {
		high, low := bits.Mul64(sum[i], times)
		low, carry := bits.Add64(low, plus, 0)
		sum[i], plus = low, high+carry
	}
}
