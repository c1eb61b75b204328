package wiring

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// DefaultStack begins the names of a deployment that does not say otherwise.
const DefaultStack = "lapstrake"

// defaultChunkTimeout is the longest that Lambda lets a function run.
const defaultChunkTimeout = 900 * time.Second

// AWSSettingsFromEnv reads what a deployment sets in the environment of its
// functions, see docs/aws.md. Log is left to the caller.
func AWSSettingsFromEnv(lookup func(string) (string, bool)) (AWSSettings, error) {
	get := func(name string) string {
		v, _ := lookup(name)
		return v
	}
	s := AWSSettings{
		Table:        cmp.Or(get("LAPSTRAKE_TABLE"), cmp.Or(get("LAPSTRAKE_STACK"), DefaultStack)+"-state"),
		SlackWebhook: get("LAPSTRAKE_SLACK_WEBHOOK"),
		Topic:        get("LAPSTRAKE_SNS_TOPIC"),
		Worker:       get("AWS_LAMBDA_LOG_STREAM_NAME"),
		ChunkTimeout: defaultChunkTimeout,
	}
	var err error
	if s.Settings, err = SettingsFromEnv(lookup); err != nil {
		return s, err
	}
	for name, d := range map[string]*time.Duration{"LAPSTRAKE_CHUNK_TIMEOUT": &s.ChunkTimeout, "LAPSTRAKE_RUN_TTL": &s.RunTTL} {
		if err := durationSetting(name, get(name), d); err != nil {
			return s, err
		}
	}
	s.QueueURLs, err = queueURLs(lookup)
	return s, err
}

// queueURLs reads the URL of each queue by the name that messages use.
func queueURLs(lookup func(string) (string, bool)) (map[string]string, error) {
	text, _ := lookup("LAPSTRAKE_QUEUE_URLS")
	if text == "" {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SETTING", `LAPSTRAKE_QUEUE_URLS is not set: it is a JSON object of queue URLs by name, {"finalize": "https://…", "chunk-default": "https://…"}`)
	}
	var urls map[string]string
	if err := json.Unmarshal([]byte(text), &urls); err != nil {
		return nil, fault.New(fault.Usage, "LAPSTRAKE_CONFIG_SETTING", "LAPSTRAKE_QUEUE_URLS is not a JSON object of queue URLs by name")
	}
	return urls, nil
}
