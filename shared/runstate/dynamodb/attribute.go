package dynamodb

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/lapstrake/lapstrake/shared/runstate/internal/transition"
)

type (
	value = types.AttributeValue
	item  = map[string]value
)

func text[S ~string](s S) value { return &types.AttributeValueMemberS{Value: string(s)} }

func number[N ~int | ~int64](n N) value {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(int64(n), 10)}
}

func members(m ...string) value { return &types.AttributeValueMemberSS{Value: m} }

// The functions below return nil, no attribute, for a zero value.

func optText[S ~string](s S) value {
	if s == "" {
		return nil
	}
	return text(s)
}

func optNumber[N ~int | ~int64](n N) value {
	if n == 0 {
		return nil
	}
	return number(n)
}

func optFlag(b bool) value {
	if !b {
		return nil
	}
	return &types.AttributeValueMemberBOOL{Value: true}
}

// optTime is the number of milliseconds since 1970.
func optTime(t time.Time) value {
	if t.IsZero() {
		return nil
	}
	return milliseconds(t)
}

func milliseconds(t time.Time) value { return number(transition.Milli(t).UnixMilli()) }

// document is JSON text, for what is always written whole and never compared.
func document(v any) value {
	b, _ := json.Marshal(v) // strings, numbers and lists of them always marshal
	return text(string(b))
}

func optDocument[T any](p *T) value {
	if p == nil {
		return nil
	}
	return document(p)
}

func optList[T any](list []T) value {
	if len(list) == 0 {
		return nil
	}
	return document(list)
}

// reader reads the attributes of an item. The first that is not what it should
// be is its error.
type reader struct {
	item item
	err  error
}

func (r *reader) wrong(name string, err error) {
	if r.err == nil {
		pk, _ := r.item["pk"].(*types.AttributeValueMemberS)
		r.err = fmt.Errorf("attribute %s of item %v: %w", name, pk, err)
	}
}

var errType = errors.New("not of the type that it should have")

func attribute[T value](r *reader, name string) (v T) {
	raw, there := r.item[name]
	if !there {
		return v
	}
	v, ok := raw.(T)
	if !ok {
		r.wrong(name, errType)
	}
	return v
}

func (r *reader) text(name string) string {
	if v := attribute[*types.AttributeValueMemberS](r, name); v != nil {
		return v.Value
	}
	return ""
}

func (r *reader) number(name string) int64 {
	v := attribute[*types.AttributeValueMemberN](r, name)
	if v == nil {
		return 0
	}
	n, err := strconv.ParseInt(v.Value, 10, 64)
	if err != nil {
		r.wrong(name, err)
	}
	return n
}

func (r *reader) flag(name string) bool {
	v := attribute[*types.AttributeValueMemberBOOL](r, name)
	return v != nil && v.Value
}

func (r *reader) time(name string) time.Time {
	if _, there := r.item[name]; !there {
		return time.Time{}
	}
	return time.UnixMilli(r.number(name)).UTC()
}

// members returns a set in ascending order.
func (r *reader) members(name string) []string {
	v := attribute[*types.AttributeValueMemberSS](r, name)
	if v == nil {
		return nil
	}
	return slices.Sorted(slices.Values(v.Value))
}

func (r *reader) document(name string, into any) {
	if s := r.text(name); s != "" {
		if err := json.Unmarshal([]byte(s), into); err != nil {
			r.wrong(name, err)
		}
	}
}
