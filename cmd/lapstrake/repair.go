package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// repairs is what repair prints when it changes nothing.
type repairs struct {
	Exports []repairOf `json:"exports"`
}

// repairOf is what a repair of one run would do.
type repairOf struct {
	ExportName string             `json:"export_name"`
	RunID      contract.RunID     `json:"run_id"`
	Prefix     string             `json:"prefix"`
	Parts      int                `json:"parts"`
	Damaged    []damagedPart      `json:"damaged"`
	Run        runstate.RunStatus `json:"run_status"`
}

type damagedPart struct {
	PartID   int    `json:"part_id"`
	Path     string `json:"path"`
	Rows     int64  `json:"rows"`
	Missing  bool   `json:"missing"`
	Expected int64  `json:"expected_bytes"`
	Actual   int64  `json:"actual_bytes"`
}

const rowsAreOfNow = "rows that are read again are as the source has them now, which need not be what the run delivered first"

func repairCommand(base *options) *cobra.Command {
	o := &runOptions{options: base, force: true}
	execute := false
	cmd := &cobra.Command{
		Use:   "repair [RUN_ID]",
		Short: "Show which parts of a published run are missing or damaged, and make them again",
		Long: "Compares the parts of a published run, by default of each export's last one, with what is in its prefix.\n" +
			"With --execute the damaged ones are made again and the run's manifest, sidecar and marker replaced; " + rowsAreOfNow + ".",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.repair(cmd, args, execute) },
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&execute, "execute", false, "make the damaged parts again")
	return cmd
}

func (o *runOptions) repair(cmd *cobra.Command, args []string, execute bool) error {
	cfg, err := o.load()
	if err != nil {
		return err
	}
	local, done, err := o.open(cmd, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = done() }()
	targets, err := o.targets(cmd.Context(), local, cfg, args)
	if err != nil {
		return err
	}
	found := repairs{Exports: []repairOf{}}
	for _, e := range cfg.Exports {
		if id := targets[contract.ExportName(e.Name)]; id != "" {
			r, err := lookAt(cmd.Context(), local, id)
			if err != nil {
				return err
			}
			found.Exports = append(found.Exports, r)
		}
	}
	if !execute {
		return o.print(found, func(w io.Writer) { found.text(w, o) })
	}
	fmt.Fprintln(o.err, "repair: "+rowsAreOfNow)
	exports := slices.DeleteFunc(slices.Clone(cfg.Exports), func(e exportconfig.Export) bool { return targets[contract.ExportName(e.Name)] == "" })
	return o.each(cmd.Context(), local, exports, func(ctx context.Context, e exportconfig.Export, p *progress) (runstate.Run, error) {
		return o.take(ctx, local, e, targets[contract.ExportName(e.Name)], p)
	})
}

func lookAt(ctx context.Context, local *wiring.Local, id contract.RunID) (repairOf, error) {
	run, err := local.State.GetRun(ctx, id)
	if err != nil {
		return repairOf{}, err
	}
	d, err := local.Damage(ctx, run)
	if err != nil {
		return repairOf{}, err
	}
	r := repairOf{ExportName: string(run.Export), RunID: id, Prefix: joinURI(run.Root.URI, run.Prefix), Run: run.Status, Parts: d.Manifest.PartCount, Damaged: []damagedPart{}}
	for _, p := range d.Parts {
		r.Damaged = append(r.Damaged, damagedPart{PartID: p.PartID, Path: p.Path, Rows: p.Rows, Missing: p.Missing, Expected: p.SizeBytes, Actual: p.Size})
	}
	return r, nil
}

func (r repairs) text(w io.Writer, o *runOptions) {
	for _, e := range r.Exports {
		fmt.Fprintf(w, "%s: %d of %d parts are damaged\n  run        %s\n  prefix     %s\n", e.ExportName, len(e.Damaged), e.Parts, e.RunID, e.Prefix)
		for _, d := range e.Damaged {
			what := fmt.Sprintf("differs (%d bytes, %d expected)", d.Actual, d.Expected)
			if d.Missing {
				what = "missing"
			}
			fmt.Fprintf(w, "  part %-5d %s: %s, %s rows\n", d.PartID, d.Path, what, grouped(d.Rows))
		}
		if len(e.Damaged) > 0 {
			fmt.Fprintf(w, "  make them again with: lapstrake repair -c %s%s --execute %s\n  %s\n", o.config, o.stateFlag(), e.RunID, rowsAreOfNow)
		}
	}
}
