package localstack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/localstack/cloud"
	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/s3"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/dynamodb"
	"github.com/lapstrake/lapstrake/shared/wire"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// patience is how long a run may take on a busy machine.
const patience = 3 * time.Minute

// world is one deployment with a database to read.
type world struct {
	*cloud.Deployment
	t      *testing.T
	ids    wiring.IDs
	db     *pgxpool.Pool
	schema string
	table  runstate.Table
}

// zips builds the zips of this machine's architecture, once.
var zips = sync.OnceValues(func() (map[string][]byte, error) {
	root, err := filepath.Abs("..")
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "zips")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	build := exec.Command(filepath.Join(root, "tools", "package.sh"), runtime.GOARCH, folder)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	all := make(map[string][]byte)
	for _, function := range cloud.Functions {
		body, err := os.ReadFile(filepath.Join(folder, function+".zip"))
		if err != nil {
			return nil, err
		}
		all[function] = body
	}
	return all, nil
})

// awsConfig signs in to the local cloud, which takes any credentials.
func awsConfig(t *testing.T) aws.Config {
	t.Helper()
	endpoint := testenv.Server(t, testenv.AWSEndpoint)
	return aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")}
}

// deploy puts a stack of its own on the local cloud, with a schema of its own
// in the database. The function's leases are short, so that a killed one is
// missed soon.
func deploy(t *testing.T, change func(*cloud.Options)) *world {
	t.Helper()
	databaseURL := testenv.Server(t, testenv.PostgresURL)
	cfg := awsConfig(t)
	packaged, err := zips()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t}
	id := strings.ToLower(w.ids.NewID()[:10])
	w.schema = "cloud_" + id
	o := cloud.Options{
		Stack: "lc-" + id, Bucket: "lake-" + id, Zips: packaged, Timeout: time.Minute,
		Env: map[string]string{"LAPSTRAKE_LEASE": "6s", "LAPSTRAKE_HEARTBEAT": "2s"},
	}
	if change != nil {
		change(&o)
	}
	if w.db, err = pgxpool.New(t.Context(), databaseURL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.db.Close)
	w.exec("create schema " + w.schema)
	t.Cleanup(func() {
		if _, err := w.db.Exec(context.Background(), "drop schema "+w.schema+" cascade"); err != nil {
			t.Error(err)
		}
	})
	w.Deployment, err = cloud.Deploy(t.Context(), cfg, o)
	if w.Deployment != nil {
		t.Cleanup(func() {
			if err := w.Remove(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	w.table = dynamodb.New(w.DynamoDB, w.Table, clock.System{}, w.ids)
	w.secret("database", databaseURL)
	return w
}

func (w *world) exec(statement string, args ...any) {
	w.t.Helper()
	if _, err := w.db.Exec(w.t.Context(), statement, args...); err != nil {
		w.t.Fatalf("%s: %v", statement, err)
	}
}

// secret stores a value in Secrets Manager and returns the reference to it.
func (w *world) secret(name, value string) string {
	w.t.Helper()
	id := w.Stack + "/" + name
	_, err := w.Secrets.CreateSecret(w.t.Context(), &secretsmanager.CreateSecretInput{Name: &id, SecretString: &value})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.secretRef(name)
}

func (w *world) secretRef(name string) string { return "secretsmanager://" + w.Stack + "/" + name }

// config stores a config and returns its URI. In its text, STACK, BUCKET and
// SCHEMA are those of the world, and SOURCE is a reference to its database.
func (w *world) config(text string) string {
	w.t.Helper()
	body := strings.NewReplacer("STACK", w.Stack, "BUCKET", w.Bucket, "SCHEMA", w.schema, "SOURCE", w.secretRef("database")).Replace(text)
	key := "config/" + w.ids.NewID() + ".yaml"
	_, err := w.S3.PutObject(w.t.Context(), &awss3.PutObjectInput{Bucket: &w.Bucket, Key: &key, Body: strings.NewReader(body)})
	if err != nil {
		w.t.Fatal(err)
	}
	return "s3://" + w.Bucket + "/" + key
}

// now is the scheduled time of a trigger.
func now() *contract.Time {
	at := contract.NewTime(clock.System{}.Now())
	return &at
}

func (w *world) trigger(export, configURI string) wire.Trigger {
	return wire.Trigger{Version: wire.Version, Action: wire.ActionRun, Export: contract.ExportName(export), ConfigURI: configURI, ScheduledTime: now()}
}

// start triggers a run and returns its id.
func (w *world) start(t wire.Trigger) contract.RunID {
	w.t.Helper()
	got, err := w.Trigger(w.t.Context(), t)
	if err != nil {
		w.t.Fatalf("trigger %s: %v", t.Export, err)
	}
	if got.Status != wire.Started || got.RunID == "" {
		w.t.Fatalf("trigger %s: %+v, want started", t.Export, got)
	}
	return got.RunID
}

// store opens the bucket at a prefix as the functions do.
func (w *world) store(prefix string) destination.Store {
	w.t.Helper()
	uri := strings.TrimSuffix("s3://"+w.Bucket+"/"+prefix, "/")
	w.t.Setenv("AWS_ACCESS_KEY_ID", "test")
	w.t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	at := wire.Location{Kind: "s3", URI: uri, Region: "us-east-1", Endpoint: aws.ToString(w.S3.Options().BaseEndpoint)}
	store, err := s3.Open(w.t.Context(), at, s3.Options{Clock: clock.System{}, IDs: w.ids})
	if err != nil {
		w.t.Fatal(err)
	}
	return store
}

// keys lists the objects below a prefix of the bucket.
func (w *world) keys(prefix string) []string {
	w.t.Helper()
	var all []string
	err := w.store("").List(w.t.Context(), prefix, func(o destination.Object) error {
		all = append(all, o.Key)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// verdicts returns the keys of a run's verdict objects.
func (w *world) verdicts(prefix string, run contract.RunID) []string {
	w.t.Helper()
	var found []string
	for _, key := range w.keys(prefix + "/" + contract.ControlDir + "/") {
		if strings.Contains(key, "/runs/"+string(run)+"/verdict-") {
			found = append(found, key)
		}
	}
	return found
}

// eventually asks until ok says yes, every interval, and fails when patience
// ends.
func (w *world) eventually(what string, ok func() (bool, error)) {
	w.t.Helper()
	const interval = 200 * time.Millisecond
	var last error
	for began := (clock.System{}).Now(); (clock.System{}).Now().Sub(began) < patience; <-(clock.System{}).After(interval) {
		done, err := ok()
		if done && err == nil {
			return
		}
		last = err
	}
	w.t.Fatalf("%s: not within %v (%v)", what, patience, last)
}

// await waits until a run has ended and is reported, and returns it.
func (w *world) await(run contract.RunID) runstate.Run {
	w.t.Helper()
	var found runstate.Run
	w.eventually("the end of run "+string(run), func() (bool, error) {
		var err error
		found, err = w.table.GetRun(w.t.Context(), run)
		if errors.Is(err, runstate.ErrNotFound) {
			return false, err
		}
		return found.Status.Terminal() && (found.Notified || found.Status != runstate.RunSucceeded), err
	})
	return found
}

// chunks returns every chunk of a run.
func (w *world) chunks(run runstate.Run) []runstate.Chunk {
	w.t.Helper()
	var all []runstate.Chunk
	for shard := range run.Shards {
		some, err := w.table.ListChunks(w.t.Context(), run.RunID, shard)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, some...)
	}
	return all
}
