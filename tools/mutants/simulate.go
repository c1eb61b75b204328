package main

import (
	"context"
	"fmt"
	"strings"
)

// schedules is the simulation, which tries seeds.
const schedules = "functions/simulation/schedule"

// simulate tries seeds on each mutant, one after the other, and prints which
// invariant notices it. A mutant that no seed notices is no failure here: its
// own test does.
func (b bench) simulate(ctx context.Context, chosen []mutant, seeds int) error {
	c := catcher{pkg: schedules, test: "TestSimulation", args: []string{fmt.Sprintf("-seeds=%d", seeds), "-brief"}}
	return b.notice(ctx, chosen, c, fmt.Sprintf("within %d seeds", seeds))
}

// explore visits every schedule of the scopes that match on each mutant, as far
// as their bounds go, and prints which invariant notices it first.
func (b bench) explore(ctx context.Context, chosen []mutant, scopes string) error {
	c := catcher{pkg: schedules, test: "TestExplore/scopes", args: []string{"-test.run=^TestExplore$/^scopes$/" + scopes, "-brief"}}
	return b.notice(ctx, chosen, c, "by a schedule of a scope")
}

func (b bench) notice(ctx context.Context, chosen []mutant, c catcher, how string) error {
	b.patience = 0
	noticed := 0
	for _, m := range chosen {
		o, err := b.run(ctx, c, m.name)
		if err != nil {
			return err
		}
		line := "not noticed"
		if !o.passed {
			noticed++
			line = firstFinding(o.output)
		}
		fmt.Printf("%5.1fs  %-40s %-10s %s\n", o.took.Seconds(), m.name, m.rule, line)
	}
	fmt.Printf("%d of %d are noticed %s\n", noticed, len(chosen), how)
	return nil
}

// firstFinding is the line that names an invariant, and its seed or how many
// schedules were tried.
func firstFinding(output string) string {
	for line := range strings.Lines(output) {
		if strings.Contains(line, "RED after") || strings.Contains(line, "seed") {
			return cut(strings.TrimSpace(line), 160)
		}
	}
	return cut(strings.TrimSpace(output), 160)
}
