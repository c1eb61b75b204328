// Command aws is the planner on AWS Lambda: it takes triggers, of runs and of
// the reaper's schedule, by direct invocation.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/lapstrake/lapstrake/functions/lambdahost"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func main() {
	host, cloud := lambdahost.Open(context.Background())
	deps := cloud.Planner()
	lambda.Start(lambdahost.Planner(host, func(ctx context.Context, t wire.Trigger) (wire.TriggerResult, error) {
		return planner.Handle(ctx, deps, t)
	}))
}
