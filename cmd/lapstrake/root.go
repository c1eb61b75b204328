package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// streams keeps results and everything else apart: the result goes to out, and
// nothing else does.
type streams struct{ out, err io.Writer }

// options are the flags of every verb.
type options struct {
	streams
	config  string
	exports []string
	params  []string
	state   string
	json    bool
	begun   bool // the command line was in order, and a verb is at work
	shown   bool // every error has been printed already
}

// execute does what the command line says, and prints its error.
func execute(ctx context.Context, s streams, args []string) error {
	o := &options{streams: s}
	cmd := root(o)
	cmd.SetArgs(args)
	err := interrupted(ctx, cmd.ExecuteContext(ctx))
	if !o.begun && fault.CodeOf(err) == "" {
		err = fault.Wrap(err, fault.Usage, "LAPSTRAKE_CLI_USAGE", "wrong command line")
	}
	if !o.shown {
		o.printError(err)
	}
	return err
}

func root(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use:           "lapstrake",
		Short:         "Extract tables into Parquet or CSV, with a manifest that a reader can trust",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.SetOut(o.out)
	cmd.SetErr(o.err)
	cmd.PersistentFlags().StringVarP(&o.config, "config", "c", "rivet.yaml", "config file")
	cmd.PersistentFlags().StringArrayVarP(&o.exports, "export", "e", nil, "only this export (repeatable)")
	cmd.PersistentFlags().StringArrayVarP(&o.params, "param", "p", nil, "a value for ${NAME} in the config, as NAME=value (repeatable)")
	cmd.PersistentFlags().StringVar(&o.state, "state", "", "state table: a file, or dynamodb://TABLE (default <config folder>/.lapstrake/state.db)")
	cmd.PersistentFlags().BoolVar(&o.json, "json", false, "print the result, and errors, as JSON")
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return fault.Wrap(err, fault.Usage, "LAPSTRAKE_CLI_USAGE", "wrong flag")
	})
	for _, verb := range []*cobra.Command{runCommand(o), resumeCommand(o), repairCommand(o), planCommand(o), validateCommand(o), proveCommand(o), statusCommand(o), redriveCommand(o), versionCommand(o)} {
		inner := verb.RunE
		verb.RunE = func(c *cobra.Command, args []string) error {
			o.begun = true
			return inner(c, args)
		}
		cmd.AddCommand(verb)
	}
	return cmd
}

// printError is the one place where an error reaches a person: redacted, with
// its code, as text or as one line of JSON (reference §2).
func (o *options) printError(err error) {
	if err == nil {
		return
	}
	message, code := telemetry.Redact(err.Error()), fault.CodeOf(err)
	if o.json {
		_ = json.NewEncoder(o.err).Encode(struct {
			Error     string     `json:"error"`
			ExitClass int        `json:"exit_class"`
			Code      fault.Code `json:"code,omitempty"`
		}{message, fault.ExitCode(err), code})
		return
	}
	if code != "" {
		message = fmt.Sprintf("[%s] %s", code, message)
	}
	fmt.Fprintln(o.err, "Error: "+message)
}

// load reads the config and keeps the exports that were asked for, all of them
// by default. Problems of other exports are no reason to stop.
func (o *options) load() (exportconfig.Config, error) {
	params := make(map[string]string, len(o.params))
	for _, p := range o.params {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			return exportconfig.Config{}, fault.New(fault.Usage, "LAPSTRAKE_CLI_USAGE", "--param %q is not NAME=value", name)
		}
		params[name] = value
	}
	cfg, err := wiring.LoadConfigFile(o.config, params)
	if len(o.exports) > 0 {
		err = exportconfig.Concerning(err, o.exports...)
	}
	if err != nil {
		return cfg, err
	}
	if len(o.exports) == 0 {
		return cfg, nil
	}
	var unknown []string
	for _, name := range o.exports {
		if !slices.ContainsFunc(cfg.Exports, func(e exportconfig.Export) bool { return e.Name == name }) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return cfg, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_EXPORT_UNKNOWN", "%s has no export %s", o.config, strings.Join(unknown, ", "))
	}
	cfg.Exports = slices.DeleteFunc(cfg.Exports, func(e exportconfig.Export) bool { return !slices.Contains(o.exports, e.Name) })
	return cfg, nil
}

// open opens the state table and puts the parts of the embedded runtime
// together. close lets go of the table.
func (o *options) open(cmd *cobra.Command, cfg exportconfig.Config) (local *wiring.Local, close func() error, err error) {
	state := o.state
	if state == "" {
		dir := cfg.Dir
		if dir == "" {
			dir = filepath.Dir(o.config)
		}
		state = filepath.Join(dir, ".lapstrake", "state.db")
	}
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return wiring.OpenLocal(cmd.Context(), cfg, wiring.LocalOptions{State: state, Log: o.logger(), Worker: fmt.Sprintf("%s/%d", host, os.Getpid())})
}

// openWithoutState is open for verbs that write nothing.
func (o *options) openWithoutState(cmd *cobra.Command, cfg exportconfig.Config) (*wiring.Local, func() error, error) {
	return wiring.OpenLocal(cmd.Context(), cfg, wiring.LocalOptions{Log: o.logger()})
}

// print writes v as one JSON document, or text.
func (o *options) print(v any, text func(io.Writer)) error {
	if !o.json {
		text(o.out)
		return nil
	}
	e := json.NewEncoder(o.out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fault.New(fault.Usage, "LAPSTRAKE_CLI_USAGE", "unexpected argument %q", args[0])
	}
	return nil
}

// isTerminal reports whether w is one.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
