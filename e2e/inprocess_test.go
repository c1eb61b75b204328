package e2e

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/wire"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// inProcess opens what the command opens for a config, for a test that looks in
// between.
func inProcess(t *testing.T, d *desk, config string) *wiring.Local {
	t.Helper()
	cfg, err := wiring.LoadConfigFile(d.write(t, "rivet.yaml", config), nil)
	if err != nil {
		t.Fatal(err)
	}
	local, done, err := wiring.OpenLocal(t.Context(), cfg, wiring.LocalOptions{
		State: filepath.Join(d.dir, "state.db"), Log: slog.New(slog.DiscardHandler), Worker: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = done() })
	return local
}

// runExport runs an export now, and returns its run.
func runExport(t *testing.T, local *wiring.Local, e exportconfig.Export, workers int) (contract.RunID, error) {
	t.Helper()
	now := contract.NewTime(local.Clock.Now().Truncate(time.Millisecond))
	name := contract.ExportName(e.Name)
	run, err := local.Run(t.Context(), wire.Trigger{
		Version: wire.Version, Action: wire.ActionRun, Export: name, ConfigURI: "rivet.yaml",
		ScheduledTime: &now, RunID: contract.NewRunID(name, now.Time), TriggerID: local.IDs.NewID(),
	}, workers)
	return run.RunID, err
}
