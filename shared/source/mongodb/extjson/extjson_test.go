package extjson_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"github.com/lapstrake/lapstrake/shared/source/mongodb/extjson"
)

func marshal(t interface{ Fatal(...any) }, v any) []byte {
	b, err := bson.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// values draws a value of any type, up to a depth.
func values(depth int) *rapid.Generator[any] {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x00\x1f\"\\/\b\f\n\r\t<>&", "\u2028\u2029\u2027", "😀é", strings.Repeat("x", 300)}))
	plain := rapid.OneOf(
		rapid.Map(text, func(s string) any { return s }),
		rapid.Map(rapid.Int32(), func(n int32) any { return n }),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.SampledFrom([]any{nil, true, false, 1.0, -0.5, 1e21, 5e-324, math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), bson.MinKey{}, bson.MaxKey{}, bson.Undefined{}}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 12, 12), func(b []byte) any { return bson.ObjectID(b) }),
		rapid.Map(rapid.Int64(), func(n int64) any { return bson.DateTime(n / 1000) }),
		rapid.Map(rapid.Int64Range(-1, 253402300800001), func(n int64) any { return bson.DateTime(n) }),
		rapid.Custom(func(t *rapid.T) any {
			return bson.Timestamp{T: rapid.Uint32().Draw(t, "t"), I: rapid.Uint32().Draw(t, "i")}
		}),
		rapid.Custom(func(t *rapid.T) any {
			return bson.NewDecimal128(rapid.Uint64().Draw(t, "high"), rapid.Uint64().Draw(t, "low"))
		}),
		rapid.Custom(func(t *rapid.T) any {
			// The library takes the length of an empty value of subtype 2 for its bytes.
			return bson.Binary{Subtype: rapid.SampledFrom([]byte{0, 2, 3, 4, 5, 6, 128}).Draw(t, "subtype"), Data: rapid.SliceOfN(rapid.Byte(), 1, -1).Draw(t, "bytes")}
		}),
		rapid.Map(rapid.SampledFrom([]string{"", "i", "xi", "imsx"}), func(s string) any { return bson.Regex{Pattern: "a\"/b\n", Options: s} }),
		rapid.Map(text, func(s string) any { return bson.Symbol(s) }),
		rapid.Map(text, func(s string) any { return bson.JavaScript(s) }),
		rapid.Map(text, func(s string) any { return bson.DBPointer{DB: "plain", Pointer: bson.ObjectID{1, 2}} }),
	)
	if depth == 0 {
		return plain
	}
	return rapid.OneOf(plain,
		rapid.Map(documents(depth-1), func(d bson.D) any { return d }),
		rapid.Map(rapid.SliceOfN(values(depth-1), 0, 4), func(a []any) any { return bson.A(a) }),
		rapid.Map(documents(depth-1), func(d bson.D) any { return bson.CodeWithScope{Code: "f()", Scope: d} }),
	)
}

// documents draws a document without what would be refused.
func documents(depth int) *rapid.Generator[bson.D] {
	name := rapid.OneOf(rapid.StringMatching(`[a-z$."é]{0,4}`), rapid.SampledFrom([]string{"_id", "$ref", "a.b", "\n"}))
	return rapid.Custom(func(t *rapid.T) bson.D {
		d := bson.D{}
		for _, name := range rapid.SliceOfNDistinct(name, 0, 40, rapid.ID).Draw(t, "names") {
			d = append(d, bson.E{Key: name, Value: values(depth).Draw(t, "value")})
		}
		return d
	})
}

func TestTheTextIsThatOfTheOfficialLibrary(t *testing.T) {
	var relaxed, canonical extjson.Encoder
	canonical.Canonical = true
	rapid.Check(t, func(t *rapid.T) {
		b := marshal(t, documents(2).Draw(t, "document"))
		for _, e := range []*extjson.Encoder{&relaxed, &canonical} {
			want, err := bson.MarshalExtJSON(bson.Raw(b), e.Canonical, false)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Document([]byte("before"), b)
			if err != nil || string(got) != "before"+string(want) {
				t.Fatalf("canonical %t: %v\n got %s\nwant %s", e.Canonical, err, got[6:], want)
			}
		}
	})
}

