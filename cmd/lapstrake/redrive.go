package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// redriven is what redrive prints.
type redriven struct {
	Queues []wiring.Redriven `json:"queues"`
	DryRun bool              `json:"dry_run"`
}

type redriveOptions struct {
	*options
	run    string
	dryRun bool
}

func redriveCommand(base *options) *cobra.Command {
	o := &redriveOptions{options: base}
	cmd := &cobra.Command{
		Use:   "redrive [QUEUE]...",
		Short: "Move the dead letters of a deployment back to their queues",
		Long: "Moves the messages that the functions gave up back to the queue that each came from; without a name, of every queue.\n" +
			"LAPSTRAKE_QUEUE_URLS has the queues, as the functions have them. Resume a run that has failed before its messages are\n" +
			"moved: those of an older generation are dropped by the functions. Moving a message twice is harmless.",
		RunE: func(cmd *cobra.Command, args []string) error { return o.redrive(cmd, args) },
	}
	cmd.Flags().StringVar(&o.run, "run-id", "", "only the messages of this run")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show what the dead letters belong to, and move none")
	return cmd
}

func (o *redriveOptions) redrive(cmd *cobra.Command, queues []string) error {
	letters, err := wiring.OpenDeadLetters(cmd.Context(), os.LookupEnv)
	if err != nil {
		return err
	}
	if len(queues) == 0 {
		queues = letters.Queues()
	}
	out := redriven{Queues: []wiring.Redriven{}, DryRun: o.dryRun}
	for _, queue := range queues {
		var done wiring.Redriven
		done, err = letters.Redrive(cmd.Context(), queue, func(run contract.RunID) bool {
			return !o.dryRun && (o.run == "" || o.run == string(run))
		})
		out.Queues = append(out.Queues, done)
		if err != nil {
			break // what was moved before is said all the same
		}
	}
	if printErr := o.print(out, out.text); err == nil {
		err = printErr
	}
	return err
}

func (r redriven) text(w io.Writer) {
	for _, q := range r.Queues {
		fmt.Fprintf(w, "%s: %d moved, %d kept\n", q.Queue, q.Moved, q.Kept)
		for _, run := range q.Runs {
			switch run.RunID {
			case "":
				fmt.Fprintf(w, "  %d of no run\n", run.Messages)
			default:
				fmt.Fprintf(w, "  %d of run %s at generation %d\n", run.Messages, run.RunID, run.Generation)
			}
		}
	}
}
