package main

import (
	"strings"
	"testing"
)

const failing = `--- FAIL: TestRandom (0.12s)
    --- FAIL: TestRandom/seed_7 (0.10s)
        run_test.go:12: start run 1
        run_test.go:40: V8: the manifest went from generation 2 to 1
FAIL
`

func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		name, output string
		by           catcher
		red          bool
		how          string
	}{
		{"the test that is promised", failing, catcher{test: "TestRandom", says: "V8", args: []string{"-first-seed=5"}}, true, "V8 in TestRandom/seed_7 after 3 seeds: V8: the manifest"},
		{"a subtest that is promised", failing, catcher{test: "TestRandom/seed 7"}, true, "TestRandom/seed_7 after 7 seeds: start run 1"},
		{"another test", failing, catcher{test: "TestRand"}, false, ""},
		{"for another reason", failing, catcher{test: "TestRandom", says: "V9"}, false, ""},
		{"a panic", failing + "panic: nil map\n", catcher{test: "TestRandom"}, false, ""},
		{"the end of the time", "panic: test timed out after 1m0s\n", catcher{test: "TestRandom"}, false, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := judge(tc.output, tc.by.says)
			if got := tc.by.red(o); got != tc.red {
				t.Fatalf("red: %v, want %v (%+v)", got, tc.red, o)
			}
			if how := o.how(tc.by.args); tc.red && !strings.HasPrefix(how, tc.how) {
				t.Fatalf("%q, want %q…", how, tc.how)
			}
		})
	}
	if passed := (outcome{passed: true, failed: "TestRandom"}); (catcher{test: "TestRandom"}).red(passed) || passed.verdict() != "ALIVE" {
		t.Error("a mutant that passes is red")
	}
}

func TestPattern(t *testing.T) {
	c := catcher{test: "TestCrash/first run, landed (true)"}
	if got, want := c.pattern(), `^TestCrash$/^first_run,_landed_\(true\)$`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTallyNamesWhatWasNotTried(t *testing.T) {
	chosen := []mutant{{name: "a"}, {name: "b"}, {name: "c"}}
	for _, tc := range []struct {
		red   int
		tried map[string]bool
		want  string
	}{
		{3, map[string]bool{"a": true, "b": true, "c": true}, "3 of 3 red"},
		{1, map[string]bool{"b": true}, "1 of 3 red, 2 not tried: a c"},
		{0, nil, "0 of 3 red, none was tried"},
	} {
		if got := tally(tc.red, chosen, tc.tried); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
