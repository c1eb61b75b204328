package wiring

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/fault"
)

func TestSettingsOfADeployment(t *testing.T) {
	const urls = `{"finalize":"https://sqs/1/shop-finalize"}`
	defaults := AWSSettings{
		Table: "lapstrake-state", QueueURLs: map[string]string{"finalize": "https://sqs/1/shop-finalize"}, ChunkTimeout: 15 * time.Minute,
		Settings: Settings{Lease: 180 * time.Second, Heartbeat: time.Minute, Sweep: time.Minute},
	}
	with := func(change func(*AWSSettings)) AWSSettings {
		s := defaults
		change(&s)
		return s
	}
	for _, tc := range []struct {
		name string
		env  map[string]string
		want AWSSettings
		code fault.Code
	}{
		{"queues alone", map[string]string{}, defaults, ""},
		{"a stack names its table", map[string]string{"LAPSTRAKE_STACK": "shop"}, with(func(s *AWSSettings) { s.Table = "shop-state" }), ""},
		{"a table of another name", map[string]string{"LAPSTRAKE_STACK": "shop", "LAPSTRAKE_TABLE": "runs"}, with(func(s *AWSSettings) { s.Table = "runs" }), ""},
		{"times", map[string]string{"LAPSTRAKE_LEASE": "6s", "LAPSTRAKE_HEARTBEAT": "2s", "LAPSTRAKE_CHUNK_TIMEOUT": "5m", "LAPSTRAKE_RUN_TTL": "48h"}, with(func(s *AWSSettings) {
			s.Lease, s.Heartbeat, s.ChunkTimeout, s.RunTTL = 6*time.Second, 2*time.Second, 5*time.Minute, 48*time.Hour
		}), ""},
		{"a webhook", map[string]string{"LAPSTRAKE_SLACK_WEBHOOK": "ssm://hook"}, with(func(s *AWSSettings) { s.SlackWebhook = "ssm://hook" }), ""},
		{"a topic", map[string]string{"LAPSTRAKE_SNS_TOPIC": "arn:aws:sns:eu-west-1:1:runs"}, with(func(s *AWSSettings) { s.Topic = "arn:aws:sns:eu-west-1:1:runs" }), ""},
		{"the worker is its log stream", map[string]string{"AWS_LAMBDA_LOG_STREAM_NAME": "2026/11/29/[1]ab"}, with(func(s *AWSSettings) { s.Worker = "2026/11/29/[1]ab" }), ""},
		{"no queues", map[string]string{"LAPSTRAKE_QUEUE_URLS": ""}, AWSSettings{}, "LAPSTRAKE_CONFIG_SETTING"},
		{"queues that are not JSON", map[string]string{"LAPSTRAKE_QUEUE_URLS": "https://sqs/1/q"}, AWSSettings{}, "LAPSTRAKE_CONFIG_SETTING"},
		{"a time without a unit", map[string]string{"LAPSTRAKE_CHUNK_TIMEOUT": "900"}, AWSSettings{}, "LAPSTRAKE_CONFIG_SETTING"},
		{"a heartbeat that is too slow", map[string]string{"LAPSTRAKE_LEASE": "30s"}, AWSSettings{}, "LAPSTRAKE_CONFIG_SETTING"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := map[string]string{"LAPSTRAKE_QUEUE_URLS": urls}
			for k, v := range tc.env {
				env[k] = v
			}
			got, err := AWSSettingsFromEnv(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
			if code := fault.CodeOf(err); code != tc.code {
				t.Fatalf("error %v (%s), want %q", err, code, tc.code)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
