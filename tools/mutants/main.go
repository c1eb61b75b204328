// Command mutants proves that the tests of the protocol can fail. It takes one
// guard after the other out of the product and sees that a test turns red.
//
//	mutants [-core] [-within DURATION] [-only REGEXP] [-survey REGEXP] [-seeds N] [-list]
//
// A mutant is an entry of the tables in this package: a rule, the piece of code
// that keeps it, what stands there instead, and the test that has to notice. The
// code itself has no switches: `go test -overlay` builds copies of the files in
// which every mutant is an `if`, and one test binary a package serves all of
// them. First every test runs with no mutant on and has to be green.
//
// The last line is "N of N red". Exit code 1 means that a mutant is alive, that
// its test failed for another reason than the table says, or that the tests are
// not green without any.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
)

func clockNow() time.Time { return clock.System{}.Now() }

func main() {
	core := flag.Bool("core", false, "only the mutants that the design lists")
	within := flag.Duration("within", 0, "fail when it takes longer")
	only := flag.String("only", "", "only mutants whose name matches")
	survey := flag.String("survey", "", "run the whole packages that match, and print every test that turns red")
	seeds := flag.Int("seeds", 0, "try so many seeds of the simulation on each, and print which invariant notices")
	explore := flag.String("explore", "", "visit every schedule of the scopes that match on each, and print which invariant notices")
	list := flag.Bool("list", false, "print the mutants and run none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, *within, fmt.Errorf("the time of %v is over", *within))
		defer cancel()
	}
	chosen, err := choose(*core, *only)
	switch {
	case err != nil:
	case *list:
		for _, m := range chosen {
			fmt.Printf("%-44s %-14s %s\n", m.name, m.rule, m.removes)
		}
	default:
		err = try(ctx, chosen, *survey, *seeds, *explore)
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func choose(core bool, only string) ([]mutant, error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(mutants(), func(m mutant) bool { return core && !m.core || !pattern.MatchString(m.name) }), nil
}

// try builds the binaries and runs every chosen mutant.
func try(ctx context.Context, chosen []mutant, survey string, seeds int, scopes string) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := bench{root: root, dir: dir, patience: time.Minute}
	overlay, err := writeOverlay(root, dir, chosen)
	if err != nil {
		return err
	}
	begin := clockNow()
	if err := b.build(ctx, overlay, packages(chosen, survey, seeds > 0 || scopes != "")); err != nil {
		fmt.Println(tally(0, chosen, nil))
		return err
	}
	fmt.Printf("built with %d mutants in %.0fs\n", len(chosen), clockNow().Sub(begin).Seconds())
	if seeds > 0 {
		return b.simulate(ctx, chosen, seeds)
	}
	if scopes != "" {
		return b.explore(ctx, chosen, scopes)
	}
	if survey != "" {
		return b.survey(ctx, chosen, packages(chosen, survey, false))
	}
	if err := b.control(ctx, chosen); err != nil {
		fmt.Println(tally(0, chosen, nil))
		return err
	}
	red, tried, err := b.each(ctx, chosen)
	fmt.Println(tally(red, chosen, tried))
	if err != nil {
		return err
	}
	if red < len(chosen) {
		return errors.New("a mutant that is not red is a missing test: see docs/mutants.md")
	}
	return nil
}
