package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// decodeExact decodes body into v, which points to a struct, as every other
// reader of the contract would: field names match exactly, a field stands once,
// and text is UTF-8. Without that, "Parts" would replace "parts" for us and be
// ignored by the upstream. Fields without a name in v are ignored.
func decodeExact(body []byte, v any) error {
	if !utf8.Valid(body) {
		return errors.New("not UTF-8")
	}
	if err := json.Unmarshal(body, v); err != nil {
		return err
	}
	w := walker{rest: body}
	return w.value(reflect.TypeOf(v))
}

// walker goes through valid JSON and checks the names of the fields that the
// type of each value knows.
type walker struct{ rest []byte }

func (w *walker) value(t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch w.next() {
	case '{':
		return w.object(fieldsOf(t))
	case '[':
		if t != nil && t.Kind() == reflect.Slice {
			return w.array(t.Elem())
		}
		return w.array(nil)
	case '"':
		w.text()
	default:
		w.rest = w.rest[max(1, bytes.IndexAny(w.rest, ",]} \t\r\n")):]
	}
	return nil
}

func (w *walker) array(element reflect.Type) error {
	w.rest = w.rest[1:]
	for w.next() != ']' {
		if err := w.value(element); err != nil {
			return err
		}
		if w.next() == ',' {
			w.rest = w.rest[1:]
		}
	}
	w.rest = w.rest[1:]
	return nil
}

func (w *walker) object(known []namedField) error {
	seen := make([]bool, len(known))
	w.rest = w.rest[1:]
	for w.next() != '}' {
		name := w.text()
		var field reflect.Type
		for i, k := range known {
			switch {
			case k.name == name && seen[i]:
				return fmt.Errorf("field %q stands twice in one object", name)
			case k.name == name:
				seen[i], field = true, k.field
			case strings.EqualFold(k.name, name):
				return fmt.Errorf("field %q differs from %q by case only", preview(name), k.name)
			}
		}
		w.next()
		w.rest = w.rest[1:] // the colon
		if err := w.value(field); err != nil {
			return err
		}
		if w.next() == ',' {
			w.rest = w.rest[1:]
			w.next()
		}
	}
	w.rest = w.rest[1:]
	return nil
}

// next skips white space and returns the byte after it.
func (w *walker) next() byte {
	for {
		switch w.rest[0] {
		case ' ', '\t', '\r', '\n':
			w.rest = w.rest[1:]
		default:
			return w.rest[0]
		}
	}
}

// text skips a string and returns what it says.
func (w *walker) text() string {
	end := 1
	escaped := false
	for w.rest[end] != '"' {
		if w.rest[end] == '\\' {
			escaped = true
			end++
		}
		end++
	}
	raw := w.rest[:end+1]
	w.rest = w.rest[end+1:]
	if !escaped {
		return string(raw[1:end])
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return s
}

type namedField struct {
	name  string
	field reflect.Type
}

var fieldCache sync.Map // of reflect.Type to []namedField

// fieldsOf returns the JSON fields of a struct; none for other types.
func fieldsOf(t reflect.Type) []namedField {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	if known, ok := fieldCache.Load(t); ok {
		return known.([]namedField)
	}
	fields := make([]namedField, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			fields = append(fields, namedField{name, f.Type})
		}
	}
	fieldCache.Store(t, fields)
	return fields
}
