package exportconfig

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

var (
	wholeNumber   = regexp.MustCompile(`^[+-]?[0-9]{1,19}$`)
	decimalNumber = regexp.MustCompile(`^[0-9]{1,15}(\.[0-9]{1,15})?$`)
	oneVariable   = regexp.MustCompile(`^\s*\$\{[^{}]*\}\s*$`)
)

// scalar reads one word, number or text into v. Messages show a number or a
// word as it is written, so that the values of variables stay hidden, and text
// not at all: what is text may be a secret.
func (r *reader) scalar(node *yaml.Node, v *value, k key, name string, s scope) {
	v.raw = node.Value
	if node.Kind != yaml.ScalarNode {
		r.fail(s, v.line, "%s must be %s", name, want(k))
		return
	}
	if !r.expandText(node.Value, v, k, name, s) {
		return
	}
	// A plain ${VAR} has no type of its own; anything else has the type that
	// it is written as, so that 0123 or yes never becomes text by accident.
	tag := node.ShortTag()
	if node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0 && v.text != node.Value {
		tag = ""
	}
	r.typed(tag, v, k, name, s)
}

// expandText puts raw into v with its variables resolved.
func (r *reader) expandText(raw string, v *value, k key, name string, s scope) bool {
	expanded, errs := r.vars.expand(raw, allowedIn(k, raw))
	for _, err := range errs {
		r.add(v.line, CodeVariable, s.exports, "%s%s: %v", s.label, name, err)
	}
	if len(errs) > 0 {
		return false
	}
	if strings.ContainsRune(expanded, 0) || !utf8.ValidString(expanded) {
		r.fail(s, v.line, "%s has a NUL character or is not UTF-8", name)
		return false
	}
	v.text = expanded
	return true
}

// typed checks the type of a scalar. tag is what YAML says it is, "" for
// whatever is wanted.
func (r *reader) typed(tag string, v *value, k key, name string, s scope) {
	isText := tag == "" || tag == "!!str" || tag == "!!timestamp"
	ok := true
	switch k.kind {
	case integer:
		var err error
		v.number, err = strconv.ParseInt(v.text, 10, 64)
		ok = (tag == "" || tag == "!!int") && wholeNumber.MatchString(v.text) && err == nil && v.number >= k.min && v.number <= k.most()
	case number:
		ok = (tag == "" || tag == "!!int" || tag == "!!float") && decimalNumber.MatchString(v.text)
	case boolean, boolOrList:
		ok = (tag == "" || tag == "!!bool") && (strings.EqualFold(v.text, "true") || strings.EqualFold(v.text, "false"))
		v.text = strings.ToLower(v.text)
		v.yes = v.text == "true"
	case enum:
		r.word(nil, v, k, name, s)
		return
	case size:
		ok = isText || tag == "!!int"
	default:
		if !isText {
			r.fail(s, v.line, "%s must be text: put it in quotes", name)
			return
		}
		if v.text == "" && !k.mayBeEmpty {
			r.fail(s, v.line, "%s must not be empty", name)
			return
		}
	}
	if !ok {
		r.fail(s, v.line, "%s must be %s, not %s", name, want(k), quote(v.raw))
	}
}

// word checks a value against the words of k. node, if it is not nil, has not
// been read yet.
func (r *reader) word(node *yaml.Node, v *value, k key, name string, s scope) {
	if node != nil {
		v.text = node.Value
	}
	if slices.Contains(k.values, v.text) {
		return
	}
	also := ""
	if near := nearest(v.raw, k.values); near != "" {
		also = "; did you mean " + near + "?"
	}
	r.fail(s, v.line, "%s must be %s, not %s%s", name, joinWords(k.values, "", "or"), quote(v.raw), also)
}

// most returns the largest value of an integer.
func (k key) most() int64 {
	if k.max != 0 {
		return k.max
	}
	return math.MaxInt32
}

func want(k key) string {
	switch k.kind {
	case integer:
		return "a whole number from " + strconv.FormatInt(k.min, 10) + " to " + strconv.FormatInt(k.most(), 10)
	case number:
		return "a number"
	case boolean:
		return "true or false"
	case boolOrList:
		return "true, false or a list"
	case enum:
		return joinWords(k.values, "", "or")
	case size:
		return "a size such as 128MB"
	}
	return "text"
}

// allowedIn returns what k demands of the values of variables. A query may be
// a variable as a whole: then its author has left it all to the variable.
func allowedIn(k key, raw string) func(string) error {
	if k.name == "query" && !oneVariable.MatchString(raw) {
		return inQuery
	}
	return nil
}

// quote shows a word of the file on one line of bounded length.
func quote(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		s = string(r[:limit]) + "…"
	}
	return strconv.Quote(s)
}

// showKey is the name of an unknown key, unless it does not look like one: a
// missing space turns a whole line, secrets included, into a key.
func showKey(name string) string {
	if len(name) > 64 || name == "" {
		return "(not a name)"
	}
	for _, c := range name {
		if c != '_' && c != '-' && c != '.' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return "(not a name)"
		}
	}
	return name
}

// plain takes the marks of the documentation out of a reason.
func plain(why string) string { return strings.ReplaceAll(why, "`", "") }
