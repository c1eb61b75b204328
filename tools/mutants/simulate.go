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
	b.patience = 0
	noticed := 0
	for _, m := range chosen {
		o, err := b.run(ctx, c, m.name)
		if err != nil {
			return err
		}
		line := "no seed notices it"
		if !o.passed {
			noticed++
			line = firstFinding(o.output)
		}
		fmt.Printf("%5.1fs  %-40s %-10s %s\n", o.took.Seconds(), m.name, m.rule, line)
	}
	fmt.Printf("%d of %d are noticed within %d seeds\n", noticed, len(chosen), seeds)
	return nil
}

// firstFinding is the line that names an invariant and its seed.
func firstFinding(output string) string {
	for line := range strings.Lines(output) {
		if invariant.MatchString(line) || strings.Contains(line, "seed") {
			return cut(strings.TrimSpace(line), 160)
		}
	}
	return cut(strings.TrimSpace(output), 160)
}
