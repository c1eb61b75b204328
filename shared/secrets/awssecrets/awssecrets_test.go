package awssecrets

import (
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
	name := "lapstrake-" + t.Name()
	if _, err := secretsmanager.NewFromConfig(cfg).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &name, SecretString: aws.String(`{"password":"S3cr3t","port":5432}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := ssm.NewFromConfig(cfg).PutParameter(t.Context(), &ssm.PutParameterInput{Name: &name, Value: aws.String("postgres://u@db/shop"), Type: ssmtypes.ParameterTypeSecureString}); err != nil {
		t.Fatal(err)
	}
	r := secrets.New(clock.System{}, Providers(cfg))
	for _, tc := range []struct {
		ref, want string
		code      fault.Code
	}{
		{"secretsmanager://" + name, `{"password":"S3cr3t","port":5432}`, ""},
		{"secretsmanager://" + name + "#password", "S3cr3t", ""},
		{"secretsmanager://" + name + "#port", "", "LAPSTRAKE_CONFIG_SECRET_FIELD"},
		{"secretsmanager://none", "", "LAPSTRAKE_CONFIG_SECRET_MISSING"},
		{"ssm://" + name, "postgres://u@db/shop", ""},
		{"ssm://none", "", "LAPSTRAKE_CONFIG_SECRET_MISSING"},
	} {
		if got, err := r.Resolve(t.Context(), tc.ref); got != tc.want || fault.CodeOf(err) != tc.code {
			t.Errorf("%s: %q, %v", tc.ref, got, err)
		}
	}
}
