// Command suite runs one `go test` and says what became of it.
//
//	suite -log FILE -tests FILE [-skips-allowed] ARG...
//
// ARG... is what follows `go test -json`. The whole output goes to -log; what
// failed is printed. -tests gets one line a test, "pass|skip|fail package test
// reason", by which the runner finds tests that no suite ran.
//
// Exit codes: 0 passed, 1 failed, 3 no test ran, 4 tests were skipped because
// a server is missing, with the reason on the last line of the output.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

const (
	exitPassed  = 0
	exitFailed  = 1
	exitNoTest  = 3
	exitSkipped = 4
)

// What is shown of one failed test. A test that draws its inputs prints them all.
const (
	firstLines = 60
	lastLines  = 100
)

// missingServer is how testenv.Server says that it skips.
const missingServer = "is not set: run `make test`"

// event is one line of `go test -json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build-output event
	Test       string
	Output     string
}

type result struct {
	pkg, test, action string
	output            []string
}

// report collects the events of one run.
type report struct {
	results map[string]*result // by package and test; a package's own has no test
	order   []string
	build   []string // what the compiler said
	stray   []string // lines that are no event
}

func main() {
	logPath := flag.String("log", os.DevNull, "`file` for the whole output")
	testsPath := flag.String("tests", os.DevNull, "`file` for one line a test")
	skipsAllowed := flag.Bool("skips-allowed", false, "a test that lacks its server does not spoil the suite")
	flag.Parse()

	code, err := run(*logPath, *testsPath, *skipsAllowed, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(exitFailed)
	}
	os.Exit(code)
}

func run(logPath, testsPath string, skipsAllowed bool, args []string) (int, error) {
	log, err := os.Create(logPath)
	if err != nil {
		return 0, err
	}
	defer log.Close()

	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	r, readErr := read(stdout, log)
	waitErr := cmd.Wait()
	if readErr != nil {
		return 0, fmt.Errorf("read the events: %w", readErr)
	}
	var exit *exec.ExitError
	if waitErr != nil && !errors.As(waitErr, &exit) {
		return 0, waitErr
	}
	if err := r.writeTests(testsPath); err != nil {
		return 0, err
	}
	if waitErr != nil {
		r.printFailures(os.Stdout)
		if text, err := os.ReadFile(logPath); err == nil && r.failures() == 0 {
			os.Stdout.Write(text) // go itself failed, before any package
		}
		return exitFailed, nil
	}
	return r.verdict(os.Stdout, skipsAllowed), nil
}

// read takes in the events and writes their text to log.
func read(events io.Reader, log io.Writer) (*report, error) {
	r := &report{results: map[string]*result{}}
	in := bufio.NewReader(events)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			r.add(line, log)
		}
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (r *report) add(line []byte, log io.Writer) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		r.stray = append(r.stray, string(line))
		log.Write(line)
		return
	}
	io.WriteString(log, e.Output)
	if e.Action == "build-output" {
		r.build = append(r.build, e.Output)
		return
	}
	if e.Package == "" {
		return
	}
	key := e.Package + " " + e.Test
	got := r.results[key]
	if got == nil {
		got = &result{pkg: e.Package, test: e.Test}
		r.results[key] = got
		r.order = append(r.order, key)
	}
	switch e.Action {
	case "output":
		got.output = append(got.output, e.Output)
	case "pass", "skip", "fail":
		got.action = e.Action
	}
}

// verdict judges a run that go test called a success.
func (r *report) verdict(w io.Writer, skipsAllowed bool) int {
	ran := 0
	var reasons []string
	for _, key := range r.order {
		got := r.results[key]
		switch {
		case got.test == "":
		case got.action == "pass":
			ran++
		case got.action == "skip":
			if reason := got.reason(); strings.Contains(reason, missingServer) && !skipsAllowed {
				name, _, _ := strings.Cut(reason, " ")
				if !slices.Contains(reasons, name) {
					reasons = append(reasons, name)
				}
			}
		}
	}
	switch {
	case len(reasons) > 0:
		fmt.Fprintf(w, "tests without their server: %s not set\n", strings.Join(reasons, ", "))
		return exitSkipped
	case ran == 0:
		fmt.Fprintln(w, "no test ran")
		return exitNoTest
	}
	return exitPassed
}

// failed tells whether got is to be shown: a test or a package that failed or
// never ended (its process died).
func (got *result) failed() bool { return got.action == "fail" || got.action == "" }

func (r *report) failures() int {
	n := 0
	for _, got := range r.results {
		if got.failed() {
			n++
		}
	}
	return n
}

func (r *report) printFailures(w io.Writer) {
	for _, line := range r.build {
		io.WriteString(w, line)
	}
	for _, line := range r.stray {
		io.WriteString(w, line)
	}
	for _, key := range r.order {
		got := r.results[key]
		if !got.failed() {
			continue
		}
		fmt.Fprintf(w, "--- %s %s\n", got.pkg, got.test)
		lines := slices.DeleteFunc(slices.Clone(got.output), func(line string) bool {
			return strings.HasPrefix(line, "=== ")
		})
		if left := len(lines) - firstLines - lastLines; left > 0 {
			cut := fmt.Sprintf("    ... %d lines left out; LAPSTRAKE_KEEP_LOGS=FOLDER keeps them all ...\n", left)
			lines = slices.Replace(lines, firstLines, firstLines+left, cut)
		}
		for _, line := range lines {
			io.WriteString(w, line)
		}
	}
}

// reason is the message of t.Skip: the line before "--- SKIP", without its place.
func (got *result) reason() string {
	for _, line := range slices.Backward(got.output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "===") {
			continue
		}
		if _, text, ok := strings.Cut(line, ": "); ok && strings.Contains(line, ".go:") {
			return text
		}
		return line
	}
	return ""
}

func (r *report) writeTests(path string) error {
	var b strings.Builder
	for _, key := range r.order {
		got := r.results[key]
		if got.test == "" || got.action == "" {
			continue
		}
		reason := ""
		if got.action == "skip" {
			reason = got.reason()
		}
		fmt.Fprintf(&b, "%s %s %s %s\n", got.action, got.pkg, got.test, reason)
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
