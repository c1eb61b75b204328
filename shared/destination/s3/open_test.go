package s3_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/s3"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// bareEnvironment takes away what the machine says about AWS.
func bareEnvironment(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
			os.Unsetenv(name) // restored by Setenv's clean-up
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

// A bucket is FinalizeOnClose (ADR-0004 of the contract), and its versions are
// derived from content, so that no caller may take one for unique. That it keeps
// this is in the other tests.
func TestTheBucketDeclaresItsContract(t *testing.T) {
	bareEnvironment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "k")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s")
	store, err := s3.Open(t.Context(), wire.Location{URI: "s3://bucket", Region: "eu-west-1"}, options(s3.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	want := destination.Capabilities{CommitProtocol: "FinalizeOnClose", StoreChecksum: "xxh3", KeepsMeta: true}
	if got := store.Capabilities(); got != want {
		t.Errorf("the bucket declares %+v, want %+v", got, want)
	}
}

func TestOpenRefusesWhatItCannotUse(t *testing.T) {
	for _, tc := range []struct {
		name string
		at   wire.Location
		env  map[string]string
		code fault.Code
	}{
		{"another scheme", wire.Location{URI: "gs://bucket"}, nil, "LAPSTRAKE_CONFIG_DESTINATION_URI"},
		{"no bucket", wire.Location{URI: "s3:///prefix"}, nil, "LAPSTRAKE_CONFIG_DESTINATION_URI"},
		{"a prefix that climbs", wire.Location{URI: "s3://bucket/a/../b/"}, nil, "LAPSTRAKE_CONFIG_DESTINATION_URI"},
		{"a variable that is not set", wire.Location{URI: "s3://bucket", AccessKeyEnv: "X_KEY", SecretKeyEnv: "X_SECRET"}, map[string]string{"X_KEY": "k"}, "LAPSTRAKE_CONFIG_CREDENTIALS"},
		{"half of the names", wire.Location{URI: "s3://bucket", AccessKeyEnv: "X_KEY"}, map[string]string{"X_KEY": "k"}, "LAPSTRAKE_CONFIG_CREDENTIALS"},
		{"a profile that is not there", wire.Location{URI: "s3://bucket", Profile: "none"}, nil, "LAPSTRAKE_CONFIG_AWS"},
		{"no credentials at all", wire.Location{URI: "s3://bucket", Region: "eu-west-1"}, nil, "LAPSTRAKE_DEST_NO_CREDENTIALS"},
		{"no region", wire.Location{URI: "s3://bucket"}, map[string]string{"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "very-secret"}, "LAPSTRAKE_CONFIG_REGION"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bareEnvironment(t)
			for name, value := range tc.env {
				t.Setenv(name, value)
			}
			_, err := s3.Open(t.Context(), tc.at, options(s3.Options{}))
			if fault.CodeOf(err) != tc.code {
				t.Fatalf("error is %v, want code %s", err, tc.code)
			}
			if strings.Contains(err.Error(), "very-secret") {
				t.Errorf("the message holds a secret: %v", err)
			}
		})
	}
}

func TestOpenFindsCredentialsWhereTheLocationSays(t *testing.T) {
	for _, tc := range []struct {
		name   string
		at     wire.Location
		env    map[string]string
		signed string // the key id in the signature; "" for no signature
		host   string
		path   string
	}{
		{
			name: "named variables, before the default ones",
			at:   wire.Location{Endpoint: "http://store.test:9000", AccessKeyEnv: "X_KEY", SecretKeyEnv: "X_SECRET", SessionTokenEnv: "X_TOKEN"},
			env:  map[string]string{"X_KEY": "named", "X_SECRET": "s", "X_TOKEN": "t", "AWS_ACCESS_KEY_ID": "default", "AWS_SECRET_ACCESS_KEY": "s"},
			host: "store.test:9000", path: "/bucket/p/k", signed: "named",
		},
		{
			name: "a profile",
			at:   wire.Location{Endpoint: "http://store.test:9000", Profile: "warehouse"},
			host: "store.test:9000", path: "/bucket/p/k", signed: "fromprofile",
		},
		{
			name: "the default chain, and its endpoint",
			env:  map[string]string{"AWS_ACCESS_KEY_ID": "default", "AWS_SECRET_ACCESS_KEY": "s", "AWS_ENDPOINT_URL": "http://local.test:4566"},
			host: "local.test:4566", path: "/bucket/p/k", signed: "default",
		},
		{
			name: "the endpoint of S3 alone",
			env:  map[string]string{"AWS_ACCESS_KEY_ID": "default", "AWS_SECRET_ACCESS_KEY": "s", "AWS_ENDPOINT_URL_S3": "http://local.test:4566", "AWS_REGION": "eu-west-1"},
			host: "local.test:4566", path: "/bucket/p/k", signed: "default",
		},
		{
			name: "Amazon's own endpoint",
			at:   wire.Location{Region: "eu-central-1"},
			env:  map[string]string{"AWS_ACCESS_KEY_ID": "default", "AWS_SECRET_ACCESS_KEY": "s"},
			host: "bucket.s3.eu-central-1.amazonaws.com", path: "/p/k", signed: "default",
		},
		{
			name: "anonymous, where that is allowed and nothing else is there",
			at:   wire.Location{Endpoint: "http://127.0.0.1:9000", AllowAnonymous: true},
			host: "127.0.0.1:9000", path: "/bucket/p/k",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bareEnvironment(t)
			profiles := filepath.Join(t.TempDir(), "credentials")
			if err := os.WriteFile(profiles, []byte("[warehouse]\naws_access_key_id = fromprofile\naws_secret_access_key = s\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", profiles)
			for name, value := range tc.env {
				t.Setenv(name, value)
			}
			tr := &script{replies: []reply{ok}}
			tc.at.URI = "s3://bucket/p"
			s := open(t, tc.at, s3.Options{Transport: tr})
			if _, err := s.Create(t.Context(), "k", []byte("x"), destination.Meta{}); err != nil {
				t.Fatal(err)
			}
			r := tr.requests[0]
			auth := r.Header.Get("Authorization")
			if r.URL.Host != tc.host || r.URL.Path != tc.path || tc.signed == "" != (auth == "") || !strings.Contains(auth, tc.signed) {
				t.Errorf("request to %s, signed %q; want %s%s, signed by %q", r.URL, auth, tc.host, tc.path, tc.signed)
			}
			if want := tc.env["X_TOKEN"]; r.Header.Get("X-Amz-Security-Token") != want {
				t.Errorf("session token is %q, want %q", r.Header.Get("X-Amz-Security-Token"), want)
			}
			if trusted := s.Capabilities().StoreChecksum == "xxh3"; trusted != strings.Contains(tc.host, "amazonaws") {
				t.Errorf("StoreChecksum is %q without a probe", s.Capabilities().StoreChecksum)
			}
		})
	}
}

func TestTheDefaultChainReachesARealServer(t *testing.T) {
	endpoint := testenv.Server(t, testenv.S3Endpoint)
	bareEnvironment(t)
	t.Setenv("AWS_ENDPOINT_URL", endpoint)
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "testtest")
	s := open(t, wire.Location{Kind: "s3", URI: "s3://" + makeBucket(t, endpoint) + "/a b/100%"}, s3.Options{ProbeIn: "_lapstrake/"})
	if _, err := s.Create(t.Context(), "k", []byte("x"), destination.Meta{}); err != nil {
		t.Fatal(err)
	}
}

func TestAWrongSecretIsDenied(t *testing.T) {
	endpoint := testenv.Server(t, testenv.S3Endpoint)
	bucket := makeBucket(t, endpoint)
	t.Setenv("LAPSTRAKE_S3_TEST_KEY", "test")
	t.Setenv("LAPSTRAKE_S3_TEST_SECRET", "wrong")
	s := open(t, location(endpoint, bucket), s3.Options{})
	for _, op := range []string{"create", "replace"} {
		if err := write(t.Context(), s, op); !errors.Is(err, destination.ErrDenied) || errors.Is(err, destination.ErrUndecided) {
			t.Errorf("%s: %v", op, err)
		}
	}
	if _, err := s.Head(t.Context(), "k"); !errors.Is(err, destination.ErrDenied) {
		t.Errorf("head: %v", err)
	}
	if err := s.List(t.Context(), "", nil); !errors.Is(err, destination.ErrDenied) {
		t.Errorf("list: %v", err)
	}
}

func TestNoServerAtAllIsUnavailable(t *testing.T) {
	bareEnvironment(t)
	credentialsInEnvironment(t)
	s := open(t, location("http://127.0.0.1:1", "bucket"), s3.Options{Clock: &instant{}, Transport: http.DefaultTransport})
	if err := write(t.Context(), s, "create"); !errors.Is(err, destination.ErrUnavailable) || errors.Is(err, destination.ErrUndecided) {
		t.Errorf("create: %v", err)
	}
	if _, err := s.Head(t.Context(), "k"); !errors.Is(err, destination.ErrUnavailable) {
		t.Errorf("head: %v", err)
	}
}
