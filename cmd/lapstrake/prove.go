package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/prove"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// proofs is what prove prints.
type proofs struct {
	Exports []proof `json:"exports"`
}

type proof struct {
	prove.Result
	Root string `json:"root"`
}

type proveOptions struct {
	*options
	deep  bool
	runID string
}

func proveCommand(base *options) *cobra.Command {
	o := &proveOptions{options: base}
	cmd := &cobra.Command{
		Use:   "prove [PREFIX | RUN_ID]",
		Short: "Show from the objects alone that published runs have every row once",
		Long: "Looks at the Success manifests of exports and the run records that they name: the predicates of the tasks have to partition the\n" +
			"key space, the counts of record, manifest and parts to agree, and the windows of runs with a cursor to follow one another.\n" +
			"Neither the state table nor the database is asked. With a folder or s3:// prefix (anything with a slash) no config is needed.",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.prove(cmd, args) },
	}
	cmd.Flags().BoolVar(&o.deep, "deep", false, "also download every part, hash it and count its rows")
	cmd.Flags().StringVar(&o.runID, "run-id", "", "only this run of the prefix or config")
	return cmd
}

func (o *proveOptions) prove(cmd *cobra.Command, args []string) error {
	places, err := o.places(cmd, args)
	if err != nil {
		return err
	}
	out := proofs{Exports: []proof{}}
	wrong, unverified := 0, 0
	for _, at := range places {
		root, err := wiring.ReadOnlyDestinations().Open(cmd.Context(), at.root)
		if err != nil {
			return err
		}
		r, err := prove.Prove(cmd.Context(), root, prove.Options{Export: at.export, Prefix: at.prefix, Run: contract.RunID(o.runID), Deep: o.deep})
		if err != nil {
			return err
		}
		out.Exports = append(out.Exports, proof{Result: r, Root: strings.TrimPrefix(at.root.URI, "file://")})
		switch r.Class() {
		case contract.VerdictWrong:
			wrong++
		case contract.VerdictUnverified:
			unverified++
		}
	}
	if err := o.print(out, out.text); err != nil {
		return err
	}
	switch {
	case wrong > 0:
		return fault.New(fault.Integrity, "LAPSTRAKE_PROVE_FAILED", "%d of %d exports are not proven: what they hold contradicts itself", wrong, len(places))
	case unverified > 0:
		return fault.New(fault.Permanent, "LAPSTRAKE_PROVE_UNVERIFIED", "%d of %d exports are not proven: something that the proof needs is not there, or cannot be read", unverified, len(places))
	}
	return nil
}

// verdict is the one word that a reader looks for.
func verdict(proven bool) string {
	if proven {
		return "PROVEN"
	}
	return "NOT PROVEN"
}

func (p proofs) text(w io.Writer) {
	for _, e := range p.Exports {
		fmt.Fprintf(w, "%s: %s\n  root       %s\n", e.Export, verdict(e.Proven), e.Root)
		for _, r := range e.Runs {
			textOf(w, r)
		}
		switch {
		case e.Windows == 1:
			fmt.Fprintf(w, "  windows    1, from the beginning\n")
		case e.Windows > 1:
			fmt.Fprintf(w, "  windows    %d, one after another\n", e.Windows)
		}
		reasons(w, "  ", e.Findings)
	}
}

func textOf(w io.Writer, r prove.Run) {
	fmt.Fprintf(w, "  run        %s: %s\n", r.RunID, verdict(r.Proven))
	tasks := fmt.Sprintf("%d", r.Tasks)
	if len(r.Key) > 0 {
		tasks += " by " + strings.Join(r.Key, ", ")
	}
	if r.Superseded > 0 {
		tasks += fmt.Sprintf("; %d more were done again", r.Superseded)
	}
	if r.Consistency != "" {
		tasks += "; snapshots " + r.Consistency
	}
	fmt.Fprintf(w, "    tasks    %s\n    rows     %s in %d parts\n", tasks, grouped(r.Rows), r.Parts)
	if r.Window != nil && r.Window.To != nil {
		from := "the beginning"
		if r.Window.From != nil {
			from = *r.Window.From
		}
		fmt.Fprintf(w, "    window   %s from %s to %s\n", r.Window.Cursor, from, *r.Window.To)
	}
	reasons(w, "    ", r.Findings)
}

func reasons(w io.Writer, indent string, findings []prove.Finding) {
	for _, f := range findings {
		note := ""
		if f.Class == contract.VerdictNote {
			note = " (a note)"
		}
		fmt.Fprintf(w, "%s%s%s %s\n", indent, f.Code, note, f.Detail)
	}
}