func TestCanonicalTextReadsBackAsTheSameDocument(t *testing.T) {
	e := extjson.Encoder{Canonical: true}
	d := bson.D{{Key: "z", Value: int32(1)}, {Key: "a", Value: int64(1)}, {Key: "f", Value: 1.0}, {Key: "d", Value: bson.DateTime(253402300800000)}, {Key: "s", Value: "\x00é\u2028"},
		{Key: "b", Value: bson.Binary{Subtype: 2, Data: []byte("old")}}, {Key: "n", Value: bson.D{{Key: "$ref", Value: "x"}, {Key: "$id", Value: int32(1)}}}, {Key: "l", Value: bson.A{bson.A{}, bson.D{}}}}
	b := marshal(t, d)
	text, err := e.Document(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	var back bson.D
	if err := bson.UnmarshalExtJSON(text, true, &back); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(marshal(t, back), b) {
		t.Fatalf("%s reads back as %v", text, back)
	}
}

func TestOptionsOfAPatternAreInOrder(t *testing.T) {
	b := marshal(t, bson.D{{Key: "r", Value: bson.Regex{Pattern: "p", Options: "im"}}})
	copy(b[bytes.Index(b, []byte("im\x00")):], "mi") // as another client may have stored them
	var e extjson.Encoder
	want, err := bson.MarshalExtJSON(bson.Raw(b), false, false)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := e.Document(nil, b); err != nil || string(got) != string(want) || !strings.Contains(string(got), `"im"`) {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}

// many is a document of n fields, the last of which is named like the first.
func many(n int) bson.D {
	d := bson.D{}
	for i := range n {
		d = append(d, bson.E{Key: strings.Repeat("n", n-i), Value: int32(i)})
	}
	return append(d, bson.E{Key: d[0].Key, Value: int32(0)})
}

func nested(depth int) bson.D {
	d := bson.D{}
	for range depth {
		d = bson.D{{Key: "d", Value: d}}
	}
	return d
}

func TestWhatTheTextWouldChangeIsRefused(t *testing.T) {
	for _, tc := range []struct {
		name     string
		document any
		says     string
	}{
		{"text that is not UTF-8", bson.D{{Key: "a", Value: bson.D{{Key: "b", Value: "x\xffy"}}}}, `field "a.b" has text that is not valid UTF-8`},
		{"half of a surrogate pair as UTF-8", bson.D{{Key: "a", Value: "\xed\xa0\x80"}}, `field "a"`},
		{"a text in an array", bson.D{{Key: "a", Value: bson.A{"ok", "\xc0\x80"}}}, `field "a.1"`},
		{"a symbol that is not UTF-8", bson.D{{Key: "a", Value: bson.Symbol("\xff")}}, `field "a"`},
		{"code that is not UTF-8", bson.D{{Key: "a", Value: bson.JavaScript("\xff")}}, `field "a"`},
		{"code with a scope that is not UTF-8", bson.D{{Key: "a", Value: bson.CodeWithScope{Code: "\xff", Scope: bson.D{}}}}, `field "a"`},
		{"a pattern that is not UTF-8", bson.D{{Key: "a", Value: bson.Regex{Pattern: "\xff"}}}, `field "a"`},
		{"a pointer that is not UTF-8", bson.D{{Key: "a", Value: bson.DBPointer{DB: "\xff"}}}, `field "a"`},
		{"a name that is not UTF-8", bson.D{{Key: "a", Value: bson.D{{Key: "\xff", Value: true}}}}, `field "a" has a name that is not valid UTF-8`},
		{"one name twice", bson.D{{Key: "a", Value: int32(1)}, {Key: "b", Value: int32(1)}, {Key: "a", Value: int32(1)}}, `field "a" is there twice`},
		{"the empty name twice", bson.D{{Key: "x", Value: bson.D{{Key: "", Value: int32(1)}, {Key: "", Value: int32(2)}}}}, `field "x." is there twice`},
		{"one name twice among few more than are looked through", many(16), "is there twice"},
		{"one name twice among many", many(50), "is there twice"},
		{"a document that looks like an ObjectId", bson.D{{Key: "a", Value: bson.D{{Key: "$oid", Value: "000000000000000000000001"}}}}, `field "a.$oid" has a name of extended JSON itself`},
		{"a document that looks like a number", bson.D{{Key: "$numberLong", Value: "1"}}, "extended JSON itself"},
		{"a nesting that no server stores", nested(300), "deeper"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, canonical := range []bool{false, true} {
				e := extjson.Encoder{Canonical: canonical}
				text, err := e.Document(nil, marshal(t, tc.document))
				var refused *extjson.Error
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), tc.says) {
					t.Fatalf("%v for %s, want %s", err, text, tc.says)
				}
			}
		})
	}
}

