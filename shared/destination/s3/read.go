package s3

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// Get implements [destination.Store]. Where the store returns the fingerprint
// of the object, the body is checked against it.
func (b *bucket) Get(ctx context.Context, key string, limit int64) ([]byte, destination.Version, error) {
	body, v, err := b.get(ctx, key, limit)
	if err != nil {
		return nil, "", b.failed("get", key, err)
	}
	return body, v, nil
}

func (b *bucket) get(ctx context.Context, key string, limit int64) (body []byte, v destination.Version, err error) {
	if err := destination.CheckKey(key); err != nil {
		return nil, "", err
	}
	tooLarge := false
	_, err = b.read(ctx, func(ctx context.Context) error {
		out, err := b.api.GetObject(ctx, &awss3.GetObjectInput{
			Bucket: aws.String(b.name), Key: aws.String(key), ChecksumMode: types.ChecksumModeEnabled,
		})
		if err != nil {
			return err
		}
		defer out.Body.Close()
		if tooLarge = aws.ToInt64(out.ContentLength) > limit; tooLarge {
			return nil
		}
		buf := bytes.NewBuffer(make([]byte, 0, max(aws.ToInt64(out.ContentLength), 0)+bytes.MinRead))
		if _, err = buf.ReadFrom(io.LimitReader(out.Body, min(limit, math.MaxInt64-1)+1)); err != nil {
			return passing{err} // it ended early
		}
		body = buf.Bytes()
		tooLarge = int64(len(body)) > limit
		v = version(out.ETag)
		if f := fingerprint(aws.ToString(out.ChecksumXXHASH3)); f != "" && !tooLarge && f != contract.FingerprintOf(body) {
			return passing{fmt.Errorf("%w: the body that came has another fingerprint than %s", destination.ErrCorrupted, f)}
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, "", err
	case tooLarge:
		return nil, "", fmt.Errorf("%w: more than %d bytes", destination.ErrTooLarge, limit)
	case v == destination.Absent:
		return nil, "", fmt.Errorf("%w: the store returned no ETag", destination.ErrNotSupported)
	}
	return body, v, nil
}

// Head implements [destination.Store]. For an object with SSE-KMS the role
// needs kms:Decrypt, as for reading it.
func (b *bucket) Head(ctx context.Context, key string) (destination.Object, error) {
	o, _, err := b.head(ctx, key)
	return o, b.failed("head", key, err)
}

func (b *bucket) head(ctx context.Context, key string) (destination.Object, *awss3.HeadObjectOutput, error) {
	if err := destination.CheckKey(key); err != nil {
		return destination.Object{}, nil, err
	}
	var out *awss3.HeadObjectOutput
	a, err := b.read(ctx, func(ctx context.Context) (err error) {
		out, err = b.api.HeadObject(ctx, &awss3.HeadObjectInput{
			Bucket: aws.String(b.name), Key: aws.String(key), ChecksumMode: types.ChecksumModeEnabled,
		})
		return err
	})
	switch {
	case a == missing && !b.exists(ctx):
		return destination.Object{}, nil, destination.ErrNoBucket
	case a == missing:
		return destination.Object{}, nil, destination.ErrNotFound
	case err != nil:
		return destination.Object{}, nil, err
	}
	o := destination.Object{Key: key, Size: aws.ToInt64(out.ContentLength), Version: version(out.ETag)}
	b.trust.describe(&o, out)
	for name, value := range out.Metadata {
		if name = strings.ToLower(name); strings.HasPrefix(name, "lapstrake-") {
			if o.User == nil {
				o.User = make(map[string]string)
			}
			o.User[name] = value
		}
	}
	return o, out, nil
}

// exists tells a missing key from a missing bucket, which the answer to a HEAD
// does not. It asks once; a role that may not ask has a bucket.
func (b *bucket) exists(ctx context.Context) bool {
	if b.seen.Load() {
		return true
	}
	a, _ := b.read(ctx, func(ctx context.Context) error {
		_, err := b.api.HeadBucket(ctx, &awss3.HeadBucketInput{Bucket: aws.String(b.name)})
		return err
	})
	return a != missing
}

// List implements [destination.Store].
func (b *bucket) List(ctx context.Context, prefix string, fn func(destination.Object) error) error {
	if err := destination.CheckPrefix(prefix); err != nil {
		return b.failed("list", prefix, err)
	}
	in := &awss3.ListObjectsV2Input{
		Bucket: aws.String(b.name), Prefix: aws.String(prefix), EncodingType: types.EncodingTypeUrl,
	}
	for last := ""; ; {
		var out *awss3.ListObjectsV2Output
		a, err := b.read(ctx, func(ctx context.Context) (err error) {
			out, err = b.api.ListObjectsV2(ctx, in)
			return err
		})
		if a == missing {
			err = destination.ErrNoBucket
		}
		if err != nil {
			return b.failed("list", prefix, err)
		}
		for _, entry := range out.Contents {
			key, err := decode(aws.ToString(entry.Key), out.EncodingType)
			if err != nil {
				return b.failed("list", prefix, err)
			}
			if key <= last || !strings.HasPrefix(key, prefix) {
				return b.failed("list", prefix, fmt.Errorf("%w: it lists %q after %q for prefix %q", destination.ErrNotSupported, key, last, prefix))
			}
			last = key
			if strings.HasSuffix(key, "/") {
				continue // a console's marker of an empty folder
			}
			if err := fn(destination.Object{Key: key, Size: aws.ToInt64(entry.Size), Version: version(entry.ETag)}); err != nil {
				return err
			}
		}
		if !aws.ToBool(out.IsTruncated) {
			return nil
		}
		if cmp.Or(aws.ToString(out.NextContinuationToken), aws.ToString(in.ContinuationToken)) == aws.ToString(in.ContinuationToken) {
			return b.failed("list", prefix, fmt.Errorf("%w: the listing goes on, but the store does not say from where", destination.ErrNotSupported))
		}
		in.ContinuationToken = out.NextContinuationToken
	}
}

// decode undoes the encoding that was asked for, if the store has used it.
func decode(key string, encoding types.EncodingType) (string, error) {
	if encoding != types.EncodingTypeUrl {
		return key, nil
	}
	decoded, err := url.QueryUnescape(key)
	if err != nil {
		return "", fmt.Errorf("%w: it lists the key %.80q, which is not URL-encoded", destination.ErrNotSupported, key)
	}
	return decoded, nil
}
