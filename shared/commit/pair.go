package commit

import (
	"bytes"
	"context"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// pair is manifest.json and _SUCCESS of a prefix as they were captured: the
// versions that this run's own writes will replace (D3). Capture first, then
// read the fence, then write: whatever a newer owner has written by then has
// another version, so the write of a superseded run loses.
type pair struct {
	manifest, success captured
}

// is reports whether the pair is published: manifest, and the marker of it.
func (p pair) is(manifest []byte) bool {
	return bytes.Equal(p.manifest.body, manifest) && bytes.Equal(p.success.body, contract.SuccessBody(manifest))
}

// captured is an object as it was read.
type captured struct {
	body    []byte // nil when nothing is there
	version destination.Version
}

func capture(ctx context.Context, prefix destination.Store, name string) (captured, error) {
	body, v, err := read(ctx, prefix, name, contract.MaxManifestBytes)
	if err != nil {
		return captured{}, fmt.Errorf("capture %s: %w", name, err)
	}
	return captured{body: body, version: v}, nil
}

// become swaps what was captured for body. An object that was body already is
// left alone, so that a repeated publication wakes nobody.
func (c captured) become(ctx context.Context, prefix destination.Store, name string, body []byte) error {
	if c.body != nil && bytes.Equal(c.body, body) {
		return nil
	}
	if _, err := replace(ctx, prefix, name, c.version, body); err != nil {
		return fmt.Errorf("publish %s: %w", name, err)
	}
	return nil
}

// capturePair reads the versions. A manifest of another export in this prefix
// is refused: two exports would overwrite each other (MAN-13).
func capturePair(ctx context.Context, prefix destination.Store, export contract.ExportName) (pair, error) {
	manifest, err := capture(ctx, prefix, contract.ManifestName)
	if err != nil {
		return pair{}, err
	}
	if manifest.body != nil {
		if err := refuseForeign(manifest.body, export); err != nil {
			return pair{}, err
		}
	}
	success, err := capture(ctx, prefix, contract.SuccessName)
	if err != nil {
		return pair{}, err
	}
	return pair{manifest: manifest, success: success}, nil
}

// CheckPrefix refuses a prefix whose manifest belongs to another export, and
// returns the manifest that is there, or nil.
func CheckPrefix(ctx context.Context, prefix destination.Store, export contract.ExportName) (*contract.Manifest, error) {
	body, _, err := read(ctx, prefix, contract.ManifestName, contract.MaxManifestBytes)
	if err != nil || body == nil {
		return nil, err
	}
	if err := refuseForeign(body, export); err != nil {
		return nil, err
	}
	m, err := contract.DecodeManifest(body)
	if err != nil {
		return nil, fault.Wrap(err, fault.Refused, "LAPSTRAKE_DEST_MANIFEST_UNREADABLE", "export %q: the destination holds a %s that cannot be read; nothing was started", export, contract.ManifestName)
	}
	return &m, nil
}

func refuseForeign(body []byte, export contract.ExportName) error {
	m, err := contract.DecodeManifest(body)
	if err != nil {
		return nil // not ours to judge here: the swap on its version protects it
	}
	if m.ExportName != export {
		return fault.New(fault.Refused, "LAPSTRAKE_DEST_PREFIX_OF_OTHER_EXPORT",
			"export %q: the destination holds the manifest of export %q; nothing was published. Give each export a prefix of its own", export, m.ExportName)
	}
	return nil
}

// publish writes the manifest, then the marker (M2). ErrMoved in the chain
// means that a captured version is stale: capture and look at the fence again.
func (p pair) publish(ctx context.Context, prefix destination.Store, manifest []byte) error {
	if err := p.manifest.become(ctx, prefix, contract.ManifestName, manifest); err != nil {
		return err
	}
	return p.success.become(ctx, prefix, contract.SuccessName, contract.SuccessBody(manifest)) // M2: only after the manifest is readable
}