func TestOneNameInTwoDocumentsIsNoRepetition(t *testing.T) {
	d := bson.D{{Key: "a", Value: bson.D{{Key: "a", Value: int32(1)}, {Key: "b", Value: bson.A{bson.D{{Key: "a", Value: int32(1)}}, bson.D{{Key: "a", Value: int32(2)}}}}}}, {Key: "b", Value: int32(3)}}
	var e extjson.Encoder
	got, err := e.Document(nil, marshal(t, d))
	if want := `{"a":{"a":1,"b":[{"a":1},{"a":2}]},"b":3}`; err != nil || string(got) != want {
		t.Fatalf("%s, %v", got, err)
	}
}

func TestBytesThatAreNoBSONAreRefused(t *testing.T) {
	whole := marshal(t, bson.D{{Key: "s", Value: "text"}, {Key: "r", Value: bson.Regex{Pattern: "p", Options: "i"}}, {Key: "b", Value: bson.Binary{Subtype: 2, Data: []byte("x")}},
		{Key: "c", Value: bson.CodeWithScope{Code: "c", Scope: bson.D{{Key: "x", Value: int32(1)}}}}, {Key: "p", Value: bson.DBPointer{DB: "d"}}, {Key: "d", Value: bson.D{{Key: "t", Value: bson.DateTime(1796022565000)}}}, {Key: "o", Value: true}})
	var e extjson.Encoder
	if _, err := e.Document(nil, whole); err != nil {
		t.Fatal(err)
	}
	for n := range whole { // cut, with a length that says so
		cut := bytes.Clone(whole[:n])
		if n >= 5 {
			binary.LittleEndian.PutUint32(cut, uint32(n))
			cut[n-1] = 0
		}
		if text, err := e.Document(nil, cut); err == nil && !json.Valid(text) {
			t.Errorf("cut after %d bytes: %s", n, text)
		}
	}
	rapid.Check(t, func(t *rapid.T) { // whatever the bytes are, they are read or refused
		b := bytes.Clone(whole)
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		if text, err := e.Document(nil, b); err == nil && !json.Valid(text) {
			t.Fatalf("%s is no JSON", text)
		}
	})
}

func BenchmarkDocument(b *testing.B) {
	d := bson.D{{Key: "_id", Value: bson.NewObjectID()}, {Key: "user", Value: int64(1234567)}, {Key: "name", Value: "a name of some length"}, {Key: "at", Value: bson.DateTime(1796022565000)}, {Key: "score", Value: 1.25},
		{Key: "tags", Value: bson.A{"one", "two", "three"}}, {Key: "address", Value: bson.D{{Key: "street", Value: "a street"}, {Key: "zip", Value: int32(12345)}}}}
	doc := marshal(b, d)
	b.Run("own", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		var e extjson.Encoder
		var dst []byte
		for b.Loop() {
			dst, _ = e.Document(dst[:0], doc)
		}
	})
	b.Run("library", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		b.ReportAllocs()
		for b.Loop() {
			_, _ = bson.MarshalExtJSON(bson.Raw(doc), false, false)
		}
	})
}
