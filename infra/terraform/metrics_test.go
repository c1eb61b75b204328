package terraform

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/telemetry"
)

// ofServices are the metrics of Lambda and SQS that are looked at, with the
// dimension by which the services publish them.
var ofServices = map[string]string{
	"AWS/Lambda Invocations":                     "FunctionName",
	"AWS/Lambda Errors":                          "FunctionName",
	"AWS/Lambda Duration":                        "FunctionName",
	"AWS/Lambda RecursiveInvocationsDropped":     "FunctionName",
	"AWS/SQS ApproximateNumberOfMessagesVisible": "QueueName",
	"AWS/SQS ApproximateAgeOfOldestMessage":      "QueueName",
}

// counters returns the metrics that have a name in the code, and the files that
// count each.
func counters(t *testing.T) map[string][]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository, "shared/telemetry/metrics.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if name, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value); err == nil {
				found[name] = nil
			}
		}
		return true
	})
	for _, pattern := range []string{"functions/*/*.go", "shared/wiring/*.go"} {
		files, err := filepath.Glob(filepath.Join(repository, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for name := range found {
				if strings.Contains(read(t, file), "telemetry."+name+",") {
					found[name] = append(found[name], file)
				}
			}
		}
	}
	return found
}

// dimensionsWritten returns the dimensions under which a function's count
// becomes a metric, as the code writes them.
func dimensionsWritten(t *testing.T) [][]string {
	t.Helper()
	var out bytes.Buffer
	telemetry.NewEMF(&out, clock.System{}, "shop", "shop-chunk").Count(telemetry.RowsRead, 1, slog.String(telemetry.AttrExport, "orders"))
	var line struct {
		AWS struct {
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
			}
		} `json:"_aws"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil || len(line.AWS.CloudWatchMetrics) != 1 || line.AWS.CloudWatchMetrics[0].Namespace != "Lapstrake" {
		t.Fatalf("a count is written as %s: %v", out.Bytes(), err)
	}
	return line.AWS.CloudWatchMetrics[0].Dimensions
}

var (
	counted  = regexp.MustCompile(`for metric in \[([^\]]*)\] : concat\(\["Lapstrake", metric\], local\.counted\.(\w+)\)`)
	serviced = regexp.MustCompile(`\["(AWS/\w+)", "(\w+)", "(\w+)", `)
	named    = regexp.MustCompile(`"(\w+)"`)
)

func TestTheDashboardShowsMetricsThatThereAre(t *testing.T) {
	all := configuration(t, awsModule)
	widgets := argumentsOf(t, all, "locals", "widgets")
	counts, shown := counters(t), 0
	for _, m := range counted.FindAllStringSubmatch(widgets, -1) {
		for _, name := range named.FindAllStringSubmatch(m[1], -1) {
			if !slices.ContainsFunc(counts[name[1]], func(file string) bool { return strings.Contains(file, "functions/"+m[2]+"/") }) {
				t.Errorf("the %s counts no %s", m[2], name[1])
			}
		}
		shown++
	}
	if shown == 0 || strings.Count(widgets, `"Lapstrake"`) != shown {
		t.Errorf("of %d widgets of counts %d are understood", strings.Count(widgets, `"Lapstrake"`), shown)
	}
	for _, m := range regexp.MustCompile(`(\w+) = (\[.*\])`).FindAllStringSubmatch(argumentsOf(t, all, "locals", "counted"), -1) {
		want := `["stack", var.name, "function", "${var.name}-` + m[1] + `"]`
		if m[2] != want || !slices.ContainsFunc(dimensionsWritten(t), func(d []string) bool { return slices.Equal(d, []string{"stack", "function"}) }) {
			t.Errorf("the counts of the %s are looked for by %s, and written by %v", m[1], m[2], dimensionsWritten(t))
		}
	}
	services := serviced.FindAllStringSubmatch(widgets, -1)
	for _, m := range services {
		if ofServices[m[1]+" "+m[2]] != m[3] {
			t.Errorf("%s publishes no %s by %s", m[1], m[2], m[3])
		}
	}
	if len(services) != strings.Count(widgets, `"AWS/`) || len(services) == 0 {
		t.Errorf("of %d widgets of services %d are understood", strings.Count(widgets, `"AWS/`), len(services))
	}
	same(t, block{name: "widgets", arguments: map[string]string{"events": regexp.MustCompile(`\[local\.namespace, [^\]]*\]`).FindString(widgets)}}, "events", "[local.namespace, metric]")
}

// An alarm on a metric that nobody publishes, or by other dimensions, is quiet
// for ever.
func TestAlarmsLookAtMetricsThatThereAre(t *testing.T) {
	all := configuration(t, awsModule)
	events := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\s+(\w+)\s+= \{ pattern`).FindAllStringSubmatch(argumentsOf(t, all, "locals", "events"), -1) {
		events[m[1]] = true
	}
	filter := resources(all, "aws_cloudwatch_log_metric_filter")["this"]
	for name, b := range resources(all, "aws_cloudwatch_metric_alarm") {
		namespace, metric := strings.Trim(b.arguments["namespace"], `"`), strings.Trim(b.arguments["metric_name"], `"`)
		dimension, _, _ := strings.Cut(strings.Trim(b.arguments["dimensions"], "{ "), " =")
		switch {
		case strings.HasPrefix(namespace, "AWS/"):
			if ofServices[namespace+" "+metric] != dimension {
				t.Errorf("alarm %s: %s publishes no %s by %q", name, namespace, metric, dimension)
			}
		case namespace != "local.namespace":
			t.Errorf("alarm %s looks into %s", name, namespace)
		case metric == "each.key": // of local.failures, which have no dimension
			failures := regexp.MustCompile(`(?m)^\s+(\w+)\s+= "`).FindAllStringSubmatch(argumentsOf(t, all, "locals", "failures"), -1)
			for _, m := range failures {
				if !events[m[1]] || m[1] == "RunSucceeded" {
					t.Errorf("alarm %s: no event is counted as %s", name, m[1])
				}
			}
			if len(failures) == 0 || dimension != "" {
				t.Errorf("alarm %s: %d failures, by %q", name, len(failures), dimension)
			}
		case !events[metric]:
			t.Errorf("alarm %s: no event is counted as %s", name, metric)
		case !strings.Contains(filter.blocks["metric_transformation"], `each.value.metric == "`+metric+`" ? { `+dimension+` = "$.`+dimension+`" } : null`):
			t.Errorf("alarm %s: %s is not counted by %q: %s", name, metric, dimension, filter.blocks["metric_transformation"])
		}
	}
	if got := slices.Sorted(maps.Keys(events)); len(got) != 4 {
		t.Errorf("events: %v", got)
	}
}

func TestThePageNamesEveryCount(t *testing.T) {
	page := read(t, repository+"/docs/aws.md")
	for name, files := range counters(t) {
		if len(files) == 0 {
			t.Errorf("nobody counts %s", name)
		}
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/aws.md does not name %s", name)
		}
	}
}
