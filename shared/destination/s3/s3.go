// Package s3 is a destination in a bucket of Amazon S3 or of a store that
// speaks its protocol. Layer: L2 (execution).
//
// Every object is one PUT with a precondition: If-None-Match or If-Match. The
// client library repeats nothing by itself, because a repeated conditional
// write may meet its own first success (DST-06); what may be repeated is
// decided in this package, and what nobody knows is ErrUndecided.
//
// A role needs s3:PutObject and s3:GetObject on its keys and s3:ListBucket on
// the bucket, without which a missing key looks like a forbidden one; Move also
// needs s3:DeleteObject. Only a role that opens with Options.ProbeIn needs more
// keys for that.
//
// A version is the object's ETag without its quotes. It is opaque here: no ETag
// is ever taken for an MD5 (DST-01).
package s3

import (
	"net/http"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// Options is what a location does not say. Clock and IDs must be set.
type Options struct {
	Clock clock.Clock
	IDs   contract.IDSource

	// ProbeIn is a folder below the location, such as "_lapstrake/". If it is
	// set, Open writes an object named probe into it to find out what the store
	// does, and fails with ErrUnsafe if it ignores preconditions. The planner
	// opens a destination this way, before anything relies on it.
	ProbeIn string
	// StoreChecksum is what an earlier probe found, for those that open without
	// one of their own, as they may not write where the probe does. If it is
	// empty, Amazon S3 is taken to verify "xxh3", and any other store nothing.
	StoreChecksum string

	// Transport sends the requests; nil is a pool of connections of the store's
	// own, with time limits.
	Transport http.RoundTripper
}

// bucket is a store of whole buckets: keys are the bucket's keys.
type bucket struct {
	api    *awss3.Client
	name   string
	uri    string
	clock  clock.Clock
	ids    contract.IDSource
	forget func() // drops cached credentials

	// send is the checksum that goes with every write, trust the one that is
	// believed when the store returns it. They differ for a store that has not
	// been probed.
	send, trust checksum
	// seen is true once the store has answered as only an existing bucket does.
	seen atomic.Bool
}

var _ destination.Store = (*bucket)(nil)

// Capabilities implements [destination.Store]. ETags are made from content
// (with SSE-KMS they are not, but nothing may rely on that).
func (b *bucket) Capabilities() destination.Capabilities {
	return destination.Capabilities{CommitProtocol: "FinalizeOnClose", StoreChecksum: string(b.trust), KeepsMeta: true}
}

func (b *bucket) failed(op, key string, err error) error {
	if err == nil {
		return nil
	}
	return &destination.OpError{Op: op, Store: b.uri, Key: key, Err: err}
}

// noCredentials is for a bucket without cached credentials.
func noCredentials() {}

// forgetter returns what drops the credentials that p has cached.
func forgetter(p aws.CredentialsProvider) func() {
	if cache, ok := p.(*aws.CredentialsCache); ok {
		return cache.Invalidate
	}
	return noCredentials
}
