package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed peers.py
var script string

// tool is something that exports a table.
type tool struct {
	name string
	kind kind
	// command writes table t below out, in the folder that it runs in.
	command func(t table) *exec.Cmd
}

type kind int

const (
	ours kind = iota
	floors
	peer
	upstream
)

// peerNames are what peers.py knows for an engine.
var peerNames = map[string][]string{
	"postgres": {"duckdb", "connectorx", "adbc", "polars", "chdb"},
	"mariadb":  {"duckdb", "connectorx", "polars", "chdb"},
}

// floorNames are what reads a table and throws it away.
var floorNames = map[string]string{"postgres": "COPY, thrown away", "mariadb": "rows, thrown away"}

// contestants are the tools that can be had, ours first.
func (o options) contestants(db engine, scripts string) ([]tool, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	at := db.at()
	environment := append(os.Environ(), "DATABASE_URL="+at)
	plain := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Env = environment
		return cmd
	}
	all := []tool{
		{"lapstrake", ours, func(table) *exec.Cmd { return o.export(at) }},
		{floorNames[db.name()], floors, func(t table) *exec.Cmd { return plain(self, "floor", "-url", at, "-table", t.name) }},
	}
	for _, name := range peerNames[db.name()] {
		if o.python == "" || o.only != "" && !slices.Contains(strings.Split(o.only, ","), name) {
			continue
		}
		all = append(all, tool{name, peer, func(t table) *exec.Cmd { return plain(o.python, scripts, "export", name, t.name) }})
	}
	if o.rivet != "" {
		all = append(all, tool{"rivet", upstream, func(table) *exec.Cmd { return plain(o.rivet, "run", "-c", "rivet.yaml") }})
	}
	return all, nil
}

// result is what a tool needed, or why it has no figures.
type result struct {
	usage
	failed string
}

func peers(ctx context.Context, o options) error {
	chosen, err := o.chosen()
	if err != nil {
		return err
	}
	if o.python == "" {
		return fmt.Errorf("-python is missing: it also compares the outputs with the table")
	}
	db, err := connect(ctx, o.url, chosen)
	if err != nil {
		return err
	}
	defer db.close(ctx)
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return err
	}
	scripts := filepath.Join(o.dir, "peers.py")
	if err := os.WriteFile(scripts, []byte(script), 0o644); err != nil {
		return err
	}
	all, err := o.contestants(db, scripts)
	if err != nil {
		return err
	}
	fmt.Println(machine(ctx, db, o.runs))
	var ratios []string
	for _, t := range chosen {
		results, err := o.contest(ctx, db, scripts, t, all)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		printContest(t, all, results)
		ratios = append(ratios, ratiosOf(db.name(), t, all, results)...)
	}
	fmt.Println()
	for _, line := range ratios {
		fmt.Println(line)
	}
	return nil
}

// contest lets every tool export the table, one after another, and that as
// often as there are runs. A tool that fails, or whose output is not the table,
// is left out from then on and says why.
func (o options) contest(ctx context.Context, db engine, scripts string, t table, all []tool) ([]result, error) {
	dir, err := o.desk(db, t)
	if err != nil {
		return nil, err
	}
	want, err := db.truth(ctx, t)
	if err != nil {
		return nil, err
	}
	results := make([]result, len(all))
	for run := range o.runs {
		for i, c := range all {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if results[i].failed != "" {
				continue
			}
			progress("%s: run %d of %d: %s", t.name, run+1, o.runs, c.name)
			u, err := o.once(ctx, db, dir, scripts, t, c, want)
			switch {
			case err != nil && c.kind == ours:
				return nil, err
			case err != nil:
				progress("%s: %v", c.name, err)
				results[i].failed = firstLine(err)
			case run == 0:
				results[i].usage = u
			default:
				results[i].least(u)
			}
		}
	}
	return results, nil
}

func (o options) once(ctx context.Context, db engine, dir, scripts string, t table, c tool, want truth) (usage, error) {
	u, err := measure(ctx, db, dir, c.command(t))
	if err != nil || c.kind == floors {
		return u, err
	}
	check := exec.CommandContext(ctx, o.python, scripts, "check", filepath.Join(dir, "out"), t.key)
	check.Stderr = os.Stderr
	found, err := check.Output()
	if err != nil {
		return u, fmt.Errorf("its output cannot be read: %w", err)
	}
	if got := strings.TrimSpace(string(found)); got != want.rows+" "+want.sum {
		return u, fmt.Errorf("its output has the rows and the sum %s, the table has %s %s", got, want.rows, want.sum)
	}
	return u, nil
}

func firstLine(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	text := strings.TrimSpace(lines[len(lines)-1])
	return strings.ReplaceAll(text[:min(len(text), 120)], "|", "/")
}

func printContest(t table, all []tool, results []result) {
	fmt.Printf("\n## %s: %d rows\n\n", t.name, t.rows)
	fmt.Println("| tool | CPU-s | × ours | wall s | × ours | RSS MB | server CPU-s | written MB |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	mine := results[0]
	for i, c := range all {
		r := results[i]
		if r.failed != "" {
			fmt.Printf("| %s | failed: %s | | | | | | |\n", c.name, r.failed)
			continue
		}
		written := fmt.Sprintf("%.1f", float64(r.output)/1e6)
		if c.kind == floors {
			written = ""
		}
		fmt.Printf("| %s | %.2f | %.2f | %.2f | %.2f | %.0f | %.2f | %s |\n", c.name, r.cpu.Seconds(), r.cpu.Seconds()/mine.cpu.Seconds(),
			r.wall.Seconds(), r.wall.Seconds()/mine.wall.Seconds(), float64(r.rss)/1e6, r.server.Seconds(), written)
	}
}

// ratiosOf says how many times as much CPU time the others took.
func ratiosOf(engine string, t table, all []tool, results []result) []string {
	best := map[kind]int{}
	for i, c := range all {
		if b, found := best[c.kind]; results[i].failed == "" && (!found || results[i].cpu < results[b].cpu) {
			best[c.kind] = i
		}
	}
	var lines []string
	mine := results[0]
	if b, found := best[floors]; found {
		lines = append(lines, fmt.Sprintf("%s %s lapstrake/thrown-away wall ratio %.2f", t.name, engine, mine.wall.Seconds()/results[b].wall.Seconds()))
	}
	if b, found := best[upstream]; found {
		lines = append(lines, fmt.Sprintf("%s %s lapstrake/upstream cpu ratio %.1f", t.name, engine, results[b].cpu.Seconds()/mine.cpu.Seconds()))
	}
	if b, found := best[peer]; found {
		progress("%s: the best peer is %s", t.name, all[b].name)
		lines = append(lines, fmt.Sprintf("%s %s lapstrake/best-peer cpu ratio %.1f", t.name, engine, results[b].cpu.Seconds()/mine.cpu.Seconds()))
	}
	return lines
}
