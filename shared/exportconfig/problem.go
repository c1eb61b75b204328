package exportconfig

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// Codes of the problems of a config.
const (
	CodeYAML        fault.Code = "LAPSTRAKE_CONFIG_YAML"        // not one YAML document of the expected shape
	CodeUnknownKey  fault.Code = "LAPSTRAKE_CONFIG_UNKNOWN_KEY" // a key that nobody reads
	CodeInvalid     fault.Code = "LAPSTRAKE_CONFIG_INVALID"     // a value, or a combination of values, that cannot be
	CodeUnsupported fault.Code = "LAPSTRAKE_CONFIG_UNSUPPORTED" // right for the upstream, not done by this version
	CodeVariable    fault.Code = "LAPSTRAKE_CONFIG_VARIABLE"    // a ${VAR} without a value
	CodePrefix      fault.Code = "LAPSTRAKE_CONFIG_PREFIX"      // exports that would share a destination (MAN-13)
)

// maxProblems bounds what Error prints: a file with more is reported by its
// first ones and a count.
const maxProblems = 20

// Problem is one thing that is wrong with a config.
type Problem struct {
	File string
	// Line is 0 for a problem of the file as a whole.
	Line int
	// Exports are the exports that cannot be run because of it; none means that
	// no export can.
	Exports []string
	Code    fault.Code
	// Message never holds the value of a secret, of a variable or of a
	// parameter.
	Message string
}

// String is the problem as compilers print theirs: rivet.yaml:12: message.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Error is all that is wrong with a config, by line. Its class is
// [fault.Usage]; its code is that of its problems if they agree, and
// CodeInvalid otherwise.
type Error struct {
	Problems []Problem
}

func (e *Error) Error() string {
	var lines []string
	for i, p := range e.Problems {
		if i == maxProblems {
			lines = append(lines, fmt.Sprintf("%s: and %d more problems", p.File, len(e.Problems)-i))
			break
		}
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the error its class and code.
func (e *Error) Unwrap() error {
	code := e.Problems[0].Code
	for _, p := range e.Problems {
		if p.Code != code {
			code = CodeInvalid
		}
	}
	return fault.New(fault.Usage, code, "%s", e.Error())
}

// Concerning returns what of err stands in the way of running just these
// exports: the problems of the file and theirs. It is nil when nothing does,
// so a file with one export that this version refuses still serves for the
// others. An error that is not an [*Error] is returned as it is.
func Concerning(err error, exports ...string) error {
	var all *Error
	if !errors.As(err, &all) {
		return err
	}
	var kept []Problem
	for _, p := range all.Problems {
		if len(p.Exports) == 0 || slices.ContainsFunc(p.Exports, func(name string) bool { return slices.Contains(exports, name) }) {
			kept = append(kept, p)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return &Error{Problems: kept}
}

// problems collects what is wrong while the file is read.
type problems struct {
	file string
	list []Problem
}

func (p *problems) add(line int, code fault.Code, exports []string, format string, args ...any) {
	p.list = append(p.list, Problem{File: p.file, Line: line, Exports: exports, Code: code, Message: fmt.Sprintf(format, args...)})
}

// err returns the collected problems, each once, by line and then by text, so
// that one file always gives one message.
func (p *problems) err() error {
	if len(p.list) == 0 {
		return nil
	}
	list := slices.Clone(p.list)
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Message, b.Message))
	})
	list = slices.CompactFunc(list, func(a, b Problem) bool { return a.Line == b.Line && a.Message == b.Message })
	return &Error{Problems: list}
}

// concerns reports whether a problem stands in the way of the export.
func (p *problems) concerns(export string) bool {
	return slices.ContainsFunc(p.list, func(q Problem) bool { return slices.Contains(q.Exports, export) })
}
