package exportconfig

import "strings"

// Support says what this version does with a key.
type Support string

const (
	// Supported keys do what their meaning says.
	Supported Support = "supported"
	// Accepted keys have no effect here, and cannot change which rows or which
	// values are written.
	Accepted Support = "accepted"
	// Refused keys are an error by name: this version does not do what they
	// ask for.
	Refused Support = "refused"
)

// Key is one key of rivet.yaml.
type Key struct {
	// Block is the path of the mapping that the key stands in: "" for the root,
	// "source.tls", "exports[].destination".
	Block, Name string
	// Type is its type in words, with the words of an enumeration.
	Type    string
	Default string
	Meaning string
	Support Support
	// Why is the reason of Accepted and Refused, or what is refused of a
	// supported key.
	Why string
}

// Keys lists every key that is known, in the order of the documentation.
func Keys() []Key {
	var all []Key
	for _, b := range blocks {
		for _, k := range b.keys {
			all = append(all, Key{Block: b.path, Name: k.name, Type: k.typeName(), Default: k.def, Meaning: k.doc, Support: k.support(), Why: k.reason()})
		}
	}
	return all
}

// kind is the shape of a key's value.
type kind int

const (
	text        kind = iota
	integer          // from min to max
	number           // not negative
	boolean          //
	enum             // one of values
	size             // text, or an integer of bytes
	textList         //
	textMap          //
	numberMap        //
	boolOrList       //
	textOrList       //
	textOrBlock      // as block, or the one word in values
	block            // the mapping of the same name
	blockList        //
	anything         // not looked into: only in refused blocks
)

var kindNames = map[kind]string{
	text: "text", integer: "integer", number: "number", boolean: "true or false", size: "size", textList: "list of text",
	textMap: "map of text", numberMap: "map of numbers", boolOrList: "true, false or list of text", textOrList: "text or list of text",
	textOrBlock: "text or block", block: "block", blockList: "list of blocks", anything: "block",
}

// key describes one key. The zero value of what follows name is a supported
// text without a default.
type key struct {
	name     string
	kind     kind
	values   []string // of an enum
	min, max int64    // of an integer; max 0 is the largest int32
	// mayBeEmpty allows the empty text.
	mayBeEmpty bool
	required   bool
	def        string // the default, in words
	doc        string
	accepted   string // why the key is Accepted; "" if it is not
	tell       bool   // of an accepted key: warn that it has no effect
	refused    string // why the key is Refused; "" if it is not
	// unless lists values, as text, with which a refused key asks for nothing.
	unless []string
	// not gives, for values of an enum, why they are refused.
	not map[string]string
	// modes are the modes that alone read a refused key: it is not reported
	// again when the mode itself is refused.
	modes []string
}

func (k key) support() Support {
	switch {
	case k.refused != "":
		return Refused
	case k.accepted != "":
		return Accepted
	}
	return Supported
}

func (k key) typeName() string {
	if k.kind == enum {
		return joinWords(k.values, "`", "or")
	}
	return kindNames[k.kind]
}

func (k key) reason() string {
	switch {
	case k.refused != "" && len(k.unless) > 0:
		return k.refused + "; " + joinWords(k.unless, "`", "and") + " passes"
	case k.refused != "":
		return k.refused
	case k.accepted != "":
		return k.accepted
	case len(k.not) > 0:
		return k.refusedValues()
	}
	return ""
}

// refusedValues says which values are refused, each reason once.
func (k key) refusedValues() string {
	var reasons []string
	of := map[string][]string{}
	for _, v := range k.values {
		why, ok := k.not[v]
		if ok && of[why] == nil {
			reasons = append(reasons, why)
		}
		if ok {
			of[why] = append(of[why], v)
		}
	}
	for i, why := range reasons {
		verb := "is"
		if len(of[why]) > 1 {
			verb = "are"
		}
		reasons[i] = joinWords(of[why], "`", "and") + " " + verb + " refused: " + why
	}
	return strings.Join(reasons, "; ")
}

// joinWords lists words in quotes, with a conjunction before the last one.
func joinWords(words []string, quote, conjunction string) string {
	s := ""
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			s += " " + conjunction + " "
		case i > 0:
			s += ", "
		}
		s += quote + w + quote
	}
	return s
}

// keyBlock is a mapping with its keys.
type keyBlock struct {
	path string
	keys []key
}

// find returns the key called name.
func (b keyBlock) find(name string) (key, bool) {
	for _, k := range b.keys {
		if k.name == name {
			return k, true
		}
	}
	return key{}, false
}

// blockAt returns the block at path. Every path in the table has one.
func blockAt(path string) keyBlock {
	for _, b := range blocks {
		if b.path == path {
			return b
		}
	}
	return keyBlock{path: path}
}

// below returns the path of the block that k holds inside b.
func (b keyBlock) below(k key) string {
	path := k.name
	if b.path != "" {
		path = b.path + "." + k.name
	}
	if k.kind == blockList {
		path += "[]"
	}
	return path
}
