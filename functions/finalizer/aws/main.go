// Command aws is the finalizer on AWS Lambda: it takes the messages of the
// finalize queue.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/functions/lambdahost"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func main() {
	host, cloud := lambdahost.Open(context.Background())
	deps := cloud.Finalizer()
	lambda.Start(lambdahost.SQS(host, wire.Decode[wire.FinalizeTask], func(ctx context.Context, m wire.FinalizeTask) (wire.Outcome, error) {
		return finalizer.Handle(ctx, deps, m)
	}))
}
