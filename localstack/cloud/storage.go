package cloud

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate/dynamodb"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func (d *Deployment) createBucket(ctx context.Context) error {
	in := &awss3.CreateBucketInput{Bucket: &d.Bucket}
	if region := d.S3.Options().Region; region != "us-east-1" { // which may not be named
		in.CreateBucketConfiguration = &types.CreateBucketConfiguration{LocationConstraint: types.BucketLocationConstraint(region)}
	}
	_, err := d.S3.CreateBucket(ctx, in)
	var ours *types.BucketAlreadyOwnedByYou
	if errors.As(err, &ours) {
		return nil
	}
	return err
}

func (d *Deployment) createTable(ctx context.Context) error {
	return dynamodb.CreateTable(ctx, d.DynamoDB, d.Table)
}

// notifyOfMarkers tells the validator's queue of every _SUCCESS. The validator
// itself writes no such key, so it does not call itself.
//
// The notification configuration of a bucket is one document: this replaces
// whatever else it says.
func (d *Deployment) notifyOfMarkers(ctx context.Context) error {
	_, err := d.S3.PutBucketNotificationConfiguration(ctx, &awss3.PutBucketNotificationConfigurationInput{
		Bucket: &d.Bucket,
		NotificationConfiguration: &types.NotificationConfiguration{QueueConfigurations: []types.QueueConfiguration{{
			Id: aws.String(d.Stack + "-markers"), QueueArn: aws.String(d.queueARNs[wire.ValidateQueue]),
			Events: []types.Event{types.EventS3ObjectCreated},
			Filter: &types.NotificationConfigurationFilter{Key: &types.S3KeyFilter{FilterRules: []types.FilterRule{
				{Name: types.FilterRuleNameSuffix, Value: aws.String(contract.SuccessName)},
			}}},
		}}},
	})
	return err
}

// bucketMaySend is the policy of the validator's queue.
func (d *Deployment) bucketMaySend(queueARN string) string {
	return fmt.Sprintf(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"s3.amazonaws.com"},"Action":"sqs:SendMessage","Resource":%q,"Condition":{"ArnEquals":{"aws:SourceArn":"arn:aws:s3:::%s"}}}]}`,
		queueARN, d.Bucket)
}
