package terraform

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/localstack/cloud"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/wire"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// same fails unless an argument is written as it is here: a value that has to
// stay in step with the code is one that a reader finds in one place.
func same(t *testing.T, b block, argument, want string) {
	t.Helper()
	if got := b.arguments[argument]; got != want {
		t.Errorf("%s of %s in %s is %s, want %s", argument, b.name, b.file, got, want)
	}
}

func TestAMessageIsHiddenForSixTimesTheTimeout(t *testing.T) { // QUE-02
	all := configuration(t, awsModule)
	locals := argumentsOf(t, all, "locals", "visibility_seconds")
	if locals != "6 * var.timeout_seconds" {
		t.Errorf("visibility_seconds is %s", locals)
	}
	same(t, resources(all, "aws_sqs_queue")["this"], "visibility_timeout_seconds", "local.visibility_seconds")
	same(t, resources(all, "aws_lambda_function")["this"], "timeout", "var.timeout_seconds")
}

func TestEveryQueueHasADeadLetterQueueAndAnAlarmOnIt(t *testing.T) { // QUE-04
	all := configuration(t, awsModule)
	queues := resources(all, "aws_sqs_queue")
	for name, queue := range queues {
		if name == "dead_letter" {
			same(t, queue, "for_each", "setunion(keys(local.queues), [local.triggers])")
			continue
		}
		same(t, queue, "for_each", "local.queues")
		if !strings.Contains(queue.arguments["redrive_policy"], "aws_sqs_queue.dead_letter[each.key].arn") {
			t.Errorf("%s has no dead-letter queue: %s", queue.name, queue.arguments["redrive_policy"])
		}
	}
	alarm := resources(all, "aws_cloudwatch_metric_alarm")["dead_letters"]
	same(t, alarm, "for_each", "aws_sqs_queue.dead_letter")
	same(t, alarm, "threshold", "0")
	mapping := resources(all, "aws_lambda_event_source_mapping")["this"]
	same(t, mapping, "for_each", "local.queues")
	same(t, mapping, "batch_size", "1")
	same(t, mapping, "function_response_types", `["ReportBatchItemFailures"]`)
}

func TestSplitsEndLongBeforeLambdaTakesThemForALoop(t *testing.T) {
	const lambdaStops = 16
	if dispatch.MaxSplitDepth >= lambdaStops {
		t.Errorf("a chunk may split %d times in a row, and Lambda stops a loop at %d", dispatch.MaxSplitDepth, lambdaStops)
	}
	same(t, resources(configuration(t, awsModule), "aws_cloudwatch_metric_alarm")["recursion"], "metric_name", `"RecursiveInvocationsDropped"`)
}

func TestTheFunctionsAreThoseThatArePackaged(t *testing.T) {
	all := configuration(t, awsModule)
	mains, err := filepath.Glob(repository + "/functions/*/aws/main.go")
	if err != nil {
		t.Fatal(err)
	}
	var packaged []string
	for _, main := range mains {
		packaged = append(packaged, filepath.Base(filepath.Dir(filepath.Dir(main))))
	}
	var declared []string
	for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(argumentsOf(t, all, "locals", "functions"), -1) {
		declared = append(declared, m[1])
	}
	slices.Sort(declared)
	if !slices.Equal(packaged, declared) {
		t.Errorf("functions: packaged %v, declared %v", packaged, declared)
	}
	function := resources(all, "aws_lambda_function")["this"]
	same(t, function, "filename", `"${var.artifact_dir}/${each.key}.zip"`)
	same(t, function, "runtime", `"provided.al2023"`)
	same(t, function, "handler", `"bootstrap"`)
	if !strings.Contains(read(t, repository+"/tools/package.sh"), `"$out/$name.zip"`) {
		t.Error("tools/package.sh writes other names than FUNCTION.zip")
	}
	for _, example := range []string{"aws-nightly-postgres", "aws-step-functions"} {
		folder := filepath.Join("examples", example)
		artifacts := argumentsOf(t, configuration(t, folder), `variable "artifact_dir"`, "default")
		got := filepath.Join(folder, strings.Trim(artifacts, `"`))
		if want := filepath.Join(repository, "dist/lambda/arm64"); got != want {
			t.Errorf("%s takes the functions from %s, and `make package` puts them into %s", example, got, want)
		}
	}
	if !strings.Contains(read(t, repository+"/tools/package.sh"), "out=${2:-dist/lambda/$arch}") {
		t.Error("tools/package.sh writes to another folder than dist/lambda/ARCH")
	}
}

