package validator

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

func TestEventsBecomeTasks(t *testing.T) {
	own := wire.ValidateTask{Version: wire.Version, Root: wire.Location{Kind: "s3", URI: "s3://b"}, Prefix: "p/"}
	for _, tc := range []struct {
		name string
		body string
		want []string // bucket and prefix
	}{
		{name: "a task of ours", body: string(encoded(own)), want: []string{"s3://b p/"}},
		{name: "a notification, whose key is encoded", // QUE-16
			body: `{"Records":[{"eventName":"ObjectCreated:Put","s3":{"bucket":{"name":"b"},"object":{"key":"dt%3D2024-01-01/a+b%2Bc/_SUCCESS"}}}]}`, want: []string{"s3://b dt=2024-01-01/a b+c/"}},
		{name: "a notification of several objects",
			body: `{"Records":[{"s3":{"bucket":{"name":"b"},"object":{"key":"x/_SUCCESS"}}},{"s3":{"bucket":{"name":"b"},"object":{"key":"x/part-000001.csv"}}},{"s3":{"bucket":{"name":"c"},"object":{"key":"_SUCCESS"}}}]}`,
			want: []string{"s3://b x/", "s3://c "}},
		{name: "an event of the bus, whose key is as it is",
			body: `{"version":"0","detail-type":"Object Created","source":"aws.s3","detail":{"bucket":{"name":"b"},"object":{"key":"dt=2024-01-01/a b+c%/_SUCCESS","size":22}}}`, want: []string{"s3://b dt=2024-01-01/a b+c%/"}},
		{name: "the store's test message", body: `{"Service":"Amazon S3","Event":"s3:TestEvent","Bucket":"b"}`},
		{name: "a name that only ends like a marker", body: `{"Records":[{"s3":{"bucket":{"name":"b"},"object":{"key":"x/part_SUCCESS"}}}]}`}, // QUE-19
		{name: "a name that only starts like a marker", body: `{"Records":[{"s3":{"bucket":{"name":"b"},"object":{"key":"x/_SUCCESS.tmp"}}}]}`},
		{name: "a marker in quarantine", body: `{"Records":[{"s3":{"bucket":{"name":"b"},"object":{"key":"x/_quarantine/r1/_SUCCESS"}}}]}`},
		{name: "a marker among control objects", body: `{"detail":{"bucket":{"name":"b"},"object":{"key":"_lapstrake/e/_SUCCESS"}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tasks, err := Tasks([]byte(tc.body), func(bucket string) wire.Location { return wire.Location{Kind: "s3", URI: "s3://" + bucket} })
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, task := range tasks {
				if task.Version != wire.Version {
					t.Errorf("task %+v has no version", task)
				}
				got = append(got, task.Root.URI+" "+task.Prefix)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
	for _, body := range []string{``, `[]`, `{}`, `{"Event":"x"}`, `{"Records":[{"s3":{"object":{"key":"%zz/_SUCCESS"}}}]}`, `{"version":9,"root":{"kind":"s3","uri":"s3://b"},"prefix":"p/"}`, `{"version":1,"root":{},"other":1}`} {
		if _, err := Tasks([]byte(body), func(string) wire.Location { return wire.Location{} }); fault.ClassOf(err) != fault.Permanent {
			t.Errorf("%s: error is %v", body, err)
		}
	}
}
