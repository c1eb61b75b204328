package validator

import (
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// Tasks reads the body of a message from an S3-compatible store, in any of its
// forms: a task of ours, a notification of the bucket ("Records", whose keys
// are encoded as in a query string, QUE-16), an event of the bus ("detail",
// whose keys are as they are), or the store's own test message, which asks for
// nothing (QUE-18). Objects that are not markers ask for nothing either
// (QUE-19). locate turns a bucket's name into its location.
func Tasks(body []byte, locate func(bucket string) wire.Location) ([]wire.ValidateTask, error) {
	var event struct {
		Event   string         `json:"Event"`
		Root    *wire.Location `json:"root"`
		Records []struct {
			S3 struct {
				Bucket named `json:"bucket"`
				Object named `json:"object"`
			} `json:"s3"`
		} `json:"Records"`
		Detail *struct {
			Bucket named `json:"bucket"`
			Object named `json:"object"`
		} `json:"detail"`
	}
	if err := json.Unmarshal(body, &event); err != nil {
		return nil, fault.Wrap(err, fault.Permanent, "LAPSTRAKE_VALIDATE_EVENT_INVALID", "event of %d bytes cannot be read", len(body))
	}
	var tasks []wire.ValidateTask
	add := func(bucket, key string) {
		if prefix, ok := markerPrefix(key); ok {
			tasks = append(tasks, wire.ValidateTask{Version: wire.Version, Root: locate(bucket), Prefix: prefix})
		}
	}
	switch {
	case event.Root != nil:
		task, err := wire.Decode[wire.ValidateTask](body)
		return []wire.ValidateTask{task}, err
	case event.Detail != nil:
		add(event.Detail.Bucket.Name, event.Detail.Object.Key)
	case event.Records != nil:
		for _, r := range event.Records {
			key, err := url.QueryUnescape(r.S3.Object.Key)
			if err != nil {
				return nil, fault.Wrap(err, fault.Permanent, "LAPSTRAKE_VALIDATE_EVENT_INVALID", "event names an object key that cannot be decoded")
			}
			add(r.S3.Bucket.Name, key)
		}
	case event.Event == "s3:TestEvent":
	default:
		return nil, fault.New(fault.Permanent, "LAPSTRAKE_VALIDATE_EVENT_INVALID", "event of %d bytes is none of a store", len(body))
	}
	return tasks, nil
}

type named struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// markerPrefix returns the prefix that the object at key marks. ok is false for
// an object that only looks like a marker.
func markerPrefix(key string) (prefix string, ok bool) {
	dir, name := path.Split(key)
	return dir, name == contract.SuccessName && !inControlFolder(strings.TrimSuffix(dir, "/"))
}
