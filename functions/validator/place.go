package validator

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/verify"
)

// place is where the verdict on one manifest belongs.
type place struct {
	// ours is true when the root has the fence of the manifest's export. Only
	// then is anything written: a verdict in a folder without a fence would
	// look like the history of an export whose cursor was lost.
	ours   bool
	root   destination.Store
	key    string // of the verdict, below root
	prefix string // of the data, below root
	fence  commit.Held
	// content is true when the run's plan says verify: content.
	content bool
	// refusal says what is wrong with the manifest's own statement, if it is.
	refusal string
}

// locate finds the root by the manifest's control path.
func (h *handler) locate(ctx context.Context, r verify.Result) (place, error) {
	m := r.Manifest
	if m.RunID == "" || m.Control == "" {
		return place{prefix: h.prefix}, nil
	}
	folder, err := rootOf(h.prefix, m.Control)
	if err != nil {
		return place{prefix: h.prefix, refusal: err.Error()}, nil
	}
	p := place{
		root: destination.Prefixed(h.bucket, folder), prefix: strings.TrimPrefix(strings.TrimPrefix(h.prefix, folder), "/"),
		key: contract.VerdictKey(m.ExportName, m.RunID, r.Fingerprint),
	}
	if !isVerdictKey(p.key) {
		p.refusal = fmt.Sprintf("run_id %q and export_name %q cannot name a folder", m.RunID, m.ExportName)
		return p, nil
	}
	p.fence, err = commit.Fence{Root: p.root, Export: m.ExportName}.Read(ctx)
	switch {
	case err != nil && fault.Retry(err):
		return place{}, err
	case err != nil:
		h.log.Warn("the fence cannot be read: the verdict will not be stored", "error", err)
		return p, nil
	case p.fence.Absent():
		return p, nil
	}
	p.ours = true
	plan, _, err := commit.LoadPlan(ctx, p.root, m.ExportName, m.RunID)
	var unanswered *destination.OpError
	switch {
	case err == nil:
		p.content = plan.Export.Verify == "content"
	case errors.Is(err, destination.ErrNotFound):
	case errors.As(err, &unanswered):
		return place{}, err
	default:
		h.log.Warn("the plan cannot be read: sizes are enough", "run_id", m.RunID, "error", err)
	}
	return p, nil
}

// judged reports whether the manifest has its verdict.
func (p place) judged(ctx context.Context) (bool, error) {
	if !p.ours {
		return false, nil
	}
	_, err := p.root.Head(ctx, p.key)
	if errors.Is(err, destination.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// store writes the verdict if the manifest has none; stored is false when it
// has. A lost answer is asked for by reading the key: whosever verdict is
// there, it is on the same bytes.
func (p place) store(ctx context.Context, d verify.Document) (stored bool, err error) {
	body, err := d.Encode()
	if err != nil {
		return false, err
	}
	_, err = p.root.Create(ctx, p.key, body, destination.Meta{
		ContentType: "application/json", Fingerprint: contract.FingerprintOf(body), MD5: contract.MD5Base64(body),
	})
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, destination.ErrExists):
		return false, nil
	case errors.Is(err, destination.ErrUndecided):
		there, _, getErr := p.root.Get(ctx, p.key, verify.MaxDocumentBytes)
		if getErr != nil {
			return false, errors.Join(err, getErr)
		}
		return string(there) == string(body), nil
	}
	return false, fmt.Errorf("store the verdict on run %s: %w", d.RunID, err)
}

// rootOf follows control, the relative path from a prefix to its root, inside
// the bucket. The root is the prefix or a folder around it: any other path, and
// one that leaves the bucket, is refused.
func rootOf(prefix, control string) (string, error) {
	folders := strings.Split(strings.TrimSuffix(prefix, "/"), "/")
	if prefix == "" {
		folders = nil
	}
	up, ok := contract.ControlFolders(control)
	switch {
	case !ok:
		return "", fmt.Errorf("control %.80q does not lead from the prefix to a folder around it", control)
	case up > len(folders):
		return "", fmt.Errorf("control %.80q leaves the bucket from a prefix %d folders deep", control, len(folders))
	}
	return strings.Join(folders[:len(folders)-up], "/"), nil
}

// isVerdictKey reports whether a verdict's key is where verdicts are: names of
// dots alone would lead it elsewhere.
func isVerdictKey(key string) bool {
	return strings.HasPrefix(key, contract.ControlDir+"/") && strings.Count(key, "/") == 4 && strings.Contains(key, "/runs/")
}

// parsePrefix returns a prefix that is "" or ends in a slash, and stays below
// the bucket.
func parsePrefix(s string) (string, error) {
	s = strings.TrimSuffix(s, "/")
	if s == "" {
		return "", nil
	}
	if err := destination.CheckKey(s); err != nil {
		return "", fault.Wrap(err, fault.Permanent, "LAPSTRAKE_VALIDATE_PREFIX_INVALID", "prefix %.80q cannot be one of a bucket", s)
	}
	return s + "/", nil
}

// inControlFolder reports whether a marker in prefix is not one of published
// data: a quarantined one, or an object among control objects (QUE-19).
func inControlFolder(prefix string) bool {
	quarantine, _, _ := strings.Cut(contract.QuarantineName("run", "name"), "/")
	for folder := range strings.SplitSeq(prefix, "/") {
		if folder == contract.ControlDir || folder == quarantine {
			return true
		}
	}
	return false
}

func joinURI(root, prefix string) string {
	return strings.TrimSuffix(root, "/") + "/" + prefix
}
