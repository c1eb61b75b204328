// Package extjson writes BSON as extended JSON (version 2), straight from its
// bytes. Layer: L2 (execution).
//
// The text is that of MongoDB's own tools, byte for byte, wherever it stands for
// the document and for no other. Where it would not, the document is refused:
// text that is not UTF-8, a name that one document has twice, a document that a
// reader would take for a wrapper such as {"$oid": …}, bytes that are no BSON.
package extjson

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxDepth is more than the nesting that a server stores.
const maxDepth = 250

// Error says where a document cannot be written as it is, and why. It quotes no
// value.
type Error struct {
	Path []string // names from the outside in; none is the document itself
	Why  string
}

func (e *Error) Error() string {
	if len(e.Path) == 0 {
		return "the document " + e.Why
	}
	return fmt.Sprintf("field %q %s", strings.Join(e.Path, "."), e.Why)
}

// Encoder writes documents. It keeps its buffers from one to the next, and is
// used by one goroutine at a time.
type Encoder struct {
	// Canonical keeps the type of every number, and relaxed, which is the
	// default, writes them as JSON has them.
	Canonical bool

	names [][]byte // of the documents that are open, innermost last
	depth int
}

// Document appends a document to dst.
func (e *Encoder) Document(dst, document []byte) ([]byte, error) {
	e.names, e.depth = e.names[:0], 0
	return e.document(dst, document, false)
}

// Value appends one value to dst.
func (e *Encoder) Value(dst []byte, v bson.RawValue) ([]byte, error) {
	e.names, e.depth = e.names[:0], 0
	dst, rest, err := e.value(dst, v.Type, v.Value)
	if err == nil && len(rest) > 0 {
		err = broken
	}
	return dst, err
}

var (
	broken    = &Error{Why: "is not valid BSON"}
	notUTF8   = &Error{Why: "has text that is not valid UTF-8"}
	tooDeep   = &Error{Why: "is nested deeper than a server stores"}
	nameBytes = &Error{Why: "has a name that is not valid UTF-8"}
)

// under puts a name before the path of an error.
func under(name []byte, err error) error {
	e, ours := err.(*Error) //nolint:errorlint // made here, never wrapped
	if !ours {
		return err
	}
	return &Error{Path: append([]string{strings.ToValidUTF8(string(name), "\uFFFD")}, e.Path...), Why: e.Why}
}

// wrappers are the names by which a reader of extended JSON takes a document
// for a value of another type.
var wrappers = []string{
	"$binary", "$code", "$date", "$dbPointer", "$maxKey", "$minKey", "$numberDecimal", "$numberDouble", "$numberInt",
	"$numberLong", "$oid", "$options", "$regex", "$regularExpression", "$scope", "$symbol", "$timestamp", "$type", "$undefined", "$uuid",
}

// document appends a document, or an array, whose names are its positions and
// are not written.
func (e *Encoder) document(dst, d []byte, array bool) ([]byte, error) {
	if e.depth++; e.depth > maxDepth {
		return dst, tooDeep
	}
	defer func(names int) { e.depth, e.names = e.depth-1, e.names[:names] }(len(e.names))
	if len(d) < 5 || int(binary.LittleEndian.Uint32(d)) != len(d) || d[len(d)-1] != 0 {
		return dst, broken
	}
	first, opening, closing := len(e.names), byte('{'), byte('}')
	if array {
		opening, closing = '[', ']'
	}
	dst = append(dst, opening)
	for rest, n := d[4:len(d)-1], 0; len(rest) > 0; n++ {
		end := bytes.IndexByte(rest[1:], 0)
		if end < 0 {
			return dst, broken
		}
		kind, name := bson.Type(rest[0]), rest[1:1+end]
		rest = rest[2+end:]
		if n > 0 {
			dst = append(dst, ',')
		}
		var err error
		if !array {
			if dst, err = e.name(dst, name, first); err != nil {
				return dst, err
			}
		}
		if dst, rest, err = e.value(dst, kind, rest); err != nil {
			return dst, under(name, err)
		}
	}
	return append(dst, closing), nil
}

// fewNames is up to how many of them are looked through one by one.
const fewNames = 16

