package s3

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Open returns the store of a location, s3://bucket/prefix; the prefix is taken
// as it is, without decoding. The location names where the credentials are:
// environment variables, a profile, or else the default chain of the AWS
// libraries, which also gives the region and, by AWS_ENDPOINT_URL, the
// endpoint. Open fails if there are no credentials, unless the location allows
// anonymous access.
//
// Other endpoints than Amazon's are addressed by path, endpoint/bucket/key.
func Open(ctx context.Context, at wire.Location, o Options) (destination.Store, error) {
	if o.Clock == nil || o.IDs == nil {
		return nil, fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_OPTIONS", "s3.Open needs a clock and a source of ids")
	}
	name, prefix, err := parse(at.URI)
	if err != nil {
		return nil, err
	}
	b := &bucket{name: name, uri: "s3://" + name, clock: o.Clock, ids: o.IDs}
	if err := b.connect(ctx, at, o); err != nil {
		return nil, &destination.OpError{Op: "open", Store: at.URI, Err: err}
	}
	store := destination.Prefixed(b, prefix)
	if o.ProbeIn == "" {
		return store, nil
	}
	found, err := probe(ctx, b, strings.TrimSuffix(prefix, "/"), o.ProbeIn)
	if err != nil {
		return nil, &destination.OpError{Op: "open", Store: at.URI, Err: fmt.Errorf("probe the store: %w", err)}
	}
	b.send, b.trust = found, found
	return store, nil
}

func parse(uri string) (bucket, prefix string, err error) {
	rest, ok := strings.CutPrefix(uri, "s3://")
	bucket, prefix, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", fault.New(fault.Usage, "LAPSTRAKE_CONFIG_DESTINATION_URI", "destination %q is not s3://bucket/prefix", uri)
	}
	if err := destination.CheckPrefix(prefix); err != nil {
		return "", "", fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_DESTINATION_URI", "destination %q", uri)
	}
	return bucket, prefix, nil
}

// connect makes the client. It sends no request to the store.
func (b *bucket) connect(ctx context.Context, at wire.Location, o Options) error {
	load := []func(*config.LoadOptions) error{
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(limits)),
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }),
		config.WithLogger(logging.Nop{}),
	}
	if at.Region != "" {
		load = append(load, config.WithRegion(at.Region))
	}
	if at.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(at.Profile))
	}
	static, err := fromEnvironment(at)
	if err != nil {
		return err
	}
	if static != nil {
		load = append(load, config.WithCredentialsProvider(static))
	}
	if at.AllowAnonymous { // an emulator's machine has no role to wait for
		load = append(load, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	}
	cfg, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_AWS", "read the AWS configuration")
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !at.AllowAnonymous {
			return fault.Wrap(fmt.Errorf("%w: %w", destination.ErrDenied, err), fault.Permanent, "LAPSTRAKE_DEST_NO_CREDENTIALS",
				"no credentials for the destination: name environment variables or a profile in the config, or give the process a role")
		}
		cfg.Credentials = aws.AnonymousCredentials{}
	}
	b.forget = forgetter(cfg.Credentials)

	custom := false
	b.api = awss3.NewFromConfig(cfg, func(s *awss3.Options) {
		if at.Endpoint != "" {
			s.BaseEndpoint = aws.String(at.Endpoint)
		}
		custom = s.BaseEndpoint != nil
		s.UsePathStyle = custom
		if custom {
			s.Region = cmp.Or(s.Region, "us-east-1")
		}
		if o.Transport != nil {
			s.HTTPClient = &http.Client{Transport: o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		}
		s.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		s.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		s.DisableLogOutputChecksumValidationSkipped = true
	})
	if b.api.Options().Region == "" {
		return fault.New(fault.Usage, "LAPSTRAKE_CONFIG_REGION", "no region for the destination: set it in the config, or AWS_REGION")
	}
	b.send, b.trust = xxh3, checksum(o.StoreChecksum)
	switch {
	case o.StoreChecksum != "":
		b.send = b.trust
	case !custom:
		b.trust = xxh3
	}
	return nil
}

// limits bounds what may hang. The time for a body is bounded by attempt.
func limits(tr *http.Transport) {
	tr.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	tr.TLSHandshakeTimeout = 10 * time.Second
	tr.ResponseHeaderTimeout = time.Minute
	tr.MaxIdleConnsPerHost = 64
}

// fromEnvironment returns the credentials in the variables that the location
// names, or nil if it names none. Errors name variables, never values.
func fromEnvironment(at wire.Location) (aws.CredentialsProvider, error) {
	if at.AccessKeyEnv == "" && at.SecretKeyEnv == "" && at.SessionTokenEnv == "" {
		return nil, nil
	}
	values := map[string]string{}
	for what, name := range map[string]string{"access_key_env": at.AccessKeyEnv, "secret_key_env": at.SecretKeyEnv} {
		if name == "" {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_CREDENTIALS", "the destination names credentials but no %s", what)
		}
		if values[what] = os.Getenv(name); values[what] == "" {
			return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_CREDENTIALS", "the environment variable %s, the destination's %s, is not set", name, what)
		}
	}
	token := ""
	if at.SessionTokenEnv != "" {
		token = os.Getenv(at.SessionTokenEnv)
	}
	return credentials.NewStaticCredentialsProvider(values["access_key_env"], values["secret_key_env"], token), nil
}
