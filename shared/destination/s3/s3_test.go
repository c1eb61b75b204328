package s3_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/destinationtest"
	"github.com/lapstrake/lapstrake/shared/destination/s3"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// The strictest server that there is.
func TestS3IsAStoreOnVersityGateway(t *testing.T) {
	suite(t, testenv.Server(t, testenv.S3Endpoint))
}

// A server that verifies less, which the probe has to notice.
func TestS3IsAStoreOnMiniStack(t *testing.T) {
	suite(t, testenv.Server(t, testenv.AWSEndpoint))
}

func suite(t *testing.T, endpoint string) {
	t.Setenv("LAPSTRAKE_S3_TEST_KEY", "test")
	t.Setenv("LAPSTRAKE_S3_TEST_SECRET", "testtest")
	newBucket := func(t *testing.T) destinationtest.OpenThrough {
		at := location(endpoint, makeBucket(t, endpoint))
		return func(t *testing.T, through http.RoundTripper) destination.Store {
			return open(t, at, s3.Options{StoreChecksum: "", Transport: through})
		}
	}
	probed := func(t *testing.T) destination.Store {
		return open(t, location(endpoint, makeBucket(t, endpoint)+"/root"), s3.Options{ProbeIn: "_lapstrake-probe/"})
	}
	t.Run("probed", func(t *testing.T) {
		destinationtest.Run(t, func(t *testing.T) destination.Store { return hideProbe{probed(t)} })
	})
	t.Run("interleaved", func(t *testing.T) {
		destinationtest.RunInterleaved(t, func(t *testing.T) destinationtest.OpenVia {
			return destinationtest.ViaHTTP(newBucket(t))
		})
	})
	t.Run("lost answers", func(t *testing.T) { destinationtest.RunLostAnswers(t, newBucket) })
	t.Run("no bucket", func(t *testing.T) {
		destinationtest.RunMissing(t, func(t *testing.T) (destination.Store, error) {
			return s3.Open(t.Context(), location(endpoint, "no-such-bucket-"+strings.ToLower(rand.Text())), options(s3.Options{}))
		})
	})
}

// hideProbe leaves the probe's object out of listings of an empty store.
type hideProbe struct{ destination.Store }

func (h hideProbe) List(ctx context.Context, prefix string, fn func(destination.Object) error) error {
	return h.Store.List(ctx, prefix, func(o destination.Object) error {
		if o.Key == "_lapstrake-probe/probe" {
			return nil
		}
		return fn(o)
	})
}

func location(endpoint, bucketAndPrefix string) wire.Location {
	return wire.Location{
		Kind: "s3", URI: "s3://" + bucketAndPrefix, Region: "us-east-1", Endpoint: endpoint,
		AccessKeyEnv: "LAPSTRAKE_S3_TEST_KEY", SecretKeyEnv: "LAPSTRAKE_S3_TEST_SECRET", AllowAnonymous: true,
	}
}

func options(o s3.Options) s3.Options {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.IDs == nil {
		o.IDs = ids{}
	}
	return o
}

// ids is a source of identities.
type ids struct{}

func (ids) NewID() string   { return rand.Text() }
func (ids) Jitter() float64 { return 0.5 }

func open(t *testing.T, at wire.Location, o s3.Options) destination.Store {
	t.Helper()
	s, err := s3.Open(t.Context(), at, options(o))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// makeBucket returns the name of a new bucket.
func makeBucket(t *testing.T, endpoint string) string {
	t.Helper()
	api := awss3.New(awss3.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(endpoint), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider("test", "testtest", ""),
	})
	name := "test-" + strings.ToLower(rand.Text())
	if _, err := api.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String(name)}); err != nil {
		t.Fatalf("create bucket: %v", err)
	}
	return name
}
