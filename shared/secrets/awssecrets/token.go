package awssecrets

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/secrets"
)

const (
	// tokenSeconds is how long RDS takes a token: a connection that has signed
	// in by then stays.
	tokenSeconds = "900"
	// emptyPayload is the SHA-256 of nothing, which is what a token's request
	// has for a body.
	emptyPayload = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
)

// Tokens makes the tokens of rds-iam://user@host:port references: the presigned
// request with which RDS and Aurora let a user of an AWS identity sign in. Each
// is made anew, from the identity's credentials at that moment.
type Tokens struct {
	Credentials aws.CredentialsProvider
	// Region is that of hosts whose name has none.
	Region string
	Clock  clock.Clock
}

var _ secrets.Minter = Tokens{}

// Mints implements [secrets.Minter].
func (Tokens) Mints() {}

// regionOf is the region in the name of an endpoint of RDS, such as
// shop.cluster-abc.eu-west-1.rds.amazonaws.com.
var regionOf = regexp.MustCompile(`\.([a-z]{2}(?:-[a-z]+)+-\d+)\.rds\.amazonaws\.com(?:\.cn)?$`)

// Read implements [secrets.Provider]. It makes no request of its own; the
// credentials may.
func (t Tokens) Read(ctx context.Context, rest string) (string, error) {
	at, err := url.Parse("rds-iam://" + rest)
	if err != nil || at.User.Username() == "" || at.Port() == "" || at.Hostname() == "" {
		return "", fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_TOKEN_REFERENCE", "a reference of a token does not have the form rds-iam://user@host:port")
	}
	region := t.Region
	if m := regionOf.FindStringSubmatch(at.Hostname()); m != nil {
		region = m[1]
	}
	if region == "" {
		return "", fault.New(fault.Usage, "LAPSTRAKE_CONFIG_TOKEN_REGION",
			"the region of %s is not known, so no token can be made for it: give the endpoint's own name, …<region>.rds.amazonaws.com, or set AWS_REGION", at.Hostname())
	}
	credentials, err := t.Credentials.Retrieve(ctx)
	if err != nil {
		return "", fault.Wrap(err, fault.Retryable, "LAPSTRAKE_CONFIG_TOKEN_CREDENTIALS", "make a token for %s: the AWS identity has no credentials", at.Host)
	}
	query := url.Values{"Action": {"connect"}, "DBUser": {at.User.Username()}, "X-Amz-Expires": {tokenSeconds}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+at.Host+"?"+query.Encode(), nil)
	if err != nil {
		return "", fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SOURCE_URL", "no token can be made for %s: it is no host", at.Host)
	}
	signed, _, err := v4.NewSigner().PresignHTTP(ctx, credentials, request, emptyPayload, "rds-db", region, t.Clock.Now().UTC())
	if err != nil {
		return "", fault.Wrap(err, fault.Permanent, "LAPSTRAKE_CONFIG_TOKEN_CREDENTIALS", "make a token for %s", at.Host)
	}
	return strings.TrimPrefix(signed, "https://"), nil
}
