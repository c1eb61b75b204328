package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
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
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return walkKeys(d, reflect.TypeOf(v))
}

// walkKeys reads the next value of d, which holds valid JSON, and checks the
// names of the fields that t knows.
func walkKeys(d *json.Decoder, t reflect.Type) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	tok, err := d.Token()
	if err != nil {
		return err
	}
	switch {
	case tok == json.Delim('[') && t != nil && t.Kind() == reflect.Slice:
		for d.More() {
			if err := walkKeys(d, t.Elem()); err != nil {
				return err
			}
		}
	case tok == json.Delim('['):
		for d.More() {
			if err := walkKeys(d, nil); err != nil {
				return err
			}
		}
	case tok == json.Delim('{'):
		if err := walkFields(d, t); err != nil {
			return err
		}
	default:
		return nil
	}
	_, err = d.Token()
	return err
}

func walkFields(d *json.Decoder, t reflect.Type) error {
	known := fieldsOf(t)
	seen := make([]bool, len(known))
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := tok.(string)
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
		if err := walkKeys(d, field); err != nil {
			return err
		}
	}
	return nil
}

type namedField struct {
	name  string
	field reflect.Type
}

// fieldsOf returns the JSON fields of a struct; none for other types.
func fieldsOf(t reflect.Type) []namedField {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	fields := make([]namedField, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			fields = append(fields, namedField{name, f.Type})
		}
	}
	return fields
}
