// Package policy reads the policy documents of a module and says by them what
// a role may do. Layer: main (used by tests only).
//
// It knows the operators and the forms that the module's documents use and
// refuses every other one, so that it never says yes to what it does not
// understand.
package policy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Document is a policy document.
type Document struct {
	Version   string
	Statement []Statement
}

// Statement is one statement of a document.
type Statement struct {
	Sid, Effect string
	Principal   any
	Action      Texts
	Resource    Texts
	NotResource Texts
	Condition   map[string]map[string]Texts // operator, key, values
}

// Texts is one text or a list of them.
type Texts []string

// UnmarshalJSON takes both forms.
func (l *Texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*l = Texts{one}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(l))
}

const suffix = ".json.tftpl"

var (
	listValue = regexp.MustCompile(`: \$\{(\w+)\}`)
	textValue = regexp.MustCompile(`\$\{(\w+)\}`)
)

// Read reads the templates of a folder, by name. A value stands for its name as
// text, or as JSON text where the template wants a list. What values does not
// have appears by its name: <table_arn>.
func Read(folder string, values map[string]string) (map[string]Document, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*"+suffix))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no policies in %s: %w", folder, err)
	}
	all := make(map[string]Document)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(file), suffix)
		if all[name], err = parse(string(text), values); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}

func parse(template string, values map[string]string) (Document, error) {
	text := listValue.ReplaceAllStringFunc(template, func(hole string) string {
		name := listValue.FindStringSubmatch(hole)[1]
		if v, ok := values[name]; ok {
			return ": " + v
		}
		return `: ["<` + name + `>"]`
	})
	text = textValue.ReplaceAllStringFunc(text, func(hole string) string {
		name := textValue.FindStringSubmatch(hole)[1]
		if v, ok := values[name]; ok {
			return v
		}
		return "<" + name + ">"
	})
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	var p Document
	err := d.Decode(&p)
	return p, err
}
