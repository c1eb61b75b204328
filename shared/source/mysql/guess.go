package mysql

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"
)

// guesses are some values between two of a column, as text, and finer ones at
// every further level of text or bytes. Whether they are between, and in which
// order, is for the server to say: a guess that is not costs one look into an
// index.
func guesses(c column, low, high string, level int) []string {
	family := c.family()
	if level > 0 && family != textFamily && family != bytesFamily {
		return nil
	}
	switch family {
	case wholeFamily, decimalFamily:
		return numbersBetween(low, high, c.mysql.Scale)
	case floatFamily:
		return floatsBetween(low, high)
	case timeFamily:
		return timesBetween(low, high)
	case textFamily:
		if c.mysql.Name != "uuid" {
			return textsBetween(low, high, level)
		}
	case bytesFamily:
		return bytesBetween(low, high, level)
	}
	return nil
}

// steps is into how many parts a span of numbers is cut at once.
const steps = 4

func numbersBetween(low, high string, scale int) []string {
	a, okA := new(big.Rat).SetString(low)
	b, okB := new(big.Rat).SetString(high)
	if !okA || !okB {
		return nil
	}
	span := new(big.Rat).Sub(b, a)
	var all []string
	for i := int64(1); i < steps; i++ {
		part := new(big.Rat).Mul(span, big.NewRat(i, steps))
		all = append(all, part.Add(part, a).FloatString(scale))
	}
	return all
}

func floatsBetween(low, high string) []string {
	a, errA := strconv.ParseFloat(low, 64)
	b, errB := strconv.ParseFloat(high, 64)
	if errA != nil || errB != nil {
		return nil
	}
	var all []string
	for i := 1; i < steps; i++ {
		part := float64(i) / steps
		all = append(all, floatText(a*(1-part)+b*part))
	}
	return all
}

// timesBetween is for dates with or without a time. A date of zero, and a time
// alone, are not cut.
func timesBetween(low, high string) []string {
	layout := time.DateOnly
	if len(low) > len(layout) {
		layout = "2006-01-02 15:04:05.999999"
	}
	a, errA := time.Parse(layout, low)
	b, errB := time.Parse(layout, high)
	if errA != nil || errB != nil {
		return nil
	}
	var all []string
	for i := int64(1); i < steps; i++ {
		all = append(all, time.UnixMicro(a.UnixMicro()+(b.UnixMicro()-a.UnixMicro())/steps*i).UTC().Format(layout))
	}
	return all
}

const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// textsBetween puts one more character behind what two texts have in common:
// those of most keys, and some between the next two characters. A further level
// does so behind more of the lower text, with which all up to the next
// character begin.
func textsBetween(low, high string, level int) []string {
	a, b := []rune(low), []rune(high)
	common := 0
	for common < len(a) && common < len(b) && a[common] == b[common] {
		common++
	}
	if common += level; level > 0 && common > len(a) {
		return nil
	}
	prefix := string(a[:common])
	var all []string
	for _, r := range alphanumeric {
		all = append(all, prefix+string(r))
	}
	if level > 0 {
		return all
	}
	var from, to rune
	if common < len(a) {
		from = a[common]
	}
	if common < len(b) {
		to = b[common]
	}
	for i := rune(1); i < 8; i++ {
		if r := from + (to-from)/8*i; to-from >= 8 && utf8.ValidRune(r) {
			all = append(all, prefix+string(r))
		}
	}
	return append(all, prefix+string(max(from, to, 1)))
}

// bytesBetween does the same with bytes, which are written in hex.
func bytesBetween(low, high string, level int) []string {
	a, errA := hex.DecodeString(low)
	b, errB := hex.DecodeString(high)
	if errA != nil || errB != nil {
		return nil
	}
	common := 0
	for common < len(a) && common < len(b) && a[common] == b[common] {
		common++
	}
	if common += level; level > 0 && common > len(a) {
		return nil
	}
	from, to := 0, 255
	if common < len(a) && level == 0 {
		from = int(a[common])
	}
	if common < len(b) && level == 0 {
		to = int(b[common])
	}
	var all []string
	step := max((to-from)/16, 1)
	for next := from + step; next <= to; next += step {
		all = append(all, hexText(a[:common])+hexText([]byte{byte(next)}))
	}
	return all
}
