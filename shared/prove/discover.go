package prove

import (
	"context"
	"errors"
	"path"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// discover finds the success sidecars of the export: those of the prefix that
// is known, and those of the prefixes that plans of other runs name.
func (p *prover) discover(ctx context.Context) {
	if p.o.Run != "" {
		p.discoverRun(ctx)
		return
	}
	p.scan(ctx, p.o.Prefix)
	folder := contract.RunsDir(p.o.Export)
	var tokens []string
	err := p.root.List(ctx, folder, func(o destination.Object) error {
		if token, file, _ := strings.Cut(strings.TrimPrefix(o.Key, folder), "/"); file == "plan.json" {
			tokens = append(tokens, token)
		}
		return nil
	})
	if err != nil {
		p.unanswered("list the runs of the export", err)
	}
	for _, token := range tokens {
		if p.settled[token] {
			continue // its sidecar was in a prefix that others share
		}
		if plan, ok := p.planAt(ctx, path.Join(folder, token, "plan.json")); ok {
			p.scan(ctx, plan.Prefix)
		}
	}
}

// discoverRun finds the sidecar of one run.
func (p *prover) discoverRun(ctx context.Context) {
	prefix := p.o.Prefix
	plan, _, err := commit.LoadPlan(ctx, p.root, p.o.Export, p.o.Run)
	switch {
	case err == nil:
		prefix = plan.Prefix
	case !errors.Is(err, destination.ErrNotFound):
		p.find(planUnreadable, "", "%v", err)
	}
	p.take(prefix, p.sidecars(ctx, prefix, []string{contract.SidecarName(p.o.Run)}))
}

func (p *prover) planAt(ctx context.Context, key string) (chunkplan.Plan, bool) {
	body, _, err := p.root.Get(ctx, key, chunkplan.MaxPlanBytes)
	if err != nil {
		p.unanswered("read a plan", err)
		return chunkplan.Plan{}, false
	}
	plan, err := chunkplan.Decode(body)
	if err != nil {
		p.find(planUnreadable, "", "%s, which says where the manifest of its run is, cannot be read: %v", key, err)
		return chunkplan.Plan{}, false
	}
	return plan, true
}

// scan reads the sidecars of a prefix, once.
func (p *prover) scan(ctx context.Context, prefix string) {
	if p.scanned[prefix] {
		return
	}
	p.scanned[prefix] = true
	var names []string
	err := p.root.List(ctx, prefix+sidecarStart, func(o destination.Object) error {
		if name := strings.TrimPrefix(o.Key, prefix); contract.IsSidecarName(name) && !strings.Contains(name, "/") {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		p.unanswered("list the manifests of "+shown(prefix), err)
	}
	p.take(prefix, p.sidecars(ctx, prefix, names))
}

// sidecarStart is what the names of sidecars begin with.
var sidecarStart = strings.TrimSuffix(contract.SidecarName(""), ".json")

// sidecar is what one name of a prefix holds.
type sidecar struct {
	name     string
	manifest contract.Manifest
	err      error
}

// sidecars reads the named ones. A name that holds nothing is left out.
func (p *prover) sidecars(ctx context.Context, prefix string, names []string) []sidecar {
	read := make([]sidecar, len(names))
	var g errgroup.Group
	g.SetLimit(p.o.Concurrency)
	for i, name := range names {
		g.Go(func() error {
			read[i].name = name
			body, _, err := p.root.Get(ctx, prefix+name, contract.MaxManifestBytes)
			if errors.Is(err, destination.ErrNotFound) {
				read[i].name = ""
				return nil
			}
			if err == nil {
				read[i].manifest, err = contract.DecodeManifest(body)
			}
			read[i].err = err
			return nil
		})
	}
	_ = g.Wait() // errors are kept with their sidecar
	return read
}

// take keeps the successes of the export.
func (p *prover) take(prefix string, read []sidecar) {
	for _, s := range read {
		var unanswered *destination.OpError
		switch {
		case s.name == "":
			continue
		case errors.As(s.err, &unanswered):
			p.unanswered("read a manifest", s.err)
			continue
		case s.err != nil:
			p.find(manifestUnreadable, "", "%s: %v", prefix+s.name, s.err)
			continue
		case s.manifest.ExportName != p.o.Export:
			continue
		}
		p.settled[strings.TrimSuffix(strings.TrimPrefix(s.name, sidecarStart), ".json")] = true
		if s.manifest.Status == contract.StatusSuccess {
			p.published = append(p.published, published{s.manifest, prefix, s.name})
		}
	}
}

// shown is how messages call a prefix.
func shown(prefix string) string {
	if prefix == "" {
		return "the root"
	}
	return prefix
}
