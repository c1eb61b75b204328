package extjson

import "go.mongodb.org/mongo-driver/v2/bson"

// Kind is a type of BSON.
type Kind struct {
	Type bson.Type
	Name string // as MongoDB's documentation has it
	// Refuses says which values are refused, by the document's _id.
	Refuses string

	size func(b []byte) (size int, ok bool)
}

// Kinds are all types of values that a document can hold. An Encoder writes
// these and refuses every other.
var Kinds = []Kind{
	{Type: bson.TypeDouble, Name: "double", size: fixed(8)},
	{Type: bson.TypeString, Name: "string", Refuses: notText, size: sizeOfText},
	{Type: bson.TypeEmbeddedDocument, Name: "document", Refuses: "names that are not UTF-8, one name twice, names of extended JSON itself", size: sizeOfDocument},
	{Type: bson.TypeArray, Name: "array", size: sizeOfDocument},
	{Type: bson.TypeBinary, Name: "binary", size: sizeOfBinary},
	{Type: bson.TypeUndefined, Name: "undefined", size: fixed(0)},
	{Type: bson.TypeObjectID, Name: "ObjectId", size: fixed(12)},
	{Type: bson.TypeBoolean, Name: "bool", size: fixed(1)},
	{Type: bson.TypeDateTime, Name: "date", size: fixed(8)},
	{Type: bson.TypeNull, Name: "null", size: fixed(0)},
	{Type: bson.TypeRegex, Name: "regular expression", Refuses: notText, size: sizeOfPattern},
	{Type: bson.TypeDBPointer, Name: "DBPointer", Refuses: notText, size: sizeOfPointer},
	{Type: bson.TypeJavaScript, Name: "JavaScript", Refuses: notText, size: sizeOfText},
	{Type: bson.TypeSymbol, Name: "symbol", Refuses: notText, size: sizeOfText},
	{Type: bson.TypeCodeWithScope, Name: "JavaScript with scope", Refuses: "as text and as a document", size: sizeOfDocument},
	{Type: bson.TypeInt32, Name: "int32", size: fixed(4)},
	{Type: bson.TypeTimestamp, Name: "timestamp", size: fixed(8)},
	{Type: bson.TypeInt64, Name: "int64", size: fixed(8)},
	{Type: bson.TypeDecimal128, Name: "Decimal128", size: fixed(16)},
	{Type: bson.TypeMinKey, Name: "MinKey", size: fixed(0)},
	{Type: bson.TypeMaxKey, Name: "MaxKey", size: fixed(0)},
}

const notText = "bytes that are not UTF-8"

// sizes are those of the kinds, by their bytes in a document.
var sizes = sizesOf(Kinds)

func sizesOf(kinds []Kind) (sizes [256]func([]byte) (int, bool)) {
	for _, k := range kinds {
		sizes[k.Type] = k.size
	}
	return sizes
}
