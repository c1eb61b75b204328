package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// validation is what validate prints, in the upstream's form (reference §6.1).
type validation struct {
	Exports  []validatedExport `json:"exports"`
	Warnings []string          `json:"warnings"`
	Errors   []string          `json:"errors"`
}

type validatedExport struct {
	ExportName     string                        `json:"export_name"`
	ResolvedPrefix string                        `json:"resolved_prefix"`
	Verification   contract.ManifestVerification `json:"verification"`
}

type validateOptions struct {
	*options
	depth, date, runID, prefix, output string
}

func validateCommand(base *options) *cobra.Command {
	o := &validateOptions{options: base}
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check that a prefix holds what its manifest promises",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.validate(cmd) },
	}
	cmd.Flags().StringVar(&o.depth, "depth", string(verify.Full), "light: manifest and marker; sample: and every object; full: and download every part")
	cmd.Flags().StringVar(&o.date, "date", "", "value of {date} in the destination, YYYY-MM-DD (default: today in UTC)")
	cmd.Flags().StringVar(&o.runID, "run-id", "", "value of {run_id} in the destination")
	cmd.Flags().StringVar(&o.prefix, "prefix", "", "validate this folder or s3:// prefix instead of a config's exports")
	cmd.Flags().StringVarP(&o.output, "output", "o", "", "write the JSON verdict to this file too")
	return cmd
}

func (o *validateOptions) validate(cmd *cobra.Command) error {
	depth, err := verify.ParseDepth(o.depth)
	if err != nil {
		return fault.Wrap(err, fault.Usage, "LAPSTRAKE_CLI_USAGE", "--depth")
	}
	targets, err := o.targets()
	if err != nil {
		return err
	}
	out := validation{Exports: []validatedExport{}, Warnings: []string{}, Errors: []string{}}
	wrong, unverified := 0, 0
	for _, t := range targets {
		r, err := t.verify(cmd.Context(), depth)
		if err != nil {
			return err
		}
		out.Exports = append(out.Exports, validatedExport{ExportName: t.name, ResolvedPrefix: t.shown, Verification: r.Verification})
		switch r.Verification.Class() {
		case contract.VerdictWrong:
			wrong++
		case contract.VerdictUnverified:
			unverified++
		}
	}
	if err := o.print(out, out.text); err != nil {
		return err
	}
	if o.output != "" {
		if err := o.store(out); err != nil {
			return err
		}
	}
	switch {
	case wrong > 0:
		return fault.New(fault.Integrity, "RIVET_VALIDATE_FAILED", "%d of %d prefixes do not hold what their manifest promises", wrong, len(targets))
	case unverified > 0:
		return fault.New(fault.Permanent, "RIVET_VALIDATE_UNVERIFIED", "%d of %d prefixes could not be verified", unverified, len(targets))
	}
	return nil
}

func (o *validateOptions) store(out validation) error {
	f, err := os.Create(o.output)
	if err != nil {
		return fault.Wrap(err, fault.Usage, "LAPSTRAKE_CLI_OUTPUT", "write the verdict to %s", o.output)
	}
	err = (&options{streams: streams{out: f}, json: true}).print(out, nil)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// target is one prefix to be validated.
type target struct {
	name, shown string
	root        wire.Location
	prefix      string
	options     verify.Options
}

func (o *validateOptions) targets() ([]target, error) {
	if o.prefix != "" {
		at, err := wiring.LocationOf(o.prefix)
		if err != nil {
			return nil, err
		}
		return []target{{name: o.prefix, shown: o.prefix, root: at, options: verify.Options{Required: true, Prefix: o.prefix}}}, nil
	}
	cfg, err := o.load()
	if err != nil {
		return nil, err
	}
	date := time.Time{}
	if o.date != "" {
		if date, err = time.Parse(time.DateOnly, o.date); err != nil {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_CLI_USAGE", "--date %q is not YYYY-MM-DD", o.date)
		}
	}
	var targets []target
	for _, e := range cfg.Exports {
		t, err := o.targetOf(e, date)
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return targets, nil
}

func (o *validateOptions) targetOf(e exportconfig.Export, date time.Time) (target, error) {
	if exportconfig.RunScoped(e.PrefixTemplate) && o.runID == "" {
		return target{}, fault.New(fault.Usage, "LAPSTRAKE_CLI_USAGE", "the destination of export %q contains {run_id}: say which run with --run-id", e.Name)
	}
	if date.IsZero() {
		date = wiring.Now()
	}
	prefix := exportconfig.ResolvePrefix(e.PrefixTemplate, contract.RunID(o.runID), date)
	shown := joinURI(strings.TrimPrefix(e.Destination.URI, "file://"), prefix)
	return target{
		name: e.Name, shown: strings.TrimSuffix(shown, "/"), root: e.Destination, prefix: prefix,
		options: verify.Options{VerifyContent: e.Verify == "content", Prefix: shown},
	}, nil
}

func (t target) verify(ctx context.Context, depth verify.Depth) (verify.Result, error) {
	root, err := wiring.ReadOnlyDestinations().Open(ctx, t.root)
	if err != nil {
		return verify.Result{}, err
	}
	t.options.Depth = depth
	return verify.Verify(ctx, destination.Prefixed(root, t.prefix), t.options)
}

func (v validation) text(w io.Writer) {
	for _, e := range v.Exports {
		r := e.Verification
		status := "FAILED"
		switch {
		case r.LegacyRun:
			status = "legacy_run"
		case !r.ManifestFound && !r.Passed && len(r.Failures) == 0:
			status = "NO MANIFEST"
		case r.Passed:
			status = "PASSED"
		}
		marker := "absent or inconsistent"
		if r.SuccessMarkerConsistent {
			marker = "consistent"
		}
		fmt.Fprintf(w, "%s: %s\n  prefix     %s\n  depth      %s\n  parts      %d verified (%d by content), %d failed\n  _SUCCESS   %s\n",
			e.ExportName, status, e.ResolvedPrefix, r.DepthLevel, r.PartsVerified, r.PartsMD5Verified, r.PartsFailed, marker)
		for _, f := range r.Failures {
			fmt.Fprintf(w, "  %s %s\n", f.Kind.Code(), describe(f))
		}
	}
}

// describe prints the facts of a finding on one line.
func describe(f contract.Failure) string {
	body, err := f.MarshalJSON()
	if err != nil {
		return string(f.Kind)
	}
	return string(body)
}
