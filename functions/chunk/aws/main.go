// Command aws is the chunk function on AWS Lambda: it takes the messages of the
// chunk queues.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/lambdahost"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func main() {
	host, cloud := lambdahost.Open(context.Background())
	deps := cloud.Chunk()
	lambda.Start(lambdahost.SQS(host, wire.Decode[wire.ChunkTask], func(ctx context.Context, m wire.ChunkTask) (wire.Outcome, error) {
		return chunk.Handle(ctx, deps, m)
	}))
}
