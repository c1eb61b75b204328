package extjson

import (
	"bytes"
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// sizeOf is how many bytes the value of a kind takes at the start of b; ok is
// false if it does not lie in b, if its own lengths contradict one another, or
// if there is no such kind.
func sizeOf(kind bson.Type, b []byte) (size int, ok bool) {
	if of := sizes[kind]; of != nil {
		return of(b)
	}
	return 0, false
}

// fixed is the size of values that all have the same.
func fixed(size int) func([]byte) (int, bool) {
	return func(b []byte) (int, bool) { return size, len(b) >= size }
}

func sizeOfDocument(b []byte) (size int, ok bool) {
	size, ok = lengthAt(b, 0)
	return size, ok && size >= 5
}

func sizeOfBinary(b []byte) (size int, ok bool) { return lengthAt(b, 5) }

func sizeOfPointer(b []byte) (size int, ok bool) {
	size, ok = sizeOfText(b)
	return size + 12, ok && len(b) >= size+12
}

func sizeOfPattern(b []byte) (size int, ok bool) {
	pattern := bytes.IndexByte(b, 0)
	if pattern < 0 {
		return 0, false
	}
	options := bytes.IndexByte(b[pattern+1:], 0)
	return pattern + options + 2, options >= 0
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
