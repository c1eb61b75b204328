package exportconfig

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxVisits bounds the keys that one file may make the reader look at, so that
// aliases of aliases do not multiply; maxExports bounds the exports, each of
// which is compared with all others.
const (
	maxVisits  = 50_000
	maxExports = 2_000
)

// reader turns nodes into values of known keys. It checks shape, type and
// support; what values mean together is checked by who uses them.
type reader struct {
	problems
	vars   variables
	visits int

	sourceType string // by which queries are read; "" before the source is
}

func (r *reader) fail(s scope, line int, format string, args ...any) {
	r.add(line, CodeInvalid, s.exports, "%s"+format, append([]any{s.label}, args...)...)
}

// mapping reads node as the block at path. It returns nil, with a problem, if
// node is not a mapping.
func (r *reader) mapping(node *yaml.Node, path, shown string, s scope) *mapping {
	node = follow(node)
	if node.Kind != yaml.MappingNode {
		r.fail(s, node.Line, "%s must be a block of keys", blockName(path, shown))
		return nil
	}
	if path == "exports[]" {
		s = r.exportScope(node, s)
	}
	known := blockAt(path)
	m := &mapping{scope: s, line: node.Line, shown: shown, values: map[string]*value{}}
	first := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if r.visits++; r.visits > maxVisits {
			return m // which Parse reports
		}
		at, content := node.Content[i], node.Content[i+1]
		name := at.Value
		k, ok := known.find(name)
		switch {
		case at.Kind != yaml.ScalarNode:
			r.add(at.Line, CodeYAML, s.exports, "%sa key must be a word", s.label)
		case name == "<<":
			r.add(at.Line, CodeYAML, s.exports, "%smerge keys (<<) are not read: write the keys out", s.label)
		case first[name] != 0:
			r.add(at.Line, CodeYAML, s.exports, "%s%s stands here and in line %d", s.label, shown+showKey(name), first[name])
		case !ok:
			r.add(at.Line, CodeUnknownKey, s.exports, "%sunknown key %s%s", s.label, shown+showKey(name), hint(name, known))
		default:
			if v := r.value(at, content, k, known, m); v != nil {
				m.values[name] = v
			}
		}
		first[name] = at.Line
	}
	for _, k := range known.keys {
		if k.required && first[k.name] == 0 && !s.quiet {
			r.fail(s, node.Line, "%s is missing", shown+k.name)
		}
	}
	return m
}

// exportScope looks ahead for the name and mode of an export, so that all its
// problems name it.
func (r *reader) exportScope(node *yaml.Node, s scope) scope {
	for i := 0; i+1 < len(node.Content); i += 2 {
		v := follow(node.Content[i+1])
		if v.Kind != yaml.ScalarNode {
			continue
		}
		text, _ := r.vars.expand(v.Value, nil)
		switch node.Content[i].Value {
		case "name":
			s.exports = []string{text}
			s.label = "export " + quote(v.Value) + ": "
		case "mode":
			s.mode = text
		}
	}
	return s
}

// value reads what stands behind a key. It returns nil for an absent value.
func (r *reader) value(at, node *yaml.Node, k key, in keyBlock, m *mapping) *value {
	s, name := m.scope, m.shown+k.name
	node = follow(node)
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		if k.required {
			r.fail(s, at.Line, "%s is missing", name)
		}
		return nil
	}
	v := &value{line: at.Line, place: len(m.values), raw: node.Value}
	before := len(r.list)
	switch k.kind {
	case block, textOrBlock:
		if k.kind == textOrBlock && node.Kind == yaml.ScalarNode {
			r.word(node, v, k, name, s)
			break
		}
		inner := s
		inner.quiet = s.quiet || k.refused != ""
		v.block = r.mapping(node, in.below(k), name+".", inner)
	case blockList:
		r.blockList(node, v, k, in, name, s)
	case textList, textOrList, boolOrList:
		if node.Kind != yaml.SequenceNode && k.kind != textList {
			r.scalar(node, v, k, name, s)
			break
		}
		r.textList(node, v, name, s)
	case textMap, numberMap:
		r.textMap(node, v, k, name, s)
	case anything:
	default:
		r.scalar(node, v, k, name, s)
	}
	r.support(v, k, name, s)
	v.bad = len(r.list) > before && k.kind != block && k.kind != blockList
	return v
}

// support refuses what this version does not do.
func (r *reader) support(v *value, k key, name string, s scope) {
	if s.quiet {
		return
	}
	if why, ok := k.not[v.text]; ok && k.kind == enum {
		r.add(v.line, CodeUnsupported, s.exports, "%s%s: %s is not supported by this version: %s", s.label, name, v.text, plain(why))
	}
	if k.refused == "" || slices.Contains(k.unless, v.text) || slices.Contains(k.modes, s.mode) {
		return
	}
	r.add(v.line, CodeUnsupported, s.exports, "%s%s is not supported by this version: %s", s.label, name, plain(k.refused))
}

func (r *reader) blockList(node *yaml.Node, v *value, k key, in keyBlock, name string, s scope) {
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 || len(node.Content) > maxExports {
		r.fail(s, v.line, "%s must be a list of 1 to %d blocks", name, maxExports)
		return
	}
	for i, n := range node.Content {
		s.label = fmt.Sprintf("%s[%d]: ", name, i)
		if m := r.mapping(n, in.below(k), "", s); m != nil {
			v.blocks = append(v.blocks, m)
		}
	}
}

func (r *reader) textList(node *yaml.Node, v *value, name string, s scope) {
	if node.Kind != yaml.SequenceNode {
		r.fail(s, v.line, "%s must be a list", name)
		return
	}
	for _, n := range node.Content {
		r.visits++
		one := &value{line: n.Line}
		r.scalar(follow(n), one, key{kind: text}, name+"[]", s)
		v.list = append(v.list, item{line: one.line, raw: one.raw, text: one.text})
	}
}

func (r *reader) textMap(node *yaml.Node, v *value, k key, name string, s scope) {
	if node.Kind != yaml.MappingNode {
		r.fail(s, v.line, "%s must be a block of names", name)
		return
	}
	v.dict = map[string]item{}
	inner := key{kind: text}
	if k.kind == numberMap {
		inner.kind = number
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		r.visits++
		at := node.Content[i]
		one := &value{line: at.Line}
		if at.Kind != yaml.ScalarNode || at.Value == "" {
			r.fail(s, at.Line, "%s: a name must be a word", name)
			continue
		}
		if first, twice := v.dict[at.Value]; twice {
			r.fail(s, at.Line, "%s: %s stands here and in line %d", name, quote(at.Value), first.line)
			continue
		}
		r.scalar(follow(node.Content[i+1]), one, inner, name+"."+at.Value, s)
		v.dict[at.Value] = item{line: at.Line, raw: one.raw, text: one.text}
	}
}

// follow returns the node that an alias stands for.
func follow(node *yaml.Node) *yaml.Node {
	for node.Kind == yaml.AliasNode && node.Alias != nil {
		node = node.Alias
	}
	return node
}

func blockName(path, shown string) string {
	switch {
	case shown != "":
		return strings.TrimSuffix(shown, ".")
	case path == "":
		return "the file"
	}
	return "an item of " + strings.TrimSuffix(path, "[]")
}
