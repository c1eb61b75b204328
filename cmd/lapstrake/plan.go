package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

func planCommand(o *options) *cobra.Command {
	tasks := false
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show how exports would be cut into chunks; nothing is written",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.plan(cmd, tasks) },
	}
	cmd.Flags().BoolVar(&tasks, "tasks", false, "list the range of every task")
	return cmd
}

func (o *options) plan(cmd *cobra.Command, tasks bool) error {
	cfg, err := o.load()
	if err != nil {
		return err
	}
	local, done, err := o.openWithoutState(cmd, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = done() }()
	plans := make([]chunkplan.Plan, 0, len(cfg.Exports))
	for _, e := range cfg.Exports {
		p, err := local.Preview(cmd.Context(), e)
		if err != nil {
			return err
		}
		plans = append(plans, p)
	}
	return o.print(plans, func(w io.Writer) {
		for _, p := range plans {
			printPlan(w, p, tasks)
		}
	})
}

func printPlan(w io.Writer, p chunkplan.Plan, tasks bool) {
	fmt.Fprintf(w, "%s: %s, %d tasks\n", p.Export.Name, p.Strategy, len(p.Tasks))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %-12s "+format+"\n", append([]any{name}, args...)...)
	}
	line("source", "%s %s", p.Engine, relation(p))
	if p.EstimatedRows >= 0 {
		line("estimate", "%s rows, %s", grouped(p.EstimatedRows), size(max(p.EstimatedBytes, 0)))
	} else {
		line("estimate", "unknown: the table has no statistics")
	}
	line("key", "%s", keyNames(p.Key))
	if w := p.Within; w != nil {
		line("window", "%s", w)
	} else if p.Window != nil {
		line("window", "nothing to read")
	}
	line("consistency", "%s", p.Consistency)
	line("to", "%s", joinURI(p.Export.Destination.URI, p.Export.PrefixTemplate))
	line("columns", "%d", len(p.Columns))
	for _, c := range p.Columns {
		fmt.Fprintf(w, "    %-24s %-24s %s\n", c.Name, c.Native, c.Type)
	}
	for _, d := range p.Diagnostics {
		fmt.Fprintf(w, "  warning %s: %s\n", d.Code, d.Message)
	}
	if tasks {
		for i, r := range p.Tasks {
			fmt.Fprintf(w, "  task %06d   %s\n", i, r)
		}
	}
}

func relation(p chunkplan.Plan) string {
	switch {
	case p.Query != "":
		return "query"
	case p.Schema != "":
		return p.Schema + "." + p.Table
	}
	return p.Table
}

func keyNames(key []keyspace.Column) string {
	if len(key) == 0 {
		return "none: one task of all rows"
	}
	names := key[0].Expression()
	for _, k := range key[1:] {
		names += ", " + k.Expression()
	}
	return names
}
