package extjson

import (
	"bytes"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// sizeOf is how many bytes the value of a kind takes at the start of b; ok is
// false if it does not lie in b, or if its own lengths contradict one another.
func sizeOf(kind bson.Type, b []byte) (size int, ok bool) {
	switch kind {
	case bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey:
		return 0, true
	case bson.TypeBoolean:
		size = 1
	case bson.TypeInt32:
		size = 4
	case bson.TypeDouble, bson.TypeInt64, bson.TypeDateTime, bson.TypeTimestamp:
		size = 8
	case bson.TypeObjectID:
		size = 12
	case bson.TypeDecimal128:
		size = 16
	case bson.TypeEmbeddedDocument, bson.TypeArray, bson.TypeCodeWithScope:
		size, ok = lengthAt(b, 0)
		return size, ok && size >= 5
	case bson.TypeString, bson.TypeSymbol, bson.TypeJavaScript:
		return sizeOfText(b)
	case bson.TypeDBPointer:
		size, ok = sizeOfText(b)
		return size + 12, ok && len(b) >= size+12
	case bson.TypeBinary:
		size, ok = lengthAt(b, 5)
		return size, ok
	case bson.TypeRegex:
		pattern := bytes.IndexByte(b, 0)
		if pattern < 0 {
			return 0, false
		}
		options := bytes.IndexByte(b[pattern+1:], 0)
		return pattern + options + 2, options >= 0
	default:
		return 0, false
	}
	return size, len(b) >= size
}

// lengthAt reads the length at the start of b, which does not count the first
// more bytes.
func lengthAt(b []byte, more int) (size int, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	n := int64(int32(binary.LittleEndian.Uint32(b)))
	return int(n) + more, n >= 0 && n+int64(more) <= int64(len(b))
}

// sizeOfText is that of a text, whose length counts the NUL at its end.
func sizeOfText(b []byte) (size int, ok bool) {
	size, ok = lengthAt(b, 4)
	return size, ok && size >= 5 && b[size-1] == 0
}

// textOf is what a whole value of text holds.
func textOf(v []byte) []byte { return v[4 : len(v)-1] }

// codeAndScope are the parts of a value of code with a scope.
func codeAndScope(v []byte) (code, scope []byte, ok bool) {
	size, ok := sizeOfText(v[4:])
	if !ok {
		return nil, nil, false
	}
	return textOf(v[4 : 4+size]), v[4+size:], true
}
