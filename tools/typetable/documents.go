package main

import (
	"cmp"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/shared/source/mongodb/extjson"
)

// values are an example of each kind.
var values = map[bson.Type]any{
	bson.TypeDouble: 1.0, bson.TypeString: "text", bson.TypeEmbeddedDocument: bson.D{{Key: "a", Value: true}}, bson.TypeArray: bson.A{true, nil},
	bson.TypeBinary: bson.Binary{Subtype: 4, Data: []byte("0123456789abcdef")}, bson.TypeUndefined: bson.Undefined{}, bson.TypeObjectID: bson.ObjectID{0x65, 0x6e, 11: 1},
	bson.TypeBoolean: true, bson.TypeDateTime: bson.DateTime(1795953600000), bson.TypeNull: bson.Null{}, bson.TypeRegex: bson.Regex{Pattern: "^a", Options: "i"},
	bson.TypeDBPointer: bson.DBPointer{DB: "shop", Pointer: bson.ObjectID{11: 1}}, bson.TypeJavaScript: bson.JavaScript("f()"), bson.TypeSymbol: bson.Symbol("s"),
	bson.TypeCodeWithScope: bson.CodeWithScope{Code: "f()", Scope: bson.D{}}, bson.TypeInt32: int32(1), bson.TypeTimestamp: bson.Timestamp{T: 1795953600, I: 1},
	bson.TypeInt64: int64(1), bson.TypeDecimal128: bson.NewDecimal128(0x303c000000000000, 110), bson.TypeMinKey: bson.MinKey{}, bson.TypeMaxKey: bson.MaxKey{},
}

// documents is the table of what a document holds.
func documents() (string, error) {
	var text strings.Builder
	text.WriteString("| BSON | `relaxed` | `canonical` | Refused, by `_id` |\n|---|---|---|---|\n")
	for _, k := range extjson.Kinds {
		value, ok := values[k.Type]
		kind, bytes, err := bson.MarshalValue(value)
		if err != nil || !ok || kind != k.Type {
			return "", fmt.Errorf("there is no example of %s, %t, %s: %w", k.Name, ok, kind, err)
		}
		cells := []string{k.Name}
		for _, canonical := range []bool{false, true} {
			e := extjson.Encoder{Canonical: canonical}
			written, err := e.Value(nil, bson.RawValue{Type: kind, Value: bytes})
			if err != nil {
				return "", fmt.Errorf("%s: %w", k.Name, err)
			}
			cells = append(cells, "`"+string(written)+"`")
		}
		if cells[1] == cells[2] {
			cells[2] = "the same"
		}
		fmt.Fprintf(&text, "| %s |\n", strings.Join(append(cells, cmp.Or(k.Refuses, none)), " | "))
	}
	return text.String(), nil
}
