package localstack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// failure is what the machine for one export tells of one that was not
// published: the input, with the error that the step got.
type failure struct {
	Export string
	Error  struct{ Error, Cause string }
}

func TestAStateMachineWaitsForItsExport(t *testing.T) {
	w := deploy(t, nil)
	w.makeOrders(2_000)
	f := w.workflows(awsConfig(t))
	run := func(export, config string) *sfn.DescribeExecutionOutput {
		return f.ended(f.begin("export", exportInput{Export: export, ConfigURI: w.config(config)}))
	}

	t.Run("one that succeeds is announced", func(t *testing.T) {
		ended := run("orders", ordersConfig)
		if ended.Status != types.ExecutionStatusSucceeded {
			t.Fatalf("%s: %s: %s", ended.Status, aws.ToString(ended.Error), aws.ToString(ended.Cause))
		}
		var out wire.RunOutput
		f.heard(publishedTopic, &out)
		run := w.await(out.RunID)
		if out.Status != "success" || out.Verdict != "passed" || out.RowCount != 2_000 ||
			out.PartCount != run.Outcome.Parts || out.ManifestFingerprint != run.Outcome.ManifestFingerprint || out.Error != nil {
			t.Errorf("announced: %+v", out)
		}
		if key, ok := strings.CutPrefix(out.ManifestURI, "s3://"+w.Bucket+"/"); !ok || len(w.keys(key)) != 1 {
			t.Errorf("there is no manifest at %s", out.ManifestURI)
		}
		f.silent(alarmTopic)
		w.wantPublished(ordersPrefix)
	})

	t.Run("one whose run fails is told of, with the code", func(t *testing.T) {
		w.exec("update " + w.schema + ".orders set note = repeat('x', 2 << 20) where id = 7")
		ended := run("orders", strings.Replace(ordersConfig, "tls:", "tuning: { max_value_mb: 1 }\n  tls:", 1))
		if ended.Status != types.ExecutionStatusFailed || aws.ToString(ended.Error) != "NotPublished" {
			t.Errorf("%s with %s", ended.Status, aws.ToString(ended.Error))
		}
		var told failure
		f.heard(alarmTopic, &told)
		var out wire.RunOutput
		decode(t, told.Error.Cause, &out)
		if out.Error == nil || told.Error.Error != string(out.Error.Code) || !strings.HasPrefix(told.Error.Error, "LAPSTRAKE_") {
			t.Fatalf("told: %+v", told)
		}
		if run := w.await(out.RunID); run.Status != runstate.RunFailed || run.Error.Code != out.Error.Code {
			t.Errorf("the run is %s: %+v", run.Status, run.Error)
		}
		f.silent(publishedTopic)
	})

	t.Run("one that cannot be started", func(t *testing.T) {
		run("nothing", ordersConfig)
		var told failure
		f.heard(alarmTopic, &told)
		if told.Export != "nothing" || told.Error.Error != "LAPSTRAKE_CONFIG_EXPORT_UNKNOWN" {
			t.Errorf("told: %+v", told)
		}
		f.silent(publishedTopic)
	})
}

// Six exports, more than run at a time: the gate is on the verdicts of all.
func TestAStateMachineGatesSeveralExports(t *testing.T) {
	const exports = 6
	w := deploy(t, nil)
	w.makeMany(exports)
	f := w.workflows(awsConfig(t))
	in := exportsInput{}
	config := w.config(manyConfig(exports))
	for n := range exports {
		in.Exports = append(in.Exports, exportInput{Export: manyName(n), ConfigURI: config})
	}
	type outcome struct {
		Export, Outcome string
		RunID           contract.RunID `json:"run_id"`
		ManifestURI     string         `json:"manifest_uri"`
		RowCount        int64          `json:"row_count"`
	}
	heard := func(f *workflows, topic string) map[string][]outcome {
		var told struct{ Runs []outcome }
		f.heard(topic, &told)
		by := map[string][]outcome{}
		for _, o := range told.Runs {
			by[o.Outcome] = append(by[o.Outcome], o)
		}
		return by
	}

	t.Run("all pass", func(t *testing.T) {
		if ended := f.ended(f.begin("exports", in)); ended.Status != types.ExecutionStatusSucceeded {
			t.Fatalf("%s: %s: %s", ended.Status, aws.ToString(ended.Error), aws.ToString(ended.Cause))
		}
		told := heard(f, publishedTopic)
		if len(told["passed"]) != exports {
			t.Errorf("announced: %+v", told)
		}
		for _, o := range told["passed"] {
			if run := w.await(o.RunID); string(run.Export) != o.Export || run.Outcome.Rows != o.RowCount {
				t.Errorf("%s is announced as %+v", run.RunID, o)
			}
			w.wantPublishedAs(manyPrefix(o.Export), o.Export)
		}
		f.silent(alarmTopic)
	})

	t.Run("one has no rows and publishes nothing", func(t *testing.T) {
		w.exec(fmt.Sprintf("delete from %s.%s", w.schema, manyName(4)))
		skipping := in
		skipping.Exports = append([]exportInput{{Export: manyName(4), ConfigURI: w.config(strings.ReplaceAll(manyConfig(exports), "mode: full", "mode: full, skip_empty: true"))}}, in.Exports[:4]...)
		if ended := f.ended(f.begin("exports", skipping)); ended.Status != types.ExecutionStatusSucceeded {
			t.Fatalf("%s: %s: %s", ended.Status, aws.ToString(ended.Error), aws.ToString(ended.Cause))
		}
		if told := heard(f, publishedTopic); len(told["passed"]) != 4 || len(told["empty"]) != 1 {
			t.Errorf("announced: %+v", told)
		}
	})

	t.Run("one fails, and none is announced", func(t *testing.T) {
		w.exec(fmt.Sprintf("drop table %s.%s", w.schema, manyName(3)))
		if ended := f.ended(f.begin("exports", in)); ended.Status != types.ExecutionStatusFailed || aws.ToString(ended.Error) != "NotPublished" {
			t.Errorf("%s with %s", ended.Status, aws.ToString(ended.Error))
		}
		if told := heard(f, alarmTopic); len(told["passed"]) != exports-1 || len(told["failed"]) != 1 || told["failed"][0].Export != manyName(3) {
			t.Errorf("told: %+v", told)
		}
		f.silent(publishedTopic)
	})
}
