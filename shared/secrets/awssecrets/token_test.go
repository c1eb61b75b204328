package awssecrets_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/rds/auth"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/secrets"
	"github.com/lapstrake/lapstrake/shared/secrets/awssecrets"
	"github.com/lapstrake/lapstrake/shared/telemetry"
)

const endpoint = "shop.cluster-abc.eu-west-1.rds.amazonaws.com"

// fixed is a clock that stands still until it is set.
type fixed struct {
	clock.Clock
	now time.Time
}

func (f *fixed) Now() time.Time { return f.now }

func tokens(c clock.Clock) awssecrets.Tokens {
	return awssecrets.Tokens{Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "wJalrXUtnFEMI", "session+token=="), Clock: c}
}

// The SDK has the same for the present time only.
func TestATokenIsTheOneOfTheSDK(t *testing.T) {
	for _, user := range []string{"reader", "a user+with@signs"} {
		want, err := auth.BuildAuthToken(t.Context(), endpoint+":5432", "eu-west-1", user, tokens(nil).Credentials)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse("https://" + want)
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse("20060102T150405Z", u.Query().Get("X-Amz-Date"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := tokens(&fixed{now: at}).Read(t.Context(), url.User(user).String()+"@"+endpoint+":5432")
		if err != nil || got != want {
			t.Errorf("got  %s, %v\nwant %s", got, err, want)
		}
	}
}

func TestATokenIsForTheRegionOfItsHost(t *testing.T) {
	for _, tc := range []struct {
		name, host, region string
		want               string // the region that is signed for
		code               fault.Code
	}{
		{name: "an instance", host: "shop.abc.eu-central-1.rds.amazonaws.com", region: "us-east-1", want: "eu-central-1"},
		{name: "a cluster", host: endpoint, want: "eu-west-1"},
		{name: "a proxy", host: "shop.proxy-abc.us-gov-west-1.rds.amazonaws.com", want: "us-gov-west-1"},
		{name: "China", host: "shop.abc.cn-north-1.rds.amazonaws.com.cn", want: "cn-north-1"},
		{name: "a name of one's own", host: "db.example.com", region: "eu-west-3", want: "eu-west-3"},
		{name: "a name that only looks like one", host: "x.eu-west-1.rds.amazonaws.com.example.com", region: "eu-west-3", want: "eu-west-3"},
		{name: "no region at all", host: "db.example.com", code: "LAPSTRAKE_CONFIG_TOKEN_REGION"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			made := tokens(&fixed{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)})
			made.Region = tc.region
			token, err := made.Read(t.Context(), "reader@"+tc.host+":3306")
			if fault.CodeOf(err) != tc.code {
				t.Fatal(err)
			}
			if want := "%2F20261129%2F" + tc.want + "%2Frds-db%2F"; tc.code == "" && (!strings.Contains(token, want) || !strings.HasPrefix(token, tc.host+":3306?")) {
				t.Errorf("got %s, want a token for %s", token, want)
			}
		})
	}
}

// Each connection has a token of its own, and no environment variable leads to
// one: nobody has looked then how the source is connected to.
func TestTokensAreMadeAnewAndOnlyForAConfig(t *testing.T) {
	c := &fixed{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	told := 0
	r := secrets.New(c, awssecrets.Providers(aws.Config{Credentials: tokens(nil).Credentials}, c), func(string) { told++ })
	ref := "rds-iam://reader@" + endpoint + ":5432"
	first, err := r.Resolve(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(time.Second)
	second, err := r.Resolve(t.Context(), ref)
	if err != nil || first == second {
		t.Errorf("the second connection has the token of the first, %v", err)
	}
	if told != 0 {
		t.Errorf("%d tokens are remembered for the log: they are too many", told)
	}
	t.Setenv("LAPSTRAKE_T_TOKEN", ref)
	if got, err := r.Resolve(t.Context(), "env://LAPSTRAKE_T_TOKEN"); err != nil || got != ref {
		t.Errorf("a variable leads to %q, %v", got, err)
	}
}

// Tokens are not remembered, so the log has to know them by their form.
func TestNoTokenIsShown(t *testing.T) {
	token, err := tokens(clock.System{}).Read(t.Context(), "reader@"+endpoint+":5432")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse("https://" + token)
	if err != nil {
		t.Fatal(err)
	}
	signature, session := u.Query().Get("X-Amz-Signature"), u.Query().Get("X-Amz-Security-Token")
	if signature == "" || session == "" {
		t.Fatalf("a token without signature or session: %s", token)
	}
	for _, text := range []string{token, "connect with " + token + ": refused", `{"password":"` + token + `"}`, url.QueryEscape("x=1&") + token} {
		shown := telemetry.Redact(text)
		if strings.Contains(shown, signature) || strings.Contains(shown, "session") {
			t.Errorf("%s shows the token", shown)
		}
	}
}

func TestATokenThatCannotBeMadeSaysWhy(t *testing.T) {
	for _, tc := range []struct {
		name, rest string
		code       fault.Code
	}{
		{"no user", endpoint + ":5432", "LAPSTRAKE_INTERNAL_TOKEN_REFERENCE"},
		{"no port", "u@" + endpoint, "LAPSTRAKE_INTERNAL_TOKEN_REFERENCE"},
		{"no credentials", "u@" + endpoint + ":5432", "LAPSTRAKE_CONFIG_TOKEN_CREDENTIALS"},
	} {
		made := tokens(clock.System{})
		made.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{}, errors.New("no role")
		})
		if got, err := made.Read(t.Context(), tc.rest); got != "" || fault.CodeOf(err) != tc.code {
			t.Errorf("%s: %q, %v; want %s", tc.name, got, err, tc.code)
		}
	}
}
