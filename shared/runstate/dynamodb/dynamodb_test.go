package dynamodb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/memory"
	"github.com/lapstrake/lapstrake/shared/runstate/runstatetest"
)

func TestTable(t *testing.T) { runstatetest.Run(t, open) }

func TestTableIsWhatTheModelSays(t *testing.T) { runstatetest.RunModel(t, open, 10) }

func TestTableAnswersLikeMemory(t *testing.T) {
	runstatetest.Compare(t, func(*testing.T) runstate.Table { return memory.NewSharded(2) }, open, 20)
}

func open(t *testing.T) runstate.Table { return openVia(t, nil, clock.System{}) }

// openVia returns a table of its own, reached through the given HTTP client.
func openVia(t *testing.T, via dynamodb.HTTPClient, clk clock.Clock) *Table {
	t.Helper()
	ids := &testIDs{}
	name := "state-" + ids.NewID()
	direct := client(t, nil)
	if err := CreateTable(t.Context(), direct, name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// t.Context is over by now.
		if _, err := direct.DeleteTable(context.WithoutCancel(t.Context()), &dynamodb.DeleteTableInput{TableName: aws.String(name)}); err != nil {
			t.Error(err)
		}
	})
	return New(client(t, via), name, clk, ids).Sharded(2)
}

func client(t *testing.T, via dynamodb.HTTPClient) *dynamodb.Client {
	endpoint := testenv.Server(t, testenv.AWSEndpoint)
	return dynamodb.New(dynamodb.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint, HTTPClient: via,
		Credentials: credentials.NewStaticCredentialsProvider("test", "testtest", ""),
	})
}

// testIDs are unique on one server, whatever else runs there.
type testIDs struct{ made atomic.Int64 }

func (i *testIDs) NewID() string { return fmt.Sprintf("%016x-%d", rand.Uint64(), i.made.Add(1)) }

func (*testIDs) Jitter() float64 { return rand.Float64() }
