package s3

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lapstrake/lapstrake/shared/destination"
)

// Create implements [destination.Store].
func (b *bucket) Create(ctx context.Context, key string, body []byte, m destination.Meta) (destination.Version, error) {
	v, err := b.put(ctx, key, destination.Absent, body, m, b.send, destination.ErrExists)
	return v, b.failed("create", key, err)
}

// Replace implements [destination.Store].
func (b *bucket) Replace(ctx context.Context, key string, prev destination.Version, body []byte, m destination.Meta) (destination.Version, error) {
	v, err := b.put(ctx, key, prev, body, m, b.send, destination.ErrMoved)
	return v, b.failed("replace", key, err)
}

// put stores body if key is at prev, else it returns an error that is onLost.
func (b *bucket) put(ctx context.Context, key string, prev destination.Version, body []byte, m destination.Meta, sum checksum, onLost error) (destination.Version, error) {
	if err := destination.CheckKey(key); err != nil {
		return "", err
	}
	if err := m.Check(); err != nil {
		return "", err
	}
	value, err := sum.of(body, m)
	if err != nil {
		return "", err
	}
	return b.putChecked(ctx, key, prev, body, m, sum, value, onLost)
}

func (b *bucket) putChecked(ctx context.Context, key string, prev destination.Version, body []byte, m destination.Meta, sum checksum, value string, onLost error) (destination.Version, error) {
	in := &awss3.PutObjectInput{
		Bucket:        aws.String(b.name),
		Key:           aws.String(key),
		ContentLength: aws.Int64(int64(len(body))),
		Metadata:      maps.Clone(m.User),
	}
	if m.ContentType != "" {
		in.ContentType = aws.String(m.ContentType)
	}
	if prev == destination.Absent {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = aws.String(etag(prev))
	}
	sum.put(in, value, m)

	var out *awss3.PutObjectOutput
	a, unsure, err := b.write(ctx, len(body), func(ctx context.Context) (err error) {
		in.Body = bytes.NewReader(body)
		out, err = b.api.PutObject(ctx, in)
		return err
	})
	switch a {
	case done:
		if v := version(out.ETag); v != destination.Absent {
			return v, nil
		}
		return "", notKnown(errors.New("the store returned no ETag"))
	case lost:
		if unsure && errors.Is(onLost, destination.ErrMoved) {
			return "", notKnown(err) // ErrMoved would say that body is not there
		}
		return "", onLost
	case missing:
		if prev == destination.Absent { // no key was asked for
			return "", destination.ErrNoBucket
		}
		if unsure {
			return "", notKnown(err)
		}
		return "", onLost
	case undecided:
		return "", notKnown(err)
	}
	if sum != none && sum != b.trust && unknownToStore(err) {
		// A store that was not probed may refuse the header itself.
		return b.putChecked(ctx, key, prev, body, m, none, "", onLost)
	}
	return "", err
}

// version is an ETag as a version: without its quotes, which not every store
// writes everywhere.
func version(etag *string) destination.Version {
	return destination.Version(strings.Trim(aws.ToString(etag), `"`))
}

// etag is a version as a precondition.
func etag(v destination.Version) string { return `"` + string(v) + `"` }