// name appends a name and its colon. The names of the same document start at
// first.
func (e *Encoder) name(dst, name []byte, first int) ([]byte, error) {
	same := e.names[first:]
	if len(same) < fewNames {
		if slices.ContainsFunc(same, func(other []byte) bool { return bytes.Equal(other, name) }) {
			return dst, under(name, &Error{Why: "is there twice: a reader would see one of the two"})
		}
		e.names = append(e.names, name)
	} else { // sorted from here on
		if len(same) == fewNames {
			slices.SortFunc(same, bytes.Compare)
		}
		at, found := slices.BinarySearchFunc(same, name, bytes.Compare)
		if found {
			return dst, under(name, &Error{Why: "is there twice: a reader would see one of the two"})
		}
		e.names = slices.Insert(e.names, first+at, name)
	}
	if len(name) > 0 && name[0] == '$' && slices.Contains(wrappers, string(name)) {
		return dst, under(name, &Error{Why: "has a name of extended JSON itself: a reader would take the document for a value of another type"})
	}
	dst, err := appendText(dst, name)
	if err != nil {
		return dst, nameBytes
	}
	return append(dst, ':'), nil
}

// value appends the value at the start of b and returns what follows it.
func (e *Encoder) value(dst []byte, kind bson.Type, b []byte) (out, rest []byte, err error) {
	size, ok := sizeOf(kind, b)
	if !ok {
		return dst, nil, broken
	}
	v, rest := b[:size], b[size:]
	switch kind {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		dst, err = e.document(dst, v, kind == bson.TypeArray)
	case bson.TypeString:
		dst, err = appendText(dst, textOf(v))
	case bson.TypeSymbol:
		dst, err = wrapText(dst, `{"$symbol":`, textOf(v))
	case bson.TypeJavaScript:
		dst, err = wrapText(dst, `{"$code":`, textOf(v))
	case bson.TypeDouble:
		dst = e.double(dst, math.Float64frombits(binary.LittleEndian.Uint64(v)))
	case bson.TypeInt32:
		dst = e.integer(dst, `{"$numberInt":"`, int64(int32(binary.LittleEndian.Uint32(v))))
	case bson.TypeInt64:
		dst = e.integer(dst, `{"$numberLong":"`, int64(binary.LittleEndian.Uint64(v)))
	case bson.TypeDecimal128:
		d := bson.NewDecimal128(binary.LittleEndian.Uint64(v[8:]), binary.LittleEndian.Uint64(v))
		dst = append(append(append(dst, `{"$numberDecimal":"`...), d.String()...), `"}`...)
	case bson.TypeBoolean:
		if v[0] > 1 {
			return dst, nil, broken
		}
		dst = strconv.AppendBool(dst, v[0] == 1)
	case bson.TypeNull:
		dst = append(dst, "null"...)
	case bson.TypeUndefined:
		dst = append(dst, `{"$undefined":true}`...)
	case bson.TypeMinKey:
		dst = append(dst, `{"$minKey":1}`...)
	case bson.TypeMaxKey:
		dst = append(dst, `{"$maxKey":1}`...)
	case bson.TypeObjectID:
		dst = append(hex.AppendEncode(append(dst, `{"$oid":"`...), v), `"}`...)
	case bson.TypeDateTime:
		dst = e.date(dst, int64(binary.LittleEndian.Uint64(v)))
	case bson.TypeTimestamp:
		dst = strconv.AppendUint(append(dst, `{"$timestamp":{"t":`...), uint64(binary.LittleEndian.Uint32(v[4:])), 10)
		dst = append(strconv.AppendUint(append(dst, `,"i":`...), uint64(binary.LittleEndian.Uint32(v)), 10), "}}"...)
	case bson.TypeBinary:
		dst, err = appendBinary(dst, v)
	case bson.TypeRegex:
		dst, err = appendRegex(dst, v)
	case bson.TypeDBPointer:
		dst, err = wrapText(dst, `{"$dbPointer":{"$ref":`, textOf(v[:size-12]))
		dst = append(hex.AppendEncode(append(dst[:len(dst)-1], `,"$id":{"$oid":"`...), v[size-12:]), `"}}}`...)
	case bson.TypeCodeWithScope:
		code, scope, whole := codeAndScope(v)
		if !whole {
			return dst, nil, broken
		}
		if dst, err = wrapText(dst, `{"$code":`, code); err != nil {
			break
		}
		if dst, err = e.document(append(dst[:len(dst)-1], `,"$scope":`...), scope, false); err == nil {
			dst = append(dst, '}')
		}
	default: // no kind is without its text
		return dst, nil, broken
	}
	return dst, rest, err
}

