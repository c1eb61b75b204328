package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/cost"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// costed is a plan and what a run of it is expected to cost.
type costed struct {
	chunkplan.Plan
	Cost *cost.Estimate `json:"cost,omitempty"` // nil if the size is not known
}

type planOptions struct {
	*options
	tasks  bool
	prices string
}

func planCommand(base *options) *cobra.Command {
	o := &planOptions{options: base}
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show how exports would be cut into chunks, and what that costs; nothing is written",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.plan(cmd) },
	}
	cmd.Flags().BoolVar(&o.tasks, "tasks", false, "list the range of every task")
	cmd.Flags().StringVar(&o.prices, "prices", "", "price table, a JSON file (default list prices of AWS)")
	return cmd
}

func (o *planOptions) plan(cmd *cobra.Command) error {
	prices, err := o.priceTable()
	if err != nil {
		return err
	}
	cfg, err := o.load()
	if err != nil {
		return err
	}
	local, done, err := o.openWithoutState(cmd, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = done() }()
	plans := make([]costed, 0, len(cfg.Exports))
	for _, e := range cfg.Exports {
		p, err := local.Preview(cmd.Context(), e)
		if err != nil {
			return err
		}
		c := costed{Plan: p}
		if estimate, known := cost.Of(p, prices); known {
			c.Cost = &estimate
		}
		plans = append(plans, c)
	}
	return o.print(plans, func(w io.Writer) {
		for _, p := range plans {
			printPlan(w, p, o.tasks)
		}
	})
}

func (o *planOptions) priceTable() (cost.Prices, error) {
	if o.prices == "" {
		return cost.ListPrices()
	}
	body, err := os.ReadFile(o.prices)
	if err != nil {
		return cost.Prices{}, fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_PRICES", "read the price table")
	}
	return cost.ReadPrices(body)
}

func printPlan(w io.Writer, p costed, tasks bool) {
	fmt.Fprintf(w, "%s: %s, %d tasks\n", p.Export.Name, p.Strategy, len(p.Tasks))
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "  %-12s "+format+"\n", append([]any{name}, args...)...)
	}
	line("source", "%s %s", p.Engine, relation(p.Plan))
	if p.EstimatedRows >= 0 {
		line("estimate", "%s rows, %s", grouped(p.EstimatedRows), size(max(p.EstimatedBytes, 0)))
	} else {
		line("estimate", "unknown: the table has no statistics")
	}
	if c := p.Cost; c != nil {
		line("cost", "%.6f %s on functions: %.1f GB-seconds, %s requests (%s)", c.Total, c.Currency, c.GBSeconds, grouped(c.Requests()), c.Prices)
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
