package cloud

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Remove takes the functions, queues and table away. The bucket stays with what
// is in it; only its notification goes.
func (d *Deployment) Remove(ctx context.Context) error {
	var failed []error
	note := func(err error) {
		if err != nil {
			failed = append(failed, err)
		}
	}
	_, err := d.S3.PutBucketNotificationConfiguration(ctx, &awss3.PutBucketNotificationConfigurationInput{Bucket: &d.Bucket, NotificationConfiguration: &types.NotificationConfiguration{}})
	note(err)
	for _, id := range d.mappings {
		_, err := d.Lambda.DeleteEventSourceMapping(ctx, &lambda.DeleteEventSourceMappingInput{UUID: aws.String(id)})
		note(err)
	}
	for _, function := range Functions {
		_, err := d.Lambda.DeleteFunction(ctx, &lambda.DeleteFunctionInput{FunctionName: aws.String(d.FunctionName(function))})
		note(err)
	}
	for _, url := range d.QueueURLs {
		_, err := d.SQS.DeleteQueue(ctx, &sqs.DeleteQueueInput{QueueUrl: aws.String(url)})
		note(err)
	}
	_, err = d.DynamoDB.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &d.Table})
	note(err)
	return errors.Join(failed...)
}
