package rowbatch

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/rowtype"
	"pgregory.net/rapid"
)

func decimals(precision, scale int) *Vector {
	v := newVector(rowtype.Type{Kind: rowtype.Decimal, Precision: precision, Scale: scale})
	return &v
}

func TestDecimalTextIsStoredExactlyOrRefused(t *testing.T) {
	nines := strings.Repeat("9", 76)
	for _, tc := range []struct {
		text             string
		precision, scale int
		want             string
		err              error
	}{
		{"0.10", 10, 2, "0.10", nil},
		{"-99999999.99", 10, 2, "-99999999.99", nil},
		{"0000000000000000000000007", 3, 1, "7.0", nil},
		{"-0", 3, 0, "0", nil},
		{"+1.", 3, 1, "1.0", nil},
		{".5", 1, 1, "0.5", nil},
		{"1.500", 2, 1, "1.5", nil},
		{"123456789012345994999999999999999999", 38, 0, "123456789012345994999999999999999999", nil}, // the last digits run over the first word
		{nines, 76, 0, nines, nil},
		{"-0." + nines, 76, 76, "-0." + nines, nil},
		{"123456789012345678", 38, 20, "123456789012345678.00000000000000000000", nil},
		{"1.55", 2, 1, "", ErrDecimalScale},
		{"10", 2, 1, "", ErrDecimalPrecision},
		{"1" + nines, 76, 0, "", ErrDecimalPrecision},
		{"", 2, 1, "", ErrDecimalText}, {"-", 2, 1, "", ErrDecimalText}, {".", 2, 1, "", ErrDecimalText},
		{"1e3", 9, 1, "", ErrDecimalText}, {"1.2.3", 9, 1, "", ErrDecimalText}, {"NaN", 9, 1, "", ErrDecimalText},
	} {
		v := decimals(tc.precision, tc.scale)
		err := v.AppendDecimalText([]byte(tc.text))
		if !errors.Is(err, tc.err) || err != nil && v.Len != 0 {
			t.Errorf("%q: %v after %d rows, want %v", tc.text, err, v.Len, tc.err)
		}
		if err == nil && string(AppendDecimal(nil, v.Slice(0), tc.scale)) != tc.want {
			t.Errorf("%q is stored as %s", tc.text, AppendDecimal(nil, v.Slice(0), tc.scale))
		}
	}
}

func TestEveryDecimalPrintsAsItWasRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		precision := rapid.IntRange(1, rowtype.MaxPrecision).Draw(t, "precision")
		scale := rapid.IntRange(0, precision).Draw(t, "scale")
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "magnitude"))
		n.Mod(n, limit)
		if rapid.Bool().Draw(t, "negative") {
			n.Neg(n)
		}
		text := new(big.Rat).SetFrac(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)).FloatString(scale)
		v := decimals(precision, scale)
		if err := v.AppendDecimalText([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := string(AppendDecimal(nil, v.Slice(0), scale)); got != text {
			t.Fatalf("%s is stored as %s", text, got)
		}
	})
}
