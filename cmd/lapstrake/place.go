package main

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// place is an export and where its runs are.
type place struct {
	export contract.ExportName
	root   wire.Location
	prefix string
}

// places are what is to be proven: the export or exports of a prefix, or those
// of the config, of which a run id names one.
func (o *proveOptions) places(cmd *cobra.Command, args []string) ([]place, error) {
	if len(args) == 1 {
		if strings.Contains(args[0], "/") {
			return placesAt(cmd.Context(), args[0])
		}
		if o.runID != "" && o.runID != args[0] {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_CLI_USAGE", "--run-id %s and run %s are two runs", o.runID, args[0])
		}
		o.runID = args[0]
	}
	cfg, err := o.load()
	if err != nil {
		return nil, err
	}
	if o.runID != "" {
		cfg.Exports = slices.DeleteFunc(cfg.Exports, func(e exportconfig.Export) bool { return !strings.HasPrefix(o.runID, e.Name+"_") })
		if len(cfg.Exports) == 0 {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_CLI_USAGE", "run id %q begins with the name of no export of %s; a folder is written with a slash", o.runID, o.config)
		}
		longest := slices.MaxFunc(cfg.Exports, func(a, b exportconfig.Export) int { return len(a.Name) - len(b.Name) })
		cfg.Exports = []exportconfig.Export{longest}
	}
	var places []place
	for _, e := range cfg.Exports {
		at := place{export: contract.ExportName(e.Name), root: e.Destination}
		if exportconfig.ResolvePrefix(e.PrefixTemplate, "", time.Time{}) == e.PrefixTemplate { // the same for every run
			at.prefix = asFolder(e.PrefixTemplate)
		}
		places = append(places, at)
	}
	return places, nil
}

// asFolder ends a prefix with a slash, unless it is empty.
func asFolder(prefix string) string {
	if prefix == "" {
		return ""
	}
	return strings.TrimSuffix(prefix, "/") + "/"
}

// placesAt finds what is at a folder or s3:// prefix: a prefix with manifests,
// which lead to their root, or a root.
func placesAt(ctx context.Context, s string) ([]place, error) {
	at, err := wiring.LocationOf(s)
	if err != nil {
		return nil, err
	}
	store, err := wiring.ReadOnlyDestinations().Open(ctx, at)
	if err != nil {
		return nil, err
	}
	m, err := anyManifest(ctx, store)
	if err != nil {
		return nil, err
	}
	if m.RunID == "" {
		places, err := rootedAt(ctx, store, at)
		if err == nil && len(places) == 0 {
			err = fault.New(fault.Integrity, "LAPSTRAKE_PROVE_NO_MANIFEST", "%s holds neither a manifest nor the control folder of an export", s)
		}
		return places, err
	}
	root, prefix, err := above(at, m.Control)
	if err != nil {
		return nil, err
	}
	return []place{{m.ExportName, root, prefix}}, nil
}

// anyManifest returns a manifest of a prefix whose control folder is known: all
// of them are of one export. Its run id is empty if there is none.
func anyManifest(ctx context.Context, store destination.Store) (contract.Manifest, error) {
	names := []string{contract.ManifestName}
	err := store.List(ctx, "manifest-", func(o destination.Object) error {
		if contract.IsSidecarName(o.Key) && !strings.Contains(o.Key, "/") {
			names = append(names, o.Key)
		}
		return nil
	})
	if err != nil {
		return contract.Manifest{}, err
	}
	var found contract.Manifest
	for _, name := range names {
		body, _, err := store.Get(ctx, name, contract.MaxManifestBytes)
		switch {
		case errors.Is(err, destination.ErrNotFound):
			continue
		case err != nil:
			return contract.Manifest{}, err
		}
		if m, err := contract.DecodeManifest(body); err == nil && m.RunID != "" {
			if found = m; m.Control != "" {
				break // one of another writer does not say where its root is
			}
		}
	}
	return found, nil
}

// rootedAt returns the exports whose control folders are in a root.
func rootedAt(ctx context.Context, store destination.Store, at wire.Location) ([]place, error) {
	var keys []string
	err := store.List(ctx, contract.ControlDir+"/", func(o destination.Object) error {
		if path.Base(o.Key) == "cursor.json" {
			keys = append(keys, o.Key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var places []place
	for _, key := range keys {
		body, _, err := store.Get(ctx, key, contract.MaxCursorBytes)
		if err != nil {
			return nil, err
		}
		doc, err := contract.DecodeCursor(body)
		if err != nil {
			return nil, err
		}
		places = append(places, place{export: doc.Export, root: at})
	}
	return places, nil
}

// above follows control, the relative path from a prefix to its root. No control
// is the prefix itself.
func above(at wire.Location, control string) (root wire.Location, prefix string, err error) {
	scheme, rest, _ := strings.Cut(at.URI, "://")
	folders := strings.Split(rest, "/")
	up, ok := 0, true
	if control != "" {
		up, ok = contract.ControlFolders(control)
	}
	if !ok {
		return at, "", fault.New(fault.Integrity, "LAPSTRAKE_PROVE_MANIFEST_INCONSISTENT", "control %.80q of the manifest does not lead to a folder around it", control)
	}
	if up >= len(folders) {
		return at, "", fault.New(fault.Integrity, "LAPSTRAKE_PROVE_MANIFEST_INCONSISTENT", "control %.80q of the manifest leads out of %s", control, at.URI)
	}
	cut := len(folders) - up
	root = at
	root.URI = scheme + "://" + strings.Join(folders[:cut], "/")
	return root, asFolder(strings.Join(folders[cut:], "/")), nil
}
