package main

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// packages are those whose binaries the chosen mutants need, or those of all
// that a survey wants to see.
func packages(chosen []mutant, survey string, simulated bool) []string {
	if simulated {
		return []string{schedules}
	}
	var pkgs []string
	for _, m := range chosen {
		pkgs = append(pkgs, m.caughtBy.pkg)
	}
	if survey != "" {
		wanted := regexp.MustCompile(survey)
		pkgs = slices.DeleteFunc(slices.Clone(catchers), func(pkg string) bool { return !wanted.MatchString(pkg) })
	}
	slices.Sort(pkgs)
	return slices.Compact(pkgs)
}

// control runs every test that is to catch a mutant without one: a binary that
// is red anyway proves nothing.
func (b bench) control(ctx context.Context, chosen []mutant) error {
	begin, done := clockNow(), make(map[string]bool)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for _, m := range chosen {
		c := m.caughtBy
		if done[c.command()] {
			continue
		}
		done[c.command()] = true
		g.Go(func() error {
			o, err := b.run(ctx, c, "")
			if err == nil && !o.passed {
				err = fmt.Errorf("%s %s is red without any mutant:\n%s", c.pkg, c.test, o.output)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	fmt.Printf("green with no mutant on: %d tests in %.0fs\n", len(done), clockNow().Sub(begin).Seconds())
	return nil
}

// each runs every mutant and prints a line for it. It returns how many are red,
// and which were tried: not all of them, if the time is over.
func (b bench) each(ctx context.Context, chosen []mutant) (red int, tried map[string]bool, err error) {
	var mu sync.Mutex
	tried = make(map[string]bool)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for _, m := range chosen {
		g.Go(func() error {
			o, err := b.run(ctx, m.caughtBy, m.name)
			if err != nil {
				return fmt.Errorf("mutant %q: %w", m.name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			tried[m.name] = true
			if m.caughtBy.red(o) {
				red++
				fmt.Printf("red    %4.1fs  %-40s %-10s %s\n", o.took.Seconds(), m.name, m.rule, o.how(m.caughtBy.args))
				return nil
			}
			fmt.Printf("%s  %4.1fs  %-40s %-10s %s\n", o.verdict(), o.took.Seconds(), m.name, m.rule, m.removes)
			fmt.Printf("       wanted: %s in %s %s\n", m.caughtBy.test, m.caughtBy.pkg, m.caughtBy.says)
			if !o.passed {
				fmt.Printf("       got: %s\n%s\n", o.how(m.caughtBy.args), indent(o.output))
			}
			return nil
		})
	}
	err = g.Wait()
	return red, tried, err
}

// tally is the last line of the results. It names what was not tried.
func tally(red int, chosen []mutant, tried map[string]bool) string {
	line := fmt.Sprintf("%d of %d red", red, len(chosen))
	var left []string
	for _, m := range chosen {
		if !tried[m.name] {
			left = append(left, m.name)
		}
	}
	switch {
	case len(left) == 0:
		return line
	case len(left) == len(chosen):
		return line + ", none was tried"
	}
	return fmt.Sprintf("%s, %d not tried: %s", line, len(left), strings.Join(left, " "))
}

// survey runs whole packages with each mutant and prints what turns red.
func (b bench) survey(ctx context.Context, chosen []mutant, pkgs []string) error {
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.NumCPU())
	for _, m := range chosen {
		g.Go(func() error {
			var b2 strings.Builder
			for _, pkg := range pkgs {
				lines, err := b.reds(ctx, pkg, m.name)
				if err != nil {
					return err
				}
				b2.WriteString(lines)
			}
			if b2.Len() == 0 {
				b2.WriteString("       alive\n")
			}
			mu.Lock()
			defer mu.Unlock()
			fmt.Printf("%s (%s): %s\n%s", m.name, m.rule, m.removes, b2.String())
			return nil
		})
	}
	return g.Wait()
}

func indent(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > 20 {
		lines = lines[:20]
	}
	return "       | " + strings.Join(lines, "\n       | ")
}
