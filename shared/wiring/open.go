package wiring

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/notify"
	"github.com/lapstrake/lapstrake/shared/notify/slack"
	"github.com/lapstrake/lapstrake/shared/runstate"
	tables "github.com/lapstrake/lapstrake/shared/runstate/dynamodb"
	"github.com/lapstrake/lapstrake/shared/runstate/embedded"
	"github.com/lapstrake/lapstrake/shared/secrets"
	"github.com/lapstrake/lapstrake/shared/secrets/awssecrets"
	"github.com/lapstrake/lapstrake/shared/telemetry"
)

// openState opens the table of a --state value.
func openState(ctx context.Context, state string, c clock.Clock, ids contract.IDSource) (runstate.Table, func() error, error) {
	name, isDynamo := strings.CutPrefix(state, "dynamodb://")
	if !isDynamo {
		t, err := embedded.Open(state, embedded.Options{Now: c.Now()})
		if err != nil {
			return nil, nil, err
		}
		return t, t.Close, nil
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, nil, fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_AWS", "read the AWS configuration for %s", state)
	}
	return tables.New(dynamodb.NewFromConfig(cfg), name, c, ids), func() error { return nil }, nil
}

// newResolver returns a resolver of all references. The AWS providers sign in
// when they are asked for the first time.
func newResolver(ctx context.Context) (*secrets.Resolver, error) {
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_AWS", "read the AWS configuration")
	}
	return secrets.New(clock.System{}, awssecrets.Providers(cfg, clock.System{}), telemetry.Hide), nil
}

// slackNotifier posts to the webhook of a config.
func slackNotifier(ctx context.Context, s exportconfig.Slack, r *secrets.Resolver) (notify.Notifier, error) {
	url := s.Inline.URL
	if s.WebhookURLRef != "" {
		var err error
		if url, err = r.Resolve(ctx, s.WebhookURLRef); err != nil {
			return nil, err
		}
	}
	return slack.New(slack.Config{URL: url, On: s.On})
}
