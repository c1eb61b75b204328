package exportconfig

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Env is what a config may refer to besides itself.
type Env struct {
	// Dir is the absolute folder of the file, which relative paths refer to.
	// "" means that the file is not on a disk; then relative paths are refused.
	Dir string
	// Params are the parameters of the command line or trigger. They win over
	// environment variables.
	Params map[string]string
	// LookupEnv finds an environment variable; nil finds none.
	LookupEnv func(name string) (string, bool)
	// ReadFile reads a query_file by its cleaned path below Dir, with slashes;
	// nil refuses query_file.
	ReadFile func(name string) ([]byte, error)
	// MaxValueBytes is the default of tuning.max_value_mb; 0 means 256 MiB.
	MaxValueBytes int64
}

// variables resolves ${VAR}: first from the parameters, then from the
// environment. A value is inserted as it is and not scanned again.
type variables struct {
	env  Env
	used map[string]bool // the parameters that something referred to
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`)

// expand replaces every ${VAR} in s. allowed, if it is not nil, may refuse a
// value. Errors name the variable and never show a value.
func (v *variables) expand(s string, allowed func(value string) error) (string, []error) {
	if !strings.Contains(s, "${") {
		return s, nil
	}
	var out strings.Builder
	var errs []error
	for {
		before, rest, found := strings.Cut(s, "${")
		out.WriteString(before)
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			errs = append(errs, errors.New(`"${" is not closed by "}"`))
			break
		}
		s = after
		value, err := v.lookup(name)
		if err == nil && allowed != nil {
			if err = allowed(value); err != nil {
				err = fmt.Errorf("the value of ${%s} %w", name, err)
			}
		}
		if err != nil {
			errs = append(errs, err)
		}
		out.WriteString(value)
	}
	return out.String(), errs
}

// lookup never resolves to nothing by accident: a variable that is not set is
// an error, and so is one that the environment sets to the empty string, which
// is what a missing secret becomes in many runners (SEC-03). An empty
// parameter is meant.
func (v *variables) lookup(name string) (string, error) {
	if !variableName.MatchString(name) {
		return "", errors.New(`"${…}" must hold the name of a parameter or environment variable`)
	}
	value, ok := v.env.Params[name]
	if ok {
		v.used[name] = true
	} else {
		if v.env.LookupEnv != nil {
			value, ok = v.env.LookupEnv(name)
		}
		switch {
		case !ok:
			return "", fmt.Errorf("${%s} has no value: set the environment variable %s or pass --param %s=…", name, name, name)
		case value == "":
			return "", fmt.Errorf("${%s} is set but empty: give the environment variable %s a value, or pass --param %s= if it is meant to be empty", name, name, name)
		}
	}
	if strings.ContainsRune(value, 0) {
		return "", fmt.Errorf("the value of ${%s} has a NUL character", name)
	}
	return value, nil
}

// inQuery refuses values that could end the literal that they are inserted in,
// or the statement.
func inQuery(value string) error {
	if strings.ContainsAny(value, "'\"\\;$`#") || strings.Contains(value, "--") || strings.Contains(value, "/*") || strings.Contains(value, "*/") ||
		strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return errors.New("may not be inserted into a query: quotes, backslashes, dollar signs, semicolons, comments and control characters could change the statement")
	}
	return nil
}
