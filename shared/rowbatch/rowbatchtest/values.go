package rowbatchtest

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// AllTypes returns a column of every type, named after it, and lists of many.
func AllTypes() []rowtype.Column {
	scalars := []rowtype.Type{
		{Kind: rowtype.Bool}, {Kind: rowtype.Int16}, {Kind: rowtype.Int32}, {Kind: rowtype.Int64}, {Kind: rowtype.UInt64},
		{Kind: rowtype.Float32}, {Kind: rowtype.Float64},
		{Kind: rowtype.Decimal, Precision: 1}, {Kind: rowtype.Decimal, Precision: 9, Scale: 4},
		{Kind: rowtype.Decimal, Precision: 10}, {Kind: rowtype.Decimal, Precision: 18, Scale: 18},
		{Kind: rowtype.Decimal, Precision: 19, Scale: 2}, {Kind: rowtype.Decimal, Precision: 38, Scale: 9},
		{Kind: rowtype.Decimal, Precision: 39}, {Kind: rowtype.Decimal, Precision: 76, Scale: 38},
		{Kind: rowtype.Date}, {Kind: rowtype.Time}, {Kind: rowtype.Timestamp}, {Kind: rowtype.Timestamp, UTC: true},
		{Kind: rowtype.Timestamp, Nano: true}, {Kind: rowtype.Timestamp, Nano: true, UTC: true},
		{Kind: rowtype.UUID}, {Kind: rowtype.Text}, {Kind: rowtype.JSON}, {Kind: rowtype.Enum}, {Kind: rowtype.Interval},
		{Kind: rowtype.Binary},
	}
	var columns []rowtype.Column
	for _, t := range scalars {
		columns = append(columns, rowtype.Column{Name: t.String(), Type: t, Native: "native " + t.String(), Fidelity: "exact"})
	}
	for _, t := range scalars {
		columns = append(columns, rowtype.Column{
			Name: "list<" + t.String() + ">", Type: rowtype.Type{Kind: rowtype.List, Elem: &t}, Native: "native[]", Fidelity: "compatible",
		})
	}
	return columns
}

// Rows returns n rows for these columns: first the extremes of every type,
// then values at random, a tenth of them NULL. The same seed gives the same
// rows. Columns that are not null have no NULL.
func Rows(columns []rowtype.Column, n int, seed uint64) *rowbatch.Batch {
	r := rand.New(rand.NewPCG(seed, 1))
	b := rowbatch.New(columns)
	for row := range n {
		for i := range b.Columns {
			appendValue(r, &b.Columns[i], row, columns[i].NotNull)
		}
		b.Rows++
	}
	return b
}