func TestQueuesAndTableHaveTheNamesThatTheFunctionsUse(t *testing.T) { // QUE-14
	all := configuration(t, awsModule)
	queues := argumentsOf(t, all, "locals", "queues")
	for _, name := range []string{wire.FinalizeQueue + " = {", wire.ValidateQueue + " = {", `"` + wire.ChunkQueue("${name}") + `" => {`} {
		if !strings.Contains(queues, name) {
			t.Errorf("there is no queue %s in %s", name, queues)
		}
	}
	table := resources(all, "aws_dynamodb_table")["state"]
	same(t, table, "name", `"${var.name}-state"`)
	same(t, table, "hash_key", `"pk"`)
	same(t, table, "range_key", `"sk"`)
	settings, err := wiring.AWSSettingsFromEnv(func(name string) (string, bool) {
		v, ok := map[string]string{"LAPSTRAKE_STACK": "shop", "LAPSTRAKE_QUEUE_URLS": "{}"}[name]
		return v, ok
	})
	if err != nil || settings.Table != "shop-state" {
		t.Errorf("the functions of stack shop use table %s: %v", settings.Table, err)
	}
	if pattern := resources(all, "aws_cloudwatch_event_rule")["markers"].arguments["event_pattern"]; !strings.Contains(pattern, "${var.prefix}*"+contract.SuccessName) {
		t.Errorf("the rule does not match the marker: %s", pattern)
	}
}

// The local cloud deploys by calls what the module deploys by configuration.
func TestTheLocalCloudDeploysTheSameFunctions(t *testing.T) {
	got := slices.Sorted(slices.Values(cloud.Functions))
	if want := []string{"chunk", "finalizer", "planner", "validator"}; !slices.Equal(got, want) {
		t.Errorf("functions of the local cloud: %v", got)
	}
	functions := read(t, repository+"/localstack/cloud/cloud.go")
	for name, want := range map[string]string{"memoryMB": "2048", "maxReceives": "10", "validateMaxReceives": "6", "maxConcurrency": "8"} {
		if m := regexp.MustCompile(name + `\s+= (\d+)`).FindStringSubmatch(functions); m == nil || m[1] != want {
			t.Errorf("%s of the local cloud is %v, that of the module %s", name, m, want)
		}
	}
	all := configuration(t, awsModule)
	queues := argumentsOf(t, all, "locals", "queues")
	if got := fmt.Sprint(regexp.MustCompile(`max_receives\s+= (\d+)`).FindAllString(queues, -1)); strings.Count(got, "10") != 2 || strings.Count(got, "6") != 1 {
		t.Errorf("receives before a message is given up: %s", got)
	}
	if got := argumentsOf(t, all, `variable "memory_mb"`, "type"); strings.Count(got, "2048") != 4 {
		t.Errorf("memory of the functions: %s", got)
	}
	if got := argumentsOf(t, all, `variable "sources"`, "type"); !regexp.MustCompile(`max_concurrency +=\s*optional\(number, 8\)`).MatchString(got) {
		t.Errorf("sources: %s", got)
	}
}

func TestNoModuleConfiguresAProvider(t *testing.T) {
	for _, b := range configuration(t, awsModule) {
		if strings.HasPrefix(b.name, "provider ") {
			t.Errorf("%s has %s: it is the caller's", b.file, b.name)
		}
	}
}

func TestEveryInputAndOutputIsDescribed(t *testing.T) {
	folders, err := filepath.Glob("*/*/versions.tf")
	if err != nil || len(folders) < 3 {
		t.Fatalf("modules and examples: %v %v", folders, err)
	}
	for _, versions := range folders {
		for _, b := range configuration(t, filepath.Dir(versions)) {
			variable, output := strings.HasPrefix(b.name, "variable "), strings.HasPrefix(b.name, "output ")
			if (variable || output) && b.arguments["description"] == "" {
				t.Errorf("%s: %s has no description", b.file, b.name)
			}
			if variable && b.arguments["type"] == "" {
				t.Errorf("%s: %s has no type", b.file, b.name)
			}
		}
	}
}

// argumentsOf returns an argument of the blocks with a name, of which one has it.
func argumentsOf(t *testing.T, all []block, name, argument string) string {
	t.Helper()
	for _, b := range all {
		if value, ok := b.arguments[argument]; ok && b.name == name {
			return value
		}
	}
	t.Fatalf("no %s in any %s", argument, name)
	return ""
}

// Alarms count log events: they stay quiet for ever when an event is worded anew.
func TestAlarmsCountEventsThatTheFunctionsLog(t *testing.T) {
	events := argumentsOf(t, configuration(t, awsModule), "locals", "events")
	messages := regexp.MustCompile(`\$\.msg = \\"([^"\\]+)\\"`).FindAllStringSubmatch(events, -1)
	if len(messages) != 4 {
		t.Fatalf("events that are counted: %v", messages)
	}
	where := map[string][]string{
		"run succeeded":  {"functions/runend/settle.go"},
		"run failed":     {"functions/runend/runend.go"},
		"run superseded": {"functions/runend/runend.go"},
		"verdict":        {"functions/validator/handler.go"},
	}
	for _, m := range messages {
		for _, file := range where[m[1]] {
			source, err := os.ReadFile(filepath.Join(repository, file))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(source), `"`+m[1]+`"`) {
				t.Errorf("%s logs no event %q", file, m[1])
			}
		}
		if len(where[m[1]]) == 0 {
			t.Errorf("nobody logs the event %q", m[1])
		}
	}
	if !strings.Contains(read(t, repository+"/functions/validator/handler.go"), `"verdict", "verdict", d.Verdict`) {
		t.Error("the validator's event has no attribute verdict")
	}
}
