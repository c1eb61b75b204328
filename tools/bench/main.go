// Command bench measures what an export costs, on tables that it makes itself.
// Layer: main (used by `make bench` and `make bench-peers`).
//
//	bench own -lapstrake BIN -url URL     this program's figures, stage by stage
//	bench peers -lapstrake BIN -url URL   the same exports by other tools, turn by turn
//	bench floor -url URL -table NAME      reads a table and throws it away
//
// Time is CPU time, user and system, of all processes of a tool. A busy machine
// makes work wait, and hardly makes it more: of several runs the least counts.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

type options struct {
	lapstrake, url string
	dir            string // for configs and output
	python, rivet  string // of the peers; "" is not there
	tables         string
	only           string
	table          string // of floor
	scale          float64
	runs           int
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: bench own|peers|floor [flags]")
	}
	var o options
	flags := flag.NewFlagSet("bench "+args[0], flag.ContinueOnError)
	flags.StringVar(&o.lapstrake, "lapstrake", "build/lapstrake", "`binary` to measure")
	flags.StringVar(&o.url, "url", "", "`URL` of a PostgreSQL or MariaDB on this machine, where a database named bench is made")
	flags.StringVar(&o.dir, "dir", "build/bench", "`folder` for configs and output, whose content is lost")
	flags.StringVar(&o.python, "python", "", "`binary` of the Python that has the peers")
	flags.StringVar(&o.rivet, "rivet", "", "`binary` of the upstream")
	flags.StringVar(&o.tables, "tables", "lineitem,events,narrow", "`names` of tables")
	flags.StringVar(&o.only, "only", "", "`names` of peers, instead of all")
	flags.StringVar(&o.table, "table", "lineitem", "`name` of the table that floor reads")
	flags.Float64Var(&o.scale, "scale", 1, "`factor` for the tables' numbers of rows")
	flags.IntVar(&o.runs, "n", 3, "`runs` of everything, of which the least counts")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	for _, path := range []*string{&o.lapstrake, &o.dir, &o.python, &o.rivet} { // commands run elsewhere
		if *path == "" {
			continue
		}
		var err error
		if *path, err = filepath.Abs(*path); err != nil {
			return err
		}
	}
	switch args[0] {
	case "own":
		return own(ctx, o)
	case "peers":
		return peers(ctx, o)
	case "floor":
		_, err := floor(ctx, o.url, o.table)
		return err
	}
	return fmt.Errorf("%s is neither own, peers nor floor", args[0])
}

// chosen are the tables of -tables.
func (o options) chosen() ([]table, error) {
	var found []table
	for _, name := range strings.Split(o.tables, ",") {
		i := slices.IndexFunc(tables, func(t table) bool { return t.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no table %q", name)
		}
		t := tables[i]
		t.rows = max(int64(float64(t.rows)*cmp.Or(o.scale, 1)), 1000)
		found = append(found, t)
	}
	return found, nil
}