func appendValue(r *rand.Rand, v *rowbatch.Vector, row int, notNull bool) {
	if !notNull && (row == 1 || r.IntN(10) == 0) {
		v.AppendNull()
		return
	}
	switch v.Type.Kind {
	case rowtype.Bool:
		v.AppendBool(r.IntN(2) == 0)
	case rowtype.Int16:
		v.AppendInt16(extremeOr(row, []int16{math.MinInt16, math.MaxInt16, 0, -1}, func() int16 { return int16(r.Uint32()) }))
	case rowtype.Int32:
		v.AppendInt32(extremeOr(row, []int32{math.MinInt32, math.MaxInt32, 0, -1}, func() int32 { return int32(r.Uint32()) }))
	case rowtype.Int64:
		v.AppendInt64(extremeOr(row, []int64{math.MinInt64, math.MaxInt64, 0, -1}, func() int64 { return int64(r.Uint64() >> r.IntN(64)) }))
	case rowtype.UInt64:
		v.AppendUint64(extremeOr(row, []uint64{math.MaxUint64, 1 << 63, 0, 1<<63 - 1}, r.Uint64))
	case rowtype.Float32:
		v.AppendFloat32(extremeOr(row, []float32{float32(math.NaN()), float32(math.Copysign(0, -1)), float32(math.Inf(-1)), math.MaxFloat32, math.SmallestNonzeroFloat32}, r.Float32))
	case rowtype.Float64:
		v.AppendFloat64(extremeOr(row, []float64{math.NaN(), math.Copysign(0, -1), math.Inf(1), -math.MaxFloat64, math.SmallestNonzeroFloat64}, r.NormFloat64))
	case rowtype.Decimal:
		v.AppendBytes(randomDecimal(r, v.Type, row))
	case rowtype.Date: // 0001-01-01 to 9999-12-31
		v.AppendInt32(extremeOr(row, []int32{-719162, 2932896, 0, -1}, func() int32 { return int32(r.IntN(60_000)) - 20_000 }))
	case rowtype.Time:
		v.AppendInt64(extremeOr(row, []int64{0, 86_399_999_999, 1, 43_200_000_000}, func() int64 { return r.Int64N(86_400_000_000) }))
	case rowtype.Timestamp:
		v.AppendInt64(randomInstant(r, v.Type, row))
	case rowtype.UUID:
		v.AppendBytes(randomBytes(r, 16))
	case rowtype.Binary:
		v.AppendBytes(extremeOr(row, [][]byte{{}, {0}, {0xFF, 0xFE}, {0, 0}}, func() []byte { return randomBytes(r, r.IntN(40)) }))
	case rowtype.List:
		for item := range extremeOr(row, []int{0, 0, 1, 7}, func() int { return r.IntN(5) }) {
			appendValue(r, v.Items, row+item, false)
		}
		v.EndList()
	case rowtype.JSON:
		v.AppendBytes([]byte(documents[r.IntN(len(documents))]))
	default:
		v.AppendBytes([]byte(extremeOr(row, texts, func() string { return words[r.IntN(len(words))] })))
	}
}

var (
	texts     = []string{"", "x", `a"b`, "a,b", "line\nbreak", "cr\r\nlf", "tab\t", " leading", `\.`, "=1+1", "ünïcødé \U0001F980", "NULL", "'", "\u2028"}
	documents = []string{
		`{"k":"<a>&","n":9007199254740993}`, `{"a": 1.50, "a": 2}`, `[]`, `null`, `"\u2028 ünïcødé"`, `{"nested": {"list": [1, "two", null]}}`, `1e400`, "{\n}",
	}
	words = []string{"alpha", "beta", "P1Y2M3DT4H5M6.000001S", "delta,echo", "", "foxtrot", "the same text many times"}
)

func extremeOr[T any](row int, extremes []T, otherwise func() T) T {
	if row < 2*len(extremes) && row%2 == 0 {
		return extremes[row/2]
	}
	return otherwise()
}

func randomInstant(r *rand.Rand, t rowtype.Type, row int) int64 {
	if t.Nano { // 1677 to 2262 is all that fits
		return extremeOr(row, []int64{math.MinInt64 + 1, math.MaxInt64, 0, -1}, func() int64 { return int64(r.Uint64()) })
	}
	return extremeOr(row, []int64{-62_135_596_800_000_000, 253_402_300_799_999_999, 0, -1}, func() int64 { return r.Int64N(4_000_000_000_000_000) - 1_000_000_000_000_000 })
}

func randomDecimal(r *rand.Rand, t rowtype.Type, row int) []byte {
	most := new(big.Int).Sub(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Precision)), nil), big.NewInt(1))
	x := extremeOr(row, []*big.Int{most, new(big.Int).Neg(most), new(big.Int), big.NewInt(-1)}, func() *big.Int {
		x := new(big.Int).SetBytes(randomBytes(r, 1+r.IntN(32)))
		x.Rem(x, most)
		if r.IntN(2) == 0 {
			x.Neg(x)
		}
		return x
	})
	return Decimal(t, x.String())
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Decimal returns an integer, the value without its point, as a vector of type
// t stores it.
func Decimal(t rowtype.Type, unscaled string) []byte {
	x, ok := new(big.Int).SetString(unscaled, 10)
	if !ok {
		panic("not an integer: " + unscaled)
	}
	if x.Sign() < 0 {
		x.Add(x, new(big.Int).Lsh(big.NewInt(1), uint(8*t.Width())))
	}
	b := x.FillBytes(make([]byte, t.Width()))
	slices.Reverse(b)
	return b
}
