package simulation

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/localdir"
	"github.com/lapstrake/lapstrake/shared/destination/s3"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/dynamodb"
	"github.com/lapstrake/lapstrake/shared/runstate/embedded"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// backends are what a world stands on when it is not in memory.
var backends = []struct {
	name  string
	store func(t *testing.T) stores
	table func(t *testing.T) tables
}{
	{"localdir and an embedded table", folders, files},
	{"S3 and an embedded table", buckets, files},
	{"S3 and DynamoDB", buckets, dynamoTables},
}

// stores makes an empty store for each call.
type stores func(t *testing.T) destination.Store

// tables makes an empty table for each call. reopen, where there is one, is what
// the next process does with it after one has died.
type tables func(t *testing.T, w *world) (table runstate.Table, reopen func() runstate.Table)

// shardSize is small, so that a few tasks are several shards.
const shardSize = 2

func folders(*testing.T) stores {
	return func(t *testing.T) destination.Store {
		s, err := localdir.Open(t.Context(), wire.Location{Kind: "local", URI: "file://" + t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

func files(*testing.T) tables {
	return func(t *testing.T, w *world) (runstate.Table, func() runstate.Table) {
		path := filepath.Join(t.TempDir(), "state.db")
		var held *embedded.Table
		open := func() runstate.Table {
			if held != nil {
				if err := held.Close(); err != nil {
					t.Error(err)
				}
			}
			var err error
			if held, err = embedded.Open(path, embedded.Options{FaninK: shardSize, Now: w.now}); err != nil {
				t.Fatal(err)
			}
			return held
		}
		t.Cleanup(func() {
			if err := held.Close(); err != nil {
				t.Error(err)
			}
		})
		return open(), open
	}
}

const region = "us-east-1"

var keys = credentials.NewStaticCredentialsProvider("test", "testtest", "")

// buckets is one bucket, with a folder for each store.
func buckets(t *testing.T) stores {
	endpoint, bucket := testenv.Server(t, testenv.S3Endpoint), "crash-"+strings.ToLower(rand.Text()[:12])
	client := awss3.New(awss3.Options{Region: region, Credentials: keys, BaseEndpoint: aws.String(endpoint), UsePathStyle: true})
	if _, err := client.CreateBucket(t.Context(), &awss3.CreateBucketInput{Bucket: aws.String(bucket)}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("LAPSTRAKE_TEST_KEY", "test")
	t.Setenv("LAPSTRAKE_TEST_SECRET", "testtest")
	store, err := s3.Open(t.Context(), wire.Location{
		Kind: "s3", URI: "s3://" + bucket, Region: region, Endpoint: endpoint,
		AccessKeyEnv: "LAPSTRAKE_TEST_KEY", SecretKeyEnv: "LAPSTRAKE_TEST_SECRET",
	}, s3.Options{Clock: clock.System{}, IDs: uniqueIDs{}, ProbeIn: "_probe"})
	if err != nil {
		t.Fatal(err)
	}
	var made atomic.Int64
	return func(*testing.T) destination.Store {
		return destination.Prefixed(store, fmt.Sprintf("%d/", made.Add(1)))
	}
}

// dynamoTables is a table of its own for each world: a sweep looks after all runs
// of one.
func dynamoTables(t *testing.T) tables {
	client := awsdynamodb.New(awsdynamodb.Options{Region: region, Credentials: keys, BaseEndpoint: aws.String(testenv.Server(t, testenv.AWSEndpoint))})
	return func(t *testing.T, _ *world) (runstate.Table, func() runstate.Table) {
		name := "crash-" + strings.ToLower(rand.Text()[:12])
		if err := dynamodb.CreateTable(t.Context(), client, name); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			// t.Context is over by now.
			_, err := client.DeleteTable(context.WithoutCancel(t.Context()), &awsdynamodb.DeleteTableInput{TableName: aws.String(name)})
			if gone := (*types.ResourceNotFoundException)(nil); err != nil && !errors.As(err, &gone) {
				t.Error(err)
			}
		})
		return dynamodb.New(client, name, clock.System{}, uniqueIDs{}).Sharded(shardSize), nil
	}
}

// uniqueIDs are unique on a server, whatever else runs there: it knows requests
// that are repeated by them.
type uniqueIDs struct{}

func (uniqueIDs) NewID() string { return rand.Text() }

func (uniqueIDs) Jitter() float64 { return 0.5 }
