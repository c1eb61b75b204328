package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lapstrake/lapstrake/shared/destination"
)

// Move implements [destination.Store]: copy, look at the copy, delete. Stores
// differ in the preconditions that they know for the two writes, so each is
// also looked at just before.
func (b *bucket) Move(ctx context.Context, from, to string, prev destination.Version) error {
	for _, key := range []string{from, to} {
		if err := destination.CheckKey(key); err != nil {
			return b.failed("move", key, err)
		}
	}
	source, err := b.at(ctx, from, prev)
	if err != nil {
		return b.failed("move", from, err)
	}
	if from == to {
		return b.failed("move", to, destination.ErrExists)
	}
	there, _, err := b.head(ctx, to)
	switch {
	case err == nil && !equal(source, there):
		return b.failed("move", to, destination.ErrExists)
	case errors.Is(err, destination.ErrNotFound):
		if err := b.copy(ctx, source, to); err != nil {
			return b.failed("move", to, err)
		}
	case err != nil:
		return b.failed("move", to, err)
	}
	return b.failed("move", from, b.remove(ctx, from, prev))
}

// at returns the object at key if it is at prev.
func (b *bucket) at(ctx context.Context, key string, prev destination.Version) (destination.Object, error) {
	o, _, err := b.head(ctx, key)
	if err == nil && o.Version != prev {
		err = destination.ErrMoved
	}
	return o, err
}

// equal reports whether the store vouches for two objects' having the same
// bytes.
func equal(a, b destination.Object) bool {
	switch {
	case a.Size != b.Size:
		return false
	case a.Fingerprint != "" && b.Fingerprint != "":
		return a.Fingerprint == b.Fingerprint
	}
	return a.MD5 != "" && a.MD5 == b.MD5
}

func (b *bucket) copy(ctx context.Context, source destination.Object, to string) error {
	in := &awss3.CopyObjectInput{
		Bucket:            aws.String(b.name),
		Key:               aws.String(to),
		CopySource:        aws.String(b.name + "/" + escape(source.Key)),
		CopySourceIfMatch: aws.String(etag(source.Version)),
		IfNoneMatch:       aws.String("*"),
	}
	send := func(ctx context.Context) error {
		_, err := b.api.CopyObject(ctx, in)
		return err
	}
	a, _, err := b.write(ctx, int(source.Size), send)
	if a == refused && errors.Is(err, destination.ErrNotSupported) {
		in.IfNoneMatch = nil // nothing was there a moment ago
		a, _, err = b.write(ctx, int(source.Size), send)
	}
	switch a {
	case done:
	case lost: // which of the two?
		if _, err := b.at(ctx, source.Key, source.Version); err != nil {
			return err
		}
		if there, _, err := b.head(ctx, to); err != nil || !equal(source, there) {
			return errors.Join(destination.ErrExists, err)
		}
		return nil // an earlier attempt's copy
	case undecided:
		return notKnown(err)
	default:
		return err
	}
	copied, _, err := b.head(ctx, to)
	if err != nil {
		return fmt.Errorf("look at the copy: %w", err)
	}
	if copied.Size != source.Size || copied.Fingerprint != "" && source.Fingerprint != "" && !equal(copied, source) {
		return fmt.Errorf("%w: the copy has %d bytes and fingerprint %q, not %d and %q; nothing was deleted",
			destination.ErrCorrupted, copied.Size, copied.Fingerprint, source.Size, source.Fingerprint)
	}
	return nil
}

func (b *bucket) remove(ctx context.Context, key string, prev destination.Version) error {
	in := &awss3.DeleteObjectInput{Bucket: aws.String(b.name), Key: aws.String(key), IfMatch: aws.String(etag(prev))}
	send := func(ctx context.Context) error {
		_, err := b.api.DeleteObject(ctx, in)
		return err
	}
	a, _, err := b.write(ctx, 0, send)
	if a == refused && errors.Is(err, destination.ErrNotSupported) {
		if _, err := b.at(ctx, key, prev); err != nil {
			return err
		}
		in.IfMatch = nil
		a, _, err = b.write(ctx, 0, send)
	}
	switch a {
	case done, missing: // gone, by this call or an earlier attempt of it
		return nil
	case lost:
		return destination.ErrMoved
	case undecided:
		return notKnown(err)
	}
	return err
}

// escape encodes a key for a header that is a URL's path.
func escape(key string) string {
	escaped := strings.ReplaceAll(url.QueryEscape(key), "+", "%20")
	return strings.ReplaceAll(escaped, "%2F", "/")
}
