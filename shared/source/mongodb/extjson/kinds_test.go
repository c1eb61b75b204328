package extjson_test

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/shared/source/mongodb/extjson"
)

// bodies are values of every layout that BSON has.
func bodies() (all [][]byte) {
	for _, size := range []int{0, 1, 4, 8, 12, 16} {
		all = append(all, make([]byte, size))
	}
	text := append(binary.LittleEndian.AppendUint32(nil, 2), 'a', 0)
	empty := []byte{5, 0, 0, 0, 0}
	scoped := binary.LittleEndian.AppendUint32(nil, uint32(4+len(text)+len(empty)))
	return append(all, text, empty, []byte("a\x00i\x00"), append(slices.Clone(text), make([]byte, 12)...), []byte{1, 0, 0, 0, 0, 7}, slices.Concat(scoped, text, empty))
}

// Of the 256 kinds that a document could name, an encoder writes those of the
// table, as JSON, and refuses the others.
func TestAnEncoderWritesTheKindsOfTheTable(t *testing.T) {
	for kind := range 256 {
		written := 0
		for _, body := range bodies() {
			var e extjson.Encoder
			text, err := e.Value(nil, bson.RawValue{Type: bson.Type(kind), Value: body})
			if err != nil {
				continue
			}
			if written++; !json.Valid(text) {
				t.Errorf("%s %x is written as %q", bson.Type(kind), body, text)
			}
		}
		listed := slices.ContainsFunc(extjson.Kinds, func(k extjson.Kind) bool { return k.Type == bson.Type(kind) })
		if listed != (written > 0) {
			t.Errorf("kind %#x, %s: %d of the values are written, and it is %t that the table lists it", kind, bson.Type(kind), written, listed)
		}
	}
}
