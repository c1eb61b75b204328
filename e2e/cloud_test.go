package e2e

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/contract"
	tables "github.com/lapstrake/lapstrake/shared/runstate/dynamodb"
)

// cloud is a bucket and a table of a test's own.
type cloud struct {
	client        *s3.Client
	bucket, table string
	env           map[string]string // that points a process at them
}

const region = "us-east-1"

func newCloud(t *testing.T) cloud {
	t.Helper()
	store, aws4 := testenv.Server(t, testenv.S3Endpoint), testenv.Server(t, testenv.AWSEndpoint)
	name := "e2e-" + strings.ToLower(rand.Text()[:12])
	keys := credentials.NewStaticCredentialsProvider("test", "testtest", "")
	c := cloud{
		bucket: name, table: name,
		client: s3.New(s3.Options{Region: region, Credentials: keys, BaseEndpoint: aws.String(store), UsePathStyle: true}),
		env: map[string]string{
			"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "testtest", "AWS_REGION": region,
			"AWS_ENDPOINT_URL_S3": store, "AWS_ENDPOINT_URL_DYNAMODB": aws4,
			// A table in the cloud does not say that a process was killed: its
			// leases have to end.
			"LAPSTRAKE_LEASE": "4s", "LAPSTRAKE_HEARTBEAT": "1s", "LAPSTRAKE_SWEEP": "1s",
		},
	}
	if _, err := c.client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(c.bucket)}); err != nil {
		t.Fatal(err)
	}
	db := dynamodb.New(dynamodb.Options{Region: region, Credentials: keys, BaseEndpoint: aws.String(aws4)})
	if err := tables.CreateTable(t.Context(), db, c.table); err != nil {
		t.Fatal(err)
	}
	return c
}

// inBucket is the get of a prefix in the bucket.
func (c cloud) inBucket(t *testing.T, prefix string) func(string) []byte {
	return func(key string) []byte {
		out, err := c.client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(c.bucket), Key: aws.String(prefix + "/" + key)})
		var absent *types.NoSuchKey
		if errors.As(err, &absent) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = out.Body.Close() }()
		body, err := io.ReadAll(out.Body)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
}

// onCloud is the export of newLines, to the bucket.
func onCloud(c cloud) string {
	return strings.Replace(lineConfig, "{ type: local, path: out }", fmt.Sprintf("{ type: s3, bucket: %s, prefix: \"shop/{export}\" }", c.bucket), 1)
}

// leavesNothing fails if anything but the config is on the desk.
func (d *desk) leavesNothing(t *testing.T) {
	t.Helper()
	for dir, allowed := range map[string]string{d.dir: "rivet.yaml", d.home: "", d.tmp: ""} {
		for _, name := range files(t, dir) {
			if name != allowed {
				t.Errorf("%s was left on disk", name)
			}
		}
	}
}

// resume tries until the killed process's lease has ended.
func (d *desk) resume(t *testing.T, args ...string) {
	t.Helper()
	for try := range 1000 {
		o := d.run(t, append([]string{"resume"}, args...)...)
		switch {
		case o.code == 0 && try == 0:
			t.Fatal("a run was resumed whose process might still live")
		case o.code == 0:
			return
		case o.code != 2 || !strings.Contains(o.stderr, "LAPSTRAKE_RUN_ACTIVE"):
			t.Fatalf("resume: %s", o)
		}
	}
	t.Fatal("the lease never ends")
}

// A signal gives the run up at once, so that another machine need not wait.
func TestAnInterruptedRunOnTheCloudResumesAtOnce(t *testing.T) {
	c := newCloud(t)
	d, db := newLines(t)
	for k, v := range c.env {
		d.env[k] = v
	}
	d.write(t, "rivet.yaml", onCloud(c))
	o := d.start(t, signalAt(lineChunks/2, chunkDone, syscall.SIGTERM), "run", "--state", "dynamodb://"+c.table).wait(t)
	said := printedCommand.FindStringSubmatch(o.stderr)
	if o.code != 128+int(syscall.SIGTERM) || said == nil {
		t.Fatal(o)
	}
	d = d.move(t)
	d.write(t, "rivet.yaml", onCloud(c))
	d.must(t, strings.Fields(said[1])...)
	d.leavesNothing(t)
	holdsLines(t, db, published(t, c.inBucket(t, "shop/lines")))
}

func TestARunOnTheCloudLeavesNothingOnDiskAndResumesAnywhere(t *testing.T) {
	c := newCloud(t)
	state := []string{"--state", "dynamodb://" + c.table, "--workers", "2"}
	for _, tc := range []struct {
		name string
		nth  int
		line string
	}{
		{"not killed", 0, chunkDone},
		{"killed when the run has started", 1, `"run started"`},
		{"killed at the first chunk", 1, chunkDone},
		{"killed half way", lineChunks / 2, chunkDone},
		{"killed at the last chunk but one", lineChunks - 1, chunkDone},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, db := newLines(t)
			for k, v := range c.env {
				d.env[k] = v
			}
			export := strings.ReplaceAll("lines "+tc.name, " ", "-")
			config := strings.Replace(onCloud(c), "name: lines", "name: "+export, 1)
			d.write(t, "rivet.yaml", config)
			get := c.inBucket(t, "shop/"+export)
			o := d.start(t, signalAt(tc.nth, tc.line, syscall.SIGKILL), append([]string{"run"}, state...)...).wait(t)
			d.leavesNothing(t)
			if tc.nth == 0 {
				if o.code != 0 {
					t.Fatal(o)
				}
			} else {
				if o.code != 128+int(syscall.SIGKILL) {
					t.Fatalf("it was not killed: %s", o)
				}
				if get(contract.SuccessName) != nil || get(contract.ManifestName) != nil {
					t.Error("it is published")
				}
				d = d.move(t)
				d.write(t, "rivet.yaml", config)
				d.resume(t, state...)
				d.leavesNothing(t)
			}
			holdsLines(t, db, published(t, get))
			d.must(t, "validate")
			d.leavesNothing(t)
		})
	}
}
