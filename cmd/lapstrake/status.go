package main

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// runStatus is one run as status shows it.
type runStatus struct {
	runstate.Run
	Chunks map[runstate.ChunkStatus]int `json:"chunks"`
}

func statusCommand(o *options) *cobra.Command {
	limit := 5
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the last runs of the exports",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.status(cmd, limit) },
	}
	cmd.Flags().IntVarP(&limit, "limit", "l", limit, "runs an export")
	return cmd
}

func (o *options) status(cmd *cobra.Command, limit int) error {
	cfg, err := o.load()
	if err != nil {
		return err
	}
	local, done, err := o.open(cmd, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = done() }()
	all := []runStatus{}
	standings := make([]wiring.Standing, len(cfg.Exports)) // empty in modes that keep no position
	for i, e := range cfg.Exports {
		if e.KeepsPosition() {
			if standings[i], err = local.Standing(cmd.Context(), e); err != nil {
				return err
			}
		}
		if old := standings[i].Old; old != nil && o.json {
			o.logger().Warn(old.Error(), "export", e.Name, "code", fault.CodeOf(old))
		}
		runs, err := local.State.ListRuns(cmd.Context(), contract.ExportName(e.Name), limit)
		if err != nil {
			return err
		}
		for _, r := range runs {
			s := runStatus{Run: r, Chunks: make(map[runstate.ChunkStatus]int)}
			chunks, err := dispatch.AllChunks(cmd.Context(), local.State, r)
			if err != nil && !errors.Is(err, runstate.ErrNotFound) {
				return err
			}
			for _, c := range chunks {
				if c.Live() {
					s.Chunks[c.Status]++
				}
			}
			all = append(all, s)
		}
	}
	return o.print(all, func(w io.Writer) {
		if len(all) == 0 {
			fmt.Fprintln(w, "no runs yet")
		}
		for _, s := range all {
			printStatus(w, s)
		}
		for i, s := range standings {
			if p := s.Position; p != nil {
				fmt.Fprintf(w, "%s  position %s = %s, %d keys delivered at it\n", cfg.Exports[i].Name, p.Cursor(), p.Value, len(p.DeliveredKeys))
			}
			if s.Old != nil {
				fmt.Fprintf(w, "  warning %s: %v\n", fault.CodeOf(s.Old), s.Old)
			}
		}
	})
}

func printStatus(w io.Writer, s runStatus) {
	fmt.Fprintf(w, "%s  %s  gen %d  %d of %d chunks", s.RunID, s.Status, s.Gen, s.Chunks[runstate.ChunkCompleted], total(s.Chunks))
	if s.Outcome != nil {
		fmt.Fprintf(w, "  %s rows in %d parts", grouped(s.Outcome.Rows), s.Outcome.Parts)
	}
	if s.Verdict != "" {
		fmt.Fprintf(w, "  %s", s.Verdict)
	}
	if !s.FinishedAt.IsZero() {
		fmt.Fprintf(w, "  %s", s.FinishedAt.Sub(s.CreatedAt).Round(time.Millisecond))
	}
	fmt.Fprintln(w)
	if s.Error != nil && s.Status != runstate.RunSucceeded {
		fmt.Fprintf(w, "  [%s] %s\n", s.Error.Code, s.Error.Message)
	}
}

func total(chunks map[runstate.ChunkStatus]int) int {
	n := 0
	for _, c := range chunks {
		n += c
	}
	return n
}

// version is set by the linker in releases.
var version = ""

func versionCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go,omitempty"`
			}{Version: version}
			if info, ok := debug.ReadBuildInfo(); ok {
				v.Go = info.GoVersion
				if v.Version == "" {
					v.Version = info.Main.Version
				}
			}
			return o.print(v, func(w io.Writer) { fmt.Fprintf(w, "lapstrake %s (%s)\n", v.Version, v.Go) })
		},
	}
}
