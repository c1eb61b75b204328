package main

import (
	"io"
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	const (
		passed  = `{"Action":"pass","Package":"p","Test":"A"}` + "\n"
		skipped = `{"Action":"output","Package":"p","Test":"B","Output":"    b_test.go:7: LAPSTRAKE_TEST_X is not set: run ` + "`make test`" + `, which starts the server\n"}` + "\n" +
			`{"Action":"output","Package":"p","Test":"B","Output":"--- SKIP: B (0.00s)\n"}` + "\n" +
			`{"Action":"skip","Package":"p","Test":"B"}` + "\n"
		otherwise = `{"Action":"output","Package":"p","Test":"C","Output":"    c_test.go:9: needs PostgreSQL 14\n"}` + "\n" +
			`{"Action":"skip","Package":"p","Test":"C"}` + "\n"
	)
	for _, tc := range []struct {
		name         string
		events       string
		skipsAllowed bool
		want         int
	}{
		{name: "a test passed", events: passed, want: exitPassed},
		{name: "nothing at all", events: "", want: exitNoTest},
		{name: "only a package without tests", events: `{"Action":"skip","Package":"p"}` + "\n", want: exitNoTest},
		{name: "a server is missing for one of two", events: passed + skipped, want: exitSkipped},
		{name: "a server is missing where that is fine", events: passed + skipped, skipsAllowed: true, want: exitPassed},
		{name: "every test lacks its server where that is fine", events: skipped, skipsAllowed: true, want: exitNoTest},
		{name: "a test that says why it does not apply", events: passed + otherwise, want: exitPassed},
		{name: "only tests that do not apply", events: otherwise, want: exitNoTest},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := read(strings.NewReader(tc.events), io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.verdict(io.Discard, tc.skipsAllowed); got != tc.want {
				t.Errorf("verdict %d, want %d", got, tc.want)
			}
		})
	}
}

func TestFailuresAreShownWithTheirOutput(t *testing.T) {
	r, err := read(strings.NewReader(
		`{"Action":"build-output","ImportPath":"q","Output":"q.go:1: no\n"}`+"\n"+
			`{"Action":"output","Package":"p","Test":"A","Output":"quiet\n"}`+"\n"+
			`{"Action":"pass","Package":"p","Test":"A"}`+"\n"+
			`{"Action":"output","Package":"p","Test":"B","Output":"loud\n"}`+"\n"+
			`{"Action":"fail","Package":"p","Test":"B"}`+"\n"+
			`{"Action":"output","Package":"p","Test":"C","Output":"cut off\n"}`+"\n"+
			"a line that is no event\n"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	r.printFailures(&b)
	for _, want := range []string{"q.go:1: no", "loud", "cut off", "a line that is no event"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not shown in:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "quiet") {
		t.Errorf("the output of a passed test is shown:\n%s", b.String())
	}
}

func TestTheMiddleOfALongOutputIsLeftOut(t *testing.T) {
	events := strings.Repeat(`{"Action":"output","Package":"p","Test":"A","Output":"drawn\n"}`+"\n", 1000) +
		`{"Action":"output","Package":"p","Test":"A","Output":"the cause\n"}` + "\n" +
		`{"Action":"fail","Package":"p","Test":"A"}` + "\n"
	r, err := read(strings.NewReader(events), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	r.printFailures(&b)
	if got, want := strings.Count(b.String(), "\n"), 1+firstLines+1+lastLines; got != want {
		t.Errorf("%d lines are shown, want %d", got, want)
	}
	if !strings.HasSuffix(b.String(), "the cause\n") {
		t.Error("the last line is not shown")
	}
}
