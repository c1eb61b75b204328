package sqlserver

import (
	"database/sql/driver"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// row is one row of an answer.
type row []driver.Value

// text is a value that came as text or as a number.
func (r row) text(i int) string {
	switch v := r[i].(type) {
	case nil:
		return ""
	case []byte:
		return string(v)
	}
	return fmt.Sprint(r[i])
}

func (r row) null(i int) bool { return r[i] == nil }

func (r row) int(i int) int64 {
	n, _ := r[i].(int64)
	return n
}

// unicode is a value that came as the bytes of UTF-16, see [sentUnicode].
func (r row) unicode(i int) (string, error) {
	b, ok := r[i].([]byte)
	if !ok {
		return "", errLayout
	}
	text, err := appendUTF8(nil, b)
	return string(text), err
}

// sentUnicode makes the server send an nvarchar as its bytes: the client library
// would replace half of a surrogate pair without a word.
func sentUnicode(expression string) string { return "convert(varbinary(max), " + expression + ")" }

// appendUTF8 turns the bytes of UTF-16, low byte first, into UTF-8. A half of a
// surrogate pair is an error.
func appendUTF8(dst, b []byte) ([]byte, error) {
	if len(b)%2 != 0 {
		return dst, errLayout
	}
	for i := 0; i < len(b); i += 2 {
		r := rune(b[i]) | rune(b[i+1])<<8
		if r < utf8.RuneSelf {
			dst = append(dst, byte(r))
			continue
		}
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if i += 2; i < len(b) {
				low = rune(b[i]) | rune(b[i+1])<<8
			}
			if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
				return dst, errSurrogate
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst, nil
}
