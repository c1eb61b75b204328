package wiring

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	awssns "github.com/aws/aws-sdk-go-v2/service/sns"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/lapstrake/lapstrake/functions/chunk"
	"github.com/lapstrake/lapstrake/functions/finalizer"
	"github.com/lapstrake/lapstrake/functions/planner"
	"github.com/lapstrake/lapstrake/functions/validator"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/notify/slack"
	"github.com/lapstrake/lapstrake/shared/notify/sns"
	"github.com/lapstrake/lapstrake/shared/notify/stepfunctions"
	"github.com/lapstrake/lapstrake/shared/runstate"
	tables "github.com/lapstrake/lapstrake/shared/runstate/dynamodb"
	"github.com/lapstrake/lapstrake/shared/secrets"
	"github.com/lapstrake/lapstrake/shared/secrets/awssecrets"
	"github.com/lapstrake/lapstrake/shared/taskqueue/sqs"
	"github.com/lapstrake/lapstrake/shared/telemetry"
	"github.com/lapstrake/lapstrake/shared/verify"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// AWS makes what the functions work with on AWS: a DynamoDB table, SQS queues,
// S3 destinations, secrets of Secrets Manager and Systems Manager. Clients,
// stores and secrets are kept between the calls of one container; nothing else
// is.
type AWS struct {
	settings     AWSSettings
	state        runstate.Table
	queues       *sqs.Queues
	resolver     *secrets.Resolver
	destinations destination.Opener
	notifier     notify.Notifier
	plans        chunk.Plans
}

// AWSSettings are what a deployment tells its functions.
type AWSSettings struct {
	// Table is the DynamoDB table, QueueURLs the URL of each queue by the name
	// that messages use. The validator needs neither table nor queues but its
	// own.
	Table     string
	QueueURLs map[string]string
	// ChunkTimeout is the configured timeout of the chunk function, which
	// decides how tasks are planned.
	ChunkTimeout time.Duration
	// RunTTL fails a run that has not ended by then; 0 is the planner's
	// default.
	RunTTL time.Duration
	// SlackWebhook is a reference to the URL of a webhook that is told of
	// failures, and of what is degraded or has other columns than before; ""
	// tells nobody.
	SlackWebhook string
	// Topic is the ARN of an SNS topic that is told how runs end, and of
	// verdicts; "" tells nobody.
	Topic string
	// Worker names the process in chunk items.
	Worker string
	Log    *slog.Logger
	// Observer is told of what the functions count; nil counts nothing.
	Observer telemetry.Observer
	Settings
}

// OpenAWS reads the AWS configuration of the environment. It signs in nowhere
// yet: a role without a permission is seen at the first call that needs it.
func OpenAWS(ctx context.Context, s AWSSettings) (*AWS, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_AWS", "read the AWS configuration")
	}
	a := &AWS{
		settings: s,
		state:    tables.New(dynamodb.NewFromConfig(cfg), s.Table, clock.System{}, IDs{}),
		queues:   sqs.New(awssqs.NewFromConfig(cfg), sqs.Options{URLs: s.QueueURLs, FairQueues: true, Clock: clock.System{}, Random: IDs{}.Jitter}),
		resolver: secrets.New(clock.System{}, awssecrets.Providers(cfg, clock.System{}), telemetry.Hide),
	}
	a.destinations = a.inBuckets(&destinations{})
	to := notify.All{stepfunctions.New(sfn.NewFromConfig(cfg))}
	if s.SlackWebhook != "" {
		to = append(to, webhook{ref: s.SlackWebhook, resolver: a.resolver})
	}
	if s.Topic != "" {
		to = append(to, sns.New(awssns.NewFromConfig(cfg), s.Topic))
	}
	a.notifier = to
	return a, nil
}

// Queues are the deployment's queues, for handing messages back.
func (a *AWS) Queues() *sqs.Queues { return a.queues }

// Planner returns the dependencies of the planner. It alone probes a store
// before anything relies on it, and it alone reads configs.
func (a *AWS) Planner() planner.Deps {
	s := planner.DefaultSettings()
	s.Budget = a.settings.ChunkTimeout
	if a.settings.RunTTL > 0 {
		s.RunTTL = a.settings.RunTTL
	}
	probing := a.inBuckets(&destinations{probe: true})
	return planner.Deps{
		Configs: remoteConfigs{stores: a.destinations}, Destinations: probing, State: a.state, Queue: a.queues,
		Sources: Sources(a.resolver), Formats: Formats(), Notifier: a.notifier, Clock: clock.System{}, IDs: IDs{}, Log: a.settings.Log, Settings: s,
		Observer: a.settings.Observer,
	}
}

// Chunk returns the dependencies of the chunk function.
func (a *AWS) Chunk() chunk.Deps {
	return chunk.Deps{
		Destinations: a.destinations, State: a.state, Queue: a.queues, Sources: Sources(a.resolver), Formats: Formats(),
		Clock: clock.System{}, IDs: IDs{}, Log: a.settings.Log, Observer: a.settings.Observer, Plans: &a.plans,
		Worker: a.settings.Worker, Lease: a.settings.Lease, Heartbeat: a.settings.Heartbeat,
	}
}

// Finalizer returns the dependencies of the finalizer.
func (a *AWS) Finalizer() finalizer.Deps {
	return finalizer.Deps{
		Destinations: a.destinations, State: a.state, Queue: a.queues, Notifier: a.notifier,
		Clock: clock.System{}, IDs: IDs{}, Log: a.settings.Log, Observer: a.settings.Observer,
	}
}

// Validator returns the dependencies of the validator.
func (a *AWS) Validator() validator.Deps {
	return validator.Deps{Destinations: a.destinations, Notifier: a.notifier, Clock: clock.System{}, Log: a.settings.Log, Observer: verdicts{a.settings.Observer}}
}

// inBuckets refuses what is not a bucket: a function's disk ends with it.
func (a *AWS) inBuckets(stores destination.Opener) destination.Opener {
	return destination.OpenerFunc(func(ctx context.Context, at wire.Location) (destination.Store, error) {
		if at.Kind == "local" {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_DESTINATION_LOCAL", "destination %s is a folder, which a function loses when it ends; use type: s3", at.URI)
		}
		return stores.Open(ctx, at)
	})
}

// verdicts counts those that failed.
type verdicts struct{ telemetry.Observer }

// Judged implements [validator.Observer].
func (v verdicts) Judged(_ context.Context, d verify.Document) {
	if d.Verdict == verify.Failed {
		telemetry.Or(v.Observer).Count(telemetry.ValidationFailed, 1, slog.String(telemetry.AttrExport, string(d.Export)))
	}
}

// webhook tells a Slack-compatible webhook of failures. Its address is a secret
// and resolved when there is something to tell.
type webhook struct {
	ref      string
	resolver *secrets.Resolver
}

// Notify implements [notify.Notifier].
func (w webhook) Notify(ctx context.Context, e notify.Event) error {
	if e.ForCallback() {
		return nil // as often as once a minute: the secret is not asked for
	}
	url, err := w.resolver.Resolve(ctx, w.ref)
	if err != nil {
		return err
	}
	n, err := slack.New(slack.Config{URL: url, On: []string{slack.OnFailure, slack.OnSchemaChange, slack.OnDegraded}})
	if err != nil {
		return err
	}
	return n.Notify(ctx, e)
}
