// Package awssecrets reads secretsmanager:// and ssm:// references, and makes
// the tokens of rds-iam:// ones. Layer: L3 (persistence), a driver of
// shared/secrets.
package awssecrets

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	smtypes "github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"github.com/aws/smithy-go"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/secrets"
)

// Providers returns the providers of all three schemes.
func Providers(cfg aws.Config, c clock.Clock) map[string]secrets.Provider {
	manager, parameters := secretsmanager.NewFromConfig(cfg), ssm.NewFromConfig(cfg)
	return map[string]secrets.Provider{
		"secretsmanager": secrets.ProviderFunc(func(ctx context.Context, rest string) (string, error) {
			return readSecret(ctx, manager, rest)
		}),
		"ssm": secrets.ProviderFunc(func(ctx context.Context, rest string) (string, error) {
			return readParameter(ctx, parameters, rest)
		}),
		"rds-iam": Tokens{Credentials: cfg.Credentials, Region: cfg.Region, Clock: c},
	}
}

// readSecret reads name-or-arn, or one field of its JSON text after a "#".
func readSecret(ctx context.Context, c *secretsmanager.Client, rest string) (string, error) {
	id, field, hasField := strings.Cut(rest, "#")
	out, err := c.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &id})
	var missing *smtypes.ResourceNotFoundException
	switch {
	case errors.As(err, &missing):
		return "", fault.New(fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_MISSING", "there is no secret %s", id)
	case err != nil:
		return "", unreadable(err, "secret "+id)
	case out.SecretString == nil:
		return "", fault.New(fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_BINARY", "the secret %s is binary: store it as text", id)
	}
	value := aws.ToString(out.SecretString)
	if !hasField {
		return value, nil
	}
	var fields map[string]any
	if json.Unmarshal([]byte(value), &fields) != nil {
		return "", fault.New(fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_FIELD", "the secret %s is not a JSON object, so it has no field %s", id, field)
	}
	text, ok := fields[field].(string)
	if !ok {
		return "", fault.New(fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_FIELD", "the secret %s has no text field %s", id, field)
	}
	return text, nil
}

func readParameter(ctx context.Context, c *ssm.Client, name string) (string, error) {
	out, err := c.GetParameter(ctx, &ssm.GetParameterInput{Name: &name, WithDecryption: aws.Bool(true)})
	var missing *ssmtypes.ParameterNotFound
	switch {
	case errors.As(err, &missing):
		return "", fault.New(fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_MISSING", "there is no parameter %s", name)
	case err != nil:
		return "", unreadable(err, "parameter "+name)
	}
	return aws.ToString(out.Parameter.Value), nil
}

// unreadable tells what a role or a name must be changed for from what may work
// the next time. The errors of both services name a secret, never its value.
func unreadable(err error, what string) error {
	var api smithy.APIError
	if errors.As(err, &api) {
		switch code := api.ErrorCode(); code {
		case "AccessDenied", "AccessDeniedException", "DecryptionFailure", "UnrecognizedClientException", "InvalidSignatureException":
			return fault.Wrap(err, fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_DENIED", "read the %s: not allowed: check the function's role and the key of the secret", what)
		case "ValidationException", "InvalidParameterException", "InvalidRequestException", "InvalidKeyId":
			return fault.Wrap(err, fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_REFUSED", "read the %s: refused", what)
		}
	}
	return fault.Wrap(err, fault.Retryable, "LAPSTRAKE_CONFIG_SECRET_UNREADABLE", "read the %s", what)
}
