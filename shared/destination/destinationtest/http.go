package destinationtest

import (
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/lapstrake/lapstrake/shared/destination"
)

// OpenThrough opens the bucket that it belongs to so that every request goes
// through the transport.
type OpenThrough func(t *testing.T, through http.RoundTripper) destination.Store

// Transport is an http.RoundTripper with a hook on each side.
type Transport struct {
	Base http.RoundTripper // nil is http.DefaultTransport
	// Before, if set, may answer in place of the server.
	Before func(*http.Request) (*http.Response, error)
	// After, if set, sees what the server answered and returns what the driver
	// is to see.
	After func(*http.Response) (*http.Response, error)
}

// RoundTrip implements [http.RoundTripper].
func (tr *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if tr.Before != nil {
		if resp, err := tr.Before(r); resp != nil || err != nil {
			return resp, err
		}
	}
	base := tr.Base
	if base == nil {
		base = http.DefaultTransport
	}
	resp, err := base.RoundTrip(r)
	if err != nil || tr.After == nil {
		return resp, err
	}
	return tr.After(resp)
}

// ViaHTTP makes an [OpenVia] for a driver that speaks HTTP.
func ViaHTTP(open OpenThrough) OpenVia {
	return func(t *testing.T, before func()) destination.Store {
		return open(t, &Transport{Before: func(*http.Request) (*http.Response, error) {
			if before != nil {
				before()
			}
			return nil, nil
		}})
	}
}

// RunLostAnswers performs writes whose answers get lost on the way back, and
// writes that get lost on the way there: the driver says ErrUndecided, and a
// read tells which it was (DST-06).
func RunLostAnswers(t *testing.T, newBucket func(t *testing.T) OpenThrough) {
	errLost := errors.New("connection reset by a test")
	loseAnswer := &Transport{After: func(r *http.Response) (*http.Response, error) {
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
		return nil, errLost
	}}
	loseRequest := &Transport{Before: func(*http.Request) (*http.Response, error) { return nil, errLost }}

	for _, tc := range []struct {
		name    string
		through http.RoundTripper
		lands   bool
	}{
		{"the answer is lost", loseAnswer, true},
		{"the request is lost", loseRequest, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, open := t.Context(), newBucket(t)
			plain, faulty := open(t, http.DefaultTransport), open(t, tc.through)
			body := []byte("mine")

			_, err := faulty.Create(ctx, "created", body, describe(body))
			wantCause(t, err, destination.ErrUndecided)
			_, err = plain.Create(ctx, "created", body, describe(body))
			if tc.lands {
				wantCause(t, err, destination.ErrExists)
			} else if err != nil {
				t.Errorf("create again: %v", err)
			}
			wantBody(t, plain, "created", "mine")

			v := put(t, plain, "replaced", []byte("before"))
			_, err = faulty.Replace(ctx, "replaced", v, body, describe(body))
			wantCause(t, err, destination.ErrUndecided)
			_, err = plain.Replace(ctx, "replaced", v, body, describe(body))
			if tc.lands {
				wantCause(t, err, destination.ErrMoved)
			} else if err != nil {
				t.Errorf("replace again: %v", err)
			}
			wantBody(t, plain, "replaced", "mine")
		})
	}
}
