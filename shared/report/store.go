package report

import (
	"context"
	"errors"
	"fmt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// storeTries is how often a report is written again that somebody else wrote
// at the same time.
const storeTries = 3

// Store makes the three reports of a run and writes them into its control
// folder below root. The last writer wins: a resumed run's report replaces that
// of its failure.
func Store(ctx context.Context, root destination.Store, in Input) error {
	s := New(in)
	for _, r := range []struct {
		ext, contentType string
		make             func() ([]byte, error)
	}{
		{"json", "application/json", s.JSON},
		{"md", "text/markdown; charset=utf-8", s.Markdown},
		{"html", "text/html; charset=utf-8", s.HTML},
	} {
		body, err := r.make()
		if err != nil {
			return err
		}
		meta := destination.Meta{ContentType: r.contentType, Fingerprint: contract.FingerprintOf(body), MD5: contract.MD5Base64(body)}
		if err := put(ctx, root, contract.SummaryKey(s.ExportName, s.RunID, r.ext), body, meta); err != nil {
			return fmt.Errorf("store the report of run %s: %w", s.RunID, err)
		}
	}
	return nil
}

func put(ctx context.Context, root destination.Store, key string, body []byte, meta destination.Meta) error {
	for try := 1; ; try++ {
		var prev destination.Version
		there, err := root.Head(ctx, key)
		switch {
		case err == nil:
			prev = there.Version
		case errors.Is(err, destination.ErrNotFound):
			prev = destination.Absent
		default:
			return err
		}
		_, err = root.Replace(ctx, key, prev, body, meta)
		again := errors.Is(err, destination.ErrMoved) || errors.Is(err, destination.ErrUndecided)
		if err == nil || !again || try == storeTries {
			return err
		}
	}
}
