package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// config is the export that is measured: with the defaults, by one worker.
const config = `source: { type: %[2]s, url_env: DATABASE_URL }
exports:
  - { name: %[1]s, table: %[3]s.%[1]s, mode: full, format: parquet, compression: zstd, destination: { type: local, path: out } }
`

// desk makes the folder that a table is exported in.
func (o options) desk(db engine, t table) (string, error) {
	dir := filepath.Join(o.dir, t.name)
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "rivet.yaml"), fmt.Appendf(nil, config, t.name, db.source(), db.schema()), 0o644)
}

// export is the command line of a whole run, its verdict included.
func (o options) export(at string) *exec.Cmd {
	cmd := exec.Command(o.lapstrake, "run", "-c", "rivet.yaml", "--state", "out/state", "--workers", "1")
	cmd.Env = append(os.Environ(), "DATABASE_URL="+at)
	return cmd
}

// stages in the order of a row's way. Those that end in a pipeline of their own
// are measured by what it costs more than the one before.
var stages = []string{"wire", "decode", "encode", "compress", "checksum", "upload"}

type figures struct {
	stage [6]cost
	wire  int64 // bytes
	whole usage // of the command
}

func own(ctx context.Context, o options) error {
	chosen, err := o.chosen()
	if err != nil {
		return err
	}
	db, err := connect(ctx, o.url, chosen)
	if err != nil {
		return err
	}
	defer db.close(ctx)
	if err := os.Setenv("DATABASE_URL", db.at()); err != nil {
		return err
	}
	fmt.Println(machine(ctx, db, o.runs))
	// All commands first: what the kernel calls the most memory of a process
	// begins with that of the one that started it, which is small only now.
	whole := make([]usage, len(chosen))
	for i, t := range chosen {
		if whole[i], err = o.whole(ctx, db, t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	for i, t := range chosen {
		f, err := o.figures(ctx, db, t)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		f.whole = whole[i]
		f.print(t)
	}
	return nil
}

func (o options) whole(ctx context.Context, db engine, t table) (usage, error) {
	dir, err := o.desk(db, t)
	if err != nil {
		return usage{}, err
	}
	var least usage
	for i := range o.runs {
		progress("%s: run %d of %d of the command", t.name, i+1, o.runs)
		u, err := measure(ctx, db, dir, o.export(db.at()))
		if err != nil {
			return u, err
		}
		if i == 0 {
			least = u
		}
		least.least(u)
	}
	return least, nil
}

// figures takes the least of every pipeline's costs, turn by turn.
func (o options) figures(ctx context.Context, db engine, t table) (figures, error) {
	var f figures
	dir, err := o.desk(db, t)
	if err != nil {
		return f, err
	}
	p, err := open(ctx, filepath.Join(dir, "rivet.yaml"))
	if err != nil {
		return f, err
	}
	var least [6]cost // wire, decode, encode, compress as pipelines; checksum and upload alone
	var plainSeal cost
	for i := range o.runs {
		progress("%s: run %d of %d", t.name, i+1, o.runs)
		var now [6]cost
		var sealed cost
		steps := []func() (cost, error){
			func() (cost, error) {
				return costOf(func() (err error) { f.wire, err = floor(ctx, db.at(), t.name); return err })
			},
			func() (cost, error) { return costOf(func() error { return p.read(ctx, nil, "") }) },
			func() (cost, error) {
				c, err := costOf(func() error { return p.encode(ctx, "none") })
				if err == nil {
					sealed, err = p.seal()
				}
				return c, err
			},
			func() (cost, error) { return costOf(func() error { return p.encode(ctx, p.plan.Export.Compression) }) },
			p.seal,
			func() (cost, error) { return p.put(ctx, dir) },
		}
		for s, step := range steps {
			if now[s], err = step(); err != nil {
				return f, err
			}
		}
		if i == 0 {
			least, plainSeal = now, sealed
			continue
		}
		for s := range least {
			if now[s].cpu < least[s].cpu {
				least[s] = now[s]
			}
		}
		if sealed.cpu < plainSeal.cpu {
			plainSeal = sealed
		}
	}
	f.stage = [6]cost{
		least[0], least[1].minus(least[0]), least[2].minus(plainSeal).minus(least[1]),
		least[3].minus(least[4]).minus(least[2].minus(plainSeal)), least[4], least[5],
	}
	return f, nil
}

func (f figures) print(t table) {
	const million = 1e6
	fmt.Printf("\n## %s: %d rows, %.0f MB over the wire\n\n", t.name, t.rows, float64(f.wire)/million)
	fmt.Println("| stage | CPU-s | share | M rows per CPU-s | MB per CPU-s | MB allocated | allocations |")
	fmt.Println("|---|---|---|---|---|---|---|")
	var sum cost
	for _, c := range f.stage {
		sum = cost{sum.cpu + c.cpu, sum.bytes + c.bytes, sum.allocs + c.allocs}
	}
	line := func(name string, c cost) {
		s := max(c.cpu.Seconds(), 1e-6)
		fmt.Printf("| %s | %.2f | %.0f %% | %.2f | %.0f | %.0f | %d |\n", name, s, 100*s/max(sum.cpu.Seconds(), 1e-6),
			float64(t.rows)/million/s, float64(f.wire)/million/s, float64(c.bytes)/million, c.allocs)
	}
	for i, c := range f.stage {
		line(stages[i], c)
	}
	line("all", sum)
	w := f.whole
	fmt.Printf("\n`lapstrake run`, with its plan and its verdict: %.2f CPU-s, %.2f s, %.2f M rows per CPU-s, at most %.0f MB resident, %.1f MB written; server %.2f CPU-s.\n",
		w.cpu.Seconds(), w.wall.Seconds(), float64(t.rows)/million/w.cpu.Seconds(), float64(w.rss)/million, float64(w.output)/million, w.server.Seconds())
}
