// Package cloud puts the four functions, their queues, table and bucket on an
// AWS endpoint, as docs/aws.md describes them by hand. Layer: main (used by
// tests and by localstack/deploy only).
//
// It is written for local clouds and throw-away accounts: what it creates has
// no encryption keys of its own, no alarms and no deletion protection.
package cloud

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/lapstrake/lapstrake/shared/wire"
)

// Functions are the names of the functions, which their zips have too.
var Functions = []string{"planner", "chunk", "finalizer", "validator"}

// Options say what is deployed.
type Options struct {
	// Stack begins every name. Bucket gets the exports and is created if it
	// does not exist.
	Stack, Bucket string
	// Role is the ARN of the role that the functions run with.
	Role string
	// Zips has the zip of each of Functions, made for Architecture, arm64 or
	// amd64; "" is this machine's.
	Zips         map[string][]byte
	Architecture string
	// Sources are the names of the source databases, one chunk queue each;
	// none is "default".
	Sources []string
	// MaxConcurrency caps the chunk functions that read one source at the same
	// time, at least 2; 0 is 8.
	MaxConcurrency int
	// Timeout is that of every function; 0 is 900 seconds. Visibility hides a
	// delivered message for so long; 0 is six times Timeout. Amazon refuses
	// less than one.
	Timeout, Visibility time.Duration
	// Env is added to the variables of every function.
	Env map[string]string
}

const (
	memoryMB       = 2048
	defaultTimeout = 900 * time.Second
	maxConcurrency = 8
	// maxReceives before a message goes to the dead-letter queue. The
	// validator's bounds how often an unsettled prefix is looked at.
	maxReceives         = 10
	validateMaxReceives = 6
)

// Deployment is what was deployed.
type Deployment struct {
	Options
	Table string
	// QueueURLs has the URL of each queue by the name that the functions use.
	QueueURLs map[string]string

	Lambda   *lambda.Client
	S3       *awss3.Client
	SQS      *sqs.Client
	DynamoDB *dynamodb.Client
	Secrets  *secretsmanager.Client

	queueARNs map[string]string
	mappings  []string // event source mappings, by id
}

// Deploy creates everything. On an error what was created so far stays: Remove
// takes it away.
func Deploy(ctx context.Context, cfg aws.Config, o Options) (*Deployment, error) {
	o.Architecture = cmp.Or(o.Architecture, runtime.GOARCH)
	o.MaxConcurrency = cmp.Or(o.MaxConcurrency, maxConcurrency)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.Visibility = cmp.Or(o.Visibility, 6*o.Timeout)
	o.Role = cmp.Or(o.Role, "arn:aws:iam::000000000000:role/lapstrake")
	if len(o.Sources) == 0 {
		o.Sources = []string{"default"}
	}
	d := &Deployment{
		Options: o, Table: o.Stack + "-state", QueueURLs: map[string]string{}, queueARNs: map[string]string{},
		Lambda: lambda.NewFromConfig(cfg), SQS: sqs.NewFromConfig(cfg), DynamoDB: dynamodb.NewFromConfig(cfg), Secrets: secretsmanager.NewFromConfig(cfg),
		S3: awss3.NewFromConfig(cfg, func(so *awss3.Options) { so.UsePathStyle = cfg.BaseEndpoint != nil }),
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"bucket", d.createBucket},
		{"table", d.createTable},
		{"queues", d.createQueues},
		{"functions", d.createFunctions},
		{"event sources", d.createEventSources},
		{"notification", d.notifyOfMarkers},
	} {
		if err := step.do(ctx); err != nil {
			return d, fmt.Errorf("deploy %s of stack %s: %w", step.name, o.Stack, err)
		}
	}
	return d, nil
}

// FunctionName returns the name that a function has on the cloud.
func (d *Deployment) FunctionName(function string) string { return d.Stack + "-" + function }

// queues returns the names of the queues that functions consume.
func (d *Deployment) queues() []string {
	all := []string{wire.FinalizeQueue, wire.ValidateQueue}
	for _, name := range d.Sources {
		all = append(all, wire.ChunkQueue(name))
	}
	return all
}
