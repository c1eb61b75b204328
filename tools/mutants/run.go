package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// bench is the test binaries with every mutant's switch in them.
type bench struct {
	root, dir string
	patience  time.Duration // of one run of a binary
}

func (b bench) binary(pkg string) string {
	return filepath.Join(b.dir, strings.ReplaceAll(pkg, "/", "-")+".test")
}

// build makes the binaries of the packages.
func (b bench) build(ctx context.Context, overlay string, pkgs []string) error {
	for _, pkg := range pkgs {
		c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", b.binary(pkg), "./"+pkg)
		c.Dir = b.root
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("build the tests of %s: %w\n%s", pkg, err, out)
		}
	}
	return nil
}

// outcome is what became of one run of a test binary.
type outcome struct {
	passed bool
	// failed names the test that failed first, down to the subtest; "" if the
	// binary ended in another way.
	failed string
	says   string // the line that tells why
	output string
	took   time.Duration
}

// run runs the tests of c with a mutant switched on, "" for none.
func (b bench) run(ctx context.Context, c catcher, mutant string) (outcome, error) {
	args := append([]string{"-test.run=" + c.pattern(), "-test.failfast", "-test.timeout=" + b.patience.String()}, c.args...)
	begin := clockNow()
	command := exec.CommandContext(ctx, b.binary(c.pkg), args...)
	command.Dir = filepath.Join(b.root, c.pkg)
	command.Env = append(withoutServers(os.Environ()), switchVariable+"="+mutant)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	if ctx.Err() != nil {
		return outcome{}, ctx.Err() // it was killed, which is no verdict
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return outcome{}, err
	}
	o := judge(out.String(), c.says)
	o.passed, o.took = err == nil, clockNow().Sub(begin)
	if o.passed && strings.Contains(o.output, "no tests to run") {
		return o, fmt.Errorf("%s has no test called %s", c.pkg, c.test)
	}
	return o, nil
}

// withoutServers leaves out the addresses of test servers: what a mutant's test
// says must not depend on them.
func withoutServers(environment []string) []string {
	return slices.DeleteFunc(environment, func(v string) bool { return strings.HasPrefix(v, "LAPSTRAKE_") })
}

var (
	failLine    = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+) \(`)
	messageLine = regexp.MustCompile(`(?m)^\s+\w+\.go:\d+: (.*)$`)
	notAVerdict = regexp.MustCompile(`(?m)^panic: |^fatal error: |^signal: `)
	seedInName  = regexp.MustCompile(`seed[_ ](\d+)`)
	invariant   = regexp.MustCompile(`\bV([1-9]|1\d|20)\b`)
)

// judge reads the output of a test binary. A binary that panicked, or hung until
// its time was over, has not judged anything.
func judge(output, says string) outcome {
	o := outcome{output: output}
	if notAVerdict.MatchString(output) {
		return o
	}
	for _, m := range failLine.FindAllStringSubmatch(output, -1) {
		if o.failed == "" || strings.HasPrefix(m[1], o.failed+"/") {
			o.failed = m[1]
		}
	}
	for _, m := range messageLine.FindAllStringSubmatch(output, -1) {
		if o.says == "" || says != "" && !strings.Contains(o.says, says) {
			o.says = m[1]
		}
	}
	return o
}

// red reports whether the outcome is the one that the catcher promises.
func (c catcher) red(o outcome) bool {
	test := strings.ReplaceAll(c.test, " ", "_")
	return !o.passed && (o.failed == test || strings.HasPrefix(o.failed, test+"/")) && strings.Contains(o.output, c.says)
}

// how says which invariant or test noticed, and after how many seeds.
func (o outcome) how(args []string) string {
	first := 1
	for _, a := range args {
		_, _ = fmt.Sscanf(a, "-first-seed=%d", &first)
	}
	what := o.failed
	if v := invariant.FindString(o.says); v != "" {
		what = v + " in " + what
	}
	if m := seedInName.FindStringSubmatch(o.failed); m != nil {
		var seed int
		_, _ = fmt.Sscan(m[1], &seed)
		what += fmt.Sprintf(" after %d seeds", seed-first+1)
	}
	return what + ": " + cut(o.says, 100)
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}

// verdict is what the table of results says of a mutant that is not red.
func (o outcome) verdict() string {
	switch {
	case o.passed:
		return "ALIVE"
	case o.failed == "":
		return "BROKE"
	}
	return "OTHER"
}

var topFail = regexp.MustCompile(`(?m)^--- FAIL: (\S+ \(\S+\))`)

// reds runs a package's tests and returns a line for each that turns red.
func (b bench) reds(ctx context.Context, pkg, mutant string) (string, error) {
	c := exec.CommandContext(ctx, b.binary(pkg), "-test.timeout="+b.patience.String(), "-test.short", "-test.skip=TestRandom|ModelSays|TestCrashAtEveryDurable|TestLaws|TestCrashAtEveryCall$|EveryCallOfARe|TestCrashTax")
	c.Dir = filepath.Join(b.root, pkg)
	c.Env = append(withoutServers(os.Environ()), switchVariable+"="+mutant)
	out, err := c.CombinedOutput()
	if err == nil {
		return "", nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var lines strings.Builder
	for _, m := range topFail.FindAllStringSubmatchIndex(string(out), -1) {
		rest := string(out[m[1]:])
		says := ""
		if l := messageLine.FindStringSubmatch(rest); l != nil {
			says = cut(l[1], 110)
		}
		fmt.Fprintf(&lines, "       %s %s: %s\n", pkg, out[m[2]:m[3]], says)
	}
	if s := notAVerdict.FindIndex(out); s != nil {
		fmt.Fprintf(&lines, "       %s %s\n", pkg, cut(string(out[s[0]:]), 100))
	}
	return lines.String(), nil
}
