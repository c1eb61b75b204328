package destinationtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/lapstrake/lapstrake/shared/destination"
)

// OpenVia opens the bucket that it belongs to. before, if it is not nil, is
// called just before each request of the returned store: an HTTP request, a
// step on the file system, a call, whatever the driver is made of. Another
// store of the same bucket must be usable inside before.
type OpenVia func(t *testing.T, before func()) destination.Store

// RunInterleaved lets a rival finish a whole write just before the driver's
// first request, then just before its second, and so on. Whatever the driver
// does between its requests, exactly one of the two wins.
func RunInterleaved(t *testing.T, newBucket func(t *testing.T) OpenVia) {
	type write func(s destination.Store, key string, prev destination.Version, body string) error
	create := func(s destination.Store, key string, _ destination.Version, body string) error {
		_, err := s.Create(t.Context(), key, []byte(body), describe([]byte(body)))
		return err
	}
	replace := func(s destination.Store, key string, prev destination.Version, body string) error {
		_, err := s.Replace(t.Context(), key, prev, []byte(body), describe([]byte(body)))
		return err
	}
	for _, tc := range []struct {
		name        string
		there       string // what the key holds before; "" for nothing
		mine, rival write
		lost        error // what the driver returns when the rival was first
	}{
		{"create against create", "", create, create, destination.ErrExists},
		{"create against replace of nothing", "", create, replace, destination.ErrExists},
		{"replace of nothing against create", "", replace, create, destination.ErrMoved},
		{"replace against replace", "there", replace, replace, destination.ErrMoved},
	} {
		t.Run(tc.name, func(t *testing.T) {
			open := newBucket(t)
			for n := 1; ; n++ {
				key := fmt.Sprintf("contested-%d", n)
				prev, rival := destination.Absent, open(t, nil)
				if tc.there != "" {
					prev = put(t, rival, key, []byte(tc.there))
				}
				requests, rivalErr := 0, errors.New("did not run")
				driver := open(t, func() {
					if requests++; requests == n {
						rivalErr = tc.rival(rival, key, prev, "the rival's")
					}
				})
				requests = 0 // those of opening do not count
				err := tc.mine(driver, key, prev, "mine")
				if requests < n {
					if n == 1 {
						t.Fatal("no request was seen: the test tests nothing")
					}
					return
				}
				switch {
				case err == nil && rivalErr == nil:
					t.Errorf("request %d: both have won", n)
				case rivalErr == nil:
					wantCause(t, err, tc.lost)
					wantBody(t, rival, key, "the rival's")
				case err == nil:
					wantBody(t, rival, key, "mine")
				default:
					t.Errorf("request %d: neither has won: %v; rival: %v", n, err, rivalErr)
				}
			}
		})
	}
}