func (e *Encoder) integer(dst []byte, wrapper string, n int64) []byte {
	if !e.Canonical {
		return strconv.AppendInt(dst, n, 10)
	}
	return append(strconv.AppendInt(append(dst, wrapper...), n, 10), `"}`...)
}

// double appends the shortest digits that read back as the same number.
func (e *Encoder) double(dst []byte, f float64) []byte {
	var text [32]byte
	digits := text[:0]
	switch {
	case math.IsInf(f, 1):
		digits = append(digits, "Infinity"...)
	case math.IsInf(f, -1):
		digits = append(digits, "-Infinity"...)
	case math.IsNaN(f):
		digits = append(digits, "NaN"...)
	default:
		digits = strconv.AppendFloat(digits, f, 'G', -1, 64)
		if bytes.IndexByte(digits, '.') < 0 && bytes.IndexByte(digits, 'E') < 0 {
			digits = append(digits, ".0"...)
		}
		if !e.Canonical {
			return append(dst, digits...)
		}
	}
	return append(append(append(dst, `{"$numberDouble":"`...), digits...), `"}`...)
}

// date appends milliseconds since 1970. Relaxed text has the years 1970 to 9999
// as people write them.
func (e *Encoder) date(dst []byte, millis int64) []byte {
	const year10000 = 253402300800000
	if e.Canonical || millis < 0 || millis >= year10000 {
		return append(strconv.AppendInt(append(dst, `{"$date":{"$numberLong":"`...), millis, 10), `"}}`...)
	}
	dst = time.UnixMilli(millis).UTC().AppendFormat(append(dst, `{"$date":"`...), "2006-01-02T15:04:05.999Z07:00")
	return append(dst, `"}`...)
}

// appendBinary appends subtype and bytes. The old subtype 2 has a length of its
// own before them, which is no part of the value.
func appendBinary(dst, v []byte) ([]byte, error) {
	subtype, data := v[4], v[5:]
	if subtype == bson.TypeBinaryBinaryOld {
		if len(data) < 4 || int(binary.LittleEndian.Uint32(data)) != len(data)-4 {
			return dst, broken
		}
		data = data[4:]
	}
	dst = base64.StdEncoding.AppendEncode(append(dst, `{"$binary":{"base64":"`...), data)
	return append(hex.AppendEncode(append(dst, `","subType":"`...), []byte{subtype}), `"}}`...), nil
}

// appendRegex appends pattern and options, the latter in alphabetical order.
func appendRegex(dst, v []byte) ([]byte, error) {
	at := bytes.IndexByte(v, 0)
	pattern, options := v[:at], slices.Clone(v[at+1:len(v)-1])
	slices.Sort(options)
	dst, err := wrapText(dst, `{"$regularExpression":{"pattern":`, pattern)
	if err != nil {
		return dst, err
	}
	dst, err = wrapText(dst[:len(dst)-1], `,"options":`, options)
	return append(dst, '}'), err
}

// wrapText appends a text between what opens a wrapper and its brace.
func wrapText(dst []byte, opening string, text []byte) ([]byte, error) {
	dst, err := appendText(append(dst, opening...), text)
	return append(dst, '}'), err
}

const hexDigits = "0123456789abcdef"

// appendText appends a JSON string. The two separators of lines that JavaScript
// does not take in a string are written as escapes.
func appendText(dst, s []byte) ([]byte, error) {
	if !utf8.Valid(s) {
		return append(dst, `""`...), notUTF8
	}
	dst = append(dst, '"')
	from := 0
	for i, c := range s {
		short := byte(0)
		switch {
		case c == '"', c == '\\':
			short = c
		case c == 0xE2 && s[i+1] == 0x80 && s[i+2]&^1 == 0xA8:
			dst = append(append(append(dst, s[from:i]...), `\u202`...), hexDigits[s[i+2]&0xF])
			from = i + 3
			continue
		case c >= ' ':
			continue
		case c == '\n':
			short = 'n'
		case c == '\r':
			short = 'r'
		case c == '\t':
			short = 't'
		case c == '\b':
			short = 'b'
		case c == '\f':
			short = 'f'
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if short != 0 {
			dst = append(dst, '\\', short)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
	}
	return append(append(dst, s[from:]...), '"'), nil
}
