package awssecrets

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/secrets"
)

func TestReadFromTheStores(t *testing.T) {
	endpoint := testenv.Server(t, testenv.AWSEndpoint)
	cfg := aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
	name, binary := "lapstrake-"+rand.Text(), "lapstrake-binary-"+rand.Text()
	if _, err := secretsmanager.NewFromConfig(cfg).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &name, SecretString: aws.String(`{"password":"S3cr3t","port":5432}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := secretsmanager.NewFromConfig(cfg).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &binary, SecretBinary: []byte("S3cr3t")}); err != nil {
		t.Fatal(err)
	}
	if _, err := ssm.NewFromConfig(cfg).PutParameter(t.Context(), &ssm.PutParameterInput{Name: &name, Value: aws.String("postgres://u@db/shop"), Type: ssmtypes.ParameterTypeSecureString}); err != nil {
		t.Fatal(err)
	}
	r := secrets.New(clock.System{}, Providers(cfg, clock.System{}))
	for _, tc := range []struct {
		ref, want string
		code      fault.Code
	}{
		{"secretsmanager://" + name, `{"password":"S3cr3t","port":5432}`, ""},
		{"secretsmanager://" + name + "#password", "S3cr3t", ""},
		{"secretsmanager://" + name + "#port", "", "LAPSTRAKE_CONFIG_SECRET_FIELD"},
		{"secretsmanager://" + name + "#none", "", "LAPSTRAKE_CONFIG_SECRET_FIELD"},
		{"secretsmanager://" + binary, "", "LAPSTRAKE_CONFIG_SECRET_BINARY"},
		{"secretsmanager://none", "", "LAPSTRAKE_CONFIG_SECRET_MISSING"},
		{"ssm://" + name, "postgres://u@db/shop", ""},
		{"ssm://none", "", "LAPSTRAKE_CONFIG_SECRET_MISSING"},
	} {
		if got, err := r.Resolve(t.Context(), tc.ref); got != tc.want || fault.CodeOf(err) != tc.code {
			t.Errorf("%s: %q, %v", tc.ref, got, err)
		} else if err != nil && strings.Contains(err.Error(), "S3cr3t") {
			t.Errorf("%s: the error shows a secret: %v", tc.ref, err)
		}
	}
}

func TestFailuresHaveClassAndCode(t *testing.T) {
	for _, tc := range []struct {
		answer string
		class  fault.Class
		code   fault.Code
	}{
		{"AccessDeniedException", fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_DENIED"},
		{"DecryptionFailure", fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_DENIED"},
		{"ValidationException", fault.Permanent, "LAPSTRAKE_CONFIG_SECRET_REFUSED"},
		{"InternalServiceError", fault.Retryable, "LAPSTRAKE_CONFIG_SECRET_UNREADABLE"},
		{"ThrottlingException", fault.Retryable, "LAPSTRAKE_CONFIG_SECRET_UNREADABLE"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-amz-json-1.1")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(`{"__type":"` + tc.answer + `","message":"because"}`))
		}))
		t.Cleanup(server.Close)
		cfg := aws.Config{
			Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""),
			Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		}
		r := secrets.New(clock.System{}, Providers(cfg, clock.System{}))
		for _, ref := range []string{"secretsmanager://shop", "ssm:///shop"} {
			_, err := r.Resolve(t.Context(), ref)
			if fault.ClassOf(err) != tc.class || fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), "shop") {
				t.Errorf("%s: %s gives %v (%s, %s)", ref, tc.answer, err, fault.ClassOf(err), fault.CodeOf(err))
			}
		}
	}
}
