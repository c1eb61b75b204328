package exportconfig

import (
	"cmp"
	"slices"
)

// scope says what a problem belongs to.
type scope struct {
	label   string   // starts the message, such as `export "orders": `
	exports []string // the exports that the problem stops; none for all
	// mode is the mode of the export: a key that only this mode reads is not
	// refused again when the mode itself is.
	mode  string
	quiet bool // inside a block that has been refused as a whole
}

// mapping is a block as it was read: the values of its known keys.
type mapping struct {
	scope  scope
	line   int
	shown  string // starts the name of its keys in messages, such as "destination."
	values map[string]*value
}

// value is what a key holds, with its variables resolved. Only the field of
// the key's kind is set.
type value struct {
	line   int
	place  int    // counts the keys of the block
	bad    bool   // a problem has been reported: there is a value, but none to use
	raw    string // a scalar as it is written
	text   string
	number int64
	yes    bool
	list   []item
	dict   map[string]item
	block  *mapping
	blocks []*mapping
}

// item is a text of a list or of a map.
type item struct {
	line      int
	raw, text string
}

// has reports whether the block holds the key, usable or not.
func (m *mapping) has(name string) bool { return m != nil && m.values[name] != nil }

// get returns the value of a key, or nil if it is absent or not usable. It
// works on a nil mapping, so that an absent block reads as an empty one.
func (m *mapping) get(name string) *value {
	if m == nil || m.values[name] == nil || m.values[name].bad {
		return nil
	}
	return m.values[name]
}

func (m *mapping) text(name string) string {
	if v := m.get(name); v != nil {
		return v.text
	}
	return ""
}

func (m *mapping) or(name, otherwise string) string {
	if v := m.get(name); v != nil {
		return v.text
	}
	return otherwise
}

func (m *mapping) number(name string) int64 {
	if v := m.get(name); v != nil {
		return v.number
	}
	return 0
}

func (m *mapping) yes(name string) bool {
	v := m.get(name)
	return v != nil && v.yes
}

func (m *mapping) block(name string) *mapping {
	if v := m.get(name); v != nil {
		return v.block
	}
	return nil
}

// lineOf returns the line of a key, or that of its block.
func (m *mapping) lineOf(name string) int {
	switch {
	case m == nil:
		return 0
	case m.values[name] != nil:
		return m.values[name].line
	}
	return m.line
}

// given returns those of the names that the block holds, in the order of the
// file.
func (m *mapping) given(names ...string) []string {
	found := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !m.has(name) })
	slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(m.values[a].place, m.values[b].place) })
	return found
}
