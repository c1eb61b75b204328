// Command aws is the validator on AWS Lambda: it takes what a bucket says of
// new markers, by the validate queue, by the event bus or directly.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/lapstrake/lapstrake/functions/lambdahost"
	"github.com/lapstrake/lapstrake/functions/validator"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func main() {
	host, cloud := lambdahost.Open(context.Background())
	deps := cloud.Validator()
	decode := func(body []byte) ([]wire.ValidateTask, error) { return validator.Tasks(body, bucket) }
	lambda.Start(lambdahost.Events(host, decode, lambdahost.Each(func(ctx context.Context, m wire.ValidateTask) (wire.Outcome, error) {
		return validator.Handle(ctx, deps, m)
	})))
}

func bucket(name string) wire.Location { return wire.Location{Kind: "s3", URI: "s3://" + name} }
