package mongodb

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/mongodb/extjson"
)

const (
	idColumn       = "_id"
	documentColumn = "document"
	// nativeID is the type of the key: any value but an array, in the server's
	// order of types.
	nativeID = "bson"
)

// canonical writes keys, which have to keep their type.
func canonical() *extjson.Encoder { return &extjson.Encoder{Canonical: true} }

// keyOf is an id as it travels in a plan: canonical extended JSON. ok is false
// for one that does not read back as the very same bytes, such as a NaN with
// bits of its own: nothing is cut at it.
func keyOf(id bson.RawValue) (text string, ok bool) {
	b, err := canonical().Value(nil, id)
	if err != nil {
		return "", false
	}
	back, err := parseKey(string(b))
	return string(b), err == nil && back.Type == id.Type && bytes.Equal(back.Value, id.Value)
}

// parseKey reads what keyOf wrote.
func parseKey(text string) (bson.RawValue, error) {
	var d struct {
		Key bson.RawValue `bson:"k"`
	}
	if err := bson.UnmarshalExtJSON([]byte(`{"k":`+text+`}`), true, &d); err != nil || d.Key.IsZero() {
		return d.Key, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_KEY_SHAPE", "a bound of a range is no value of extended JSON")
	}
	return d.Key, nil
}

// bounds is the condition of a range of ids. Compared by an expression, values
// of all types have one order, which is that of the index; by a plain $gt, the
// ids of other types than the bound's would be in no range.
func bounds(r keyspace.Range) (bson.D, error) {
	if r.Null { // every document has an _id, and null is a value like others
		return bson.D{{Key: idColumn, Value: bson.D{{Key: "$exists", Value: false}}}}, nil
	}
	var all bson.A
	for _, bound := range []struct {
		operator string
		at       keyspace.Key
	}{{"$gt", r.After}, {"$lte", r.UpTo}} {
		if bound.at == nil {
			continue
		}
		if len(bound.at) != 1 {
			return nil, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_KEY_SHAPE", "a bound has %d values for the key _id", len(bound.at))
		}
		id, err := parseKey(bound.at[0])
		if err != nil {
			return nil, err
		}
		all = append(all, bson.D{{Key: bound.operator, Value: bson.A{"$" + idColumn, literal(id)}}})
	}
	if len(all) == 0 {
		return bson.D{}, nil
	}
	return bson.D{{Key: "$expr", Value: bson.D{{Key: "$and", Value: all}}}}, nil
}

// appendID appends an id as the column _id has it: text as it is, the hex of an
// ObjectId, the digits of an integer, and canonical extended JSON for whatever
// else there is.
func appendID(dst []byte, e *extjson.Encoder, id bson.RawValue) ([]byte, error) {
	switch id.Type {
	case bson.TypeString:
		quoted, err := e.Value(dst, id) // for its look at the bytes
		if err != nil {
			return quoted, err
		}
		return append(dst, id.StringValue()...), nil
	case bson.TypeObjectID:
		return hex.AppendEncode(dst, id.Value), nil
	case bson.TypeInt32:
		return strconv.AppendInt(dst, int64(id.Int32()), 10), nil
	case bson.TypeInt64:
		return strconv.AppendInt(dst, id.Int64(), 10), nil
	}
	return e.Value(dst, id)
}

// shown is an id in a message: canonical extended JSON, or its type and bytes
// if it has none, up to a length.
func shown(id bson.RawValue) string {
	if id.IsZero() {
		return "(none)"
	}
	text, err := canonical().Value(nil, id)
	if err != nil {
		text = append([]byte(id.Type.String()+" "), hex.EncodeToString(id.Value)...)
	}
	const most = 200
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// refused is a document that cannot be delivered, by its id.
func refused(r relation, id bson.RawValue, why error) error {
	return fault.New(fault.Refused, failure.Value, "%s, _id %s: %v. It is not changed to fit, and nothing of the range was delivered: correct the document, or leave it out with a view", r, shown(id), why)
}
