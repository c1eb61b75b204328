package terraform

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/infra/terraform/policy"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// handlers are the packages whose functions a handler runs in its process,
// seams and drivers left out: a seam's methods are where permissions begin.
var handlers = []string{
	"functions/planner", "functions/chunk", "functions/finalizer", "functions/validator", "functions/dispatch", "functions/runend",
	"shared/commit", "shared/verify", "shared/report", "shared/extract",
}

var functions = []string{"planner", "chunk", "finalizer", "validator"}

const (
	tableDriver = "shared/runstate/dynamodb"
	sdk         = "github.com/aws/aws-sdk-go-v2/service/dynamodb."
)

// sent is what each call that the driver of the table makes takes. A
// transaction takes the actions of what is in it, and the driver's are made of
// these three.
var sent = map[string][]string{
	"(*" + sdk + "Client).GetItem":            {"dynamodb:GetItem"},
	"(*" + sdk + "Client).PutItem":            {"dynamodb:PutItem"},
	"(*" + sdk + "Client).UpdateItem":         {"dynamodb:UpdateItem"},
	"(*" + sdk + "Client).Query":              {"dynamodb:Query"},
	sdk + "NewQueryPaginator":                 {"dynamodb:Query"},
	"(*" + sdk + "Client).TransactWriteItems": {"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:ConditionCheckItem"},
	drops: {"dynamodb:DeleteItem"},
}

// tableActions returns the actions behind each method of the state table, by
// the source of its driver.
func tableActions(t *testing.T) map[string][]string {
	t.Helper()
	graph := callsOf(t, tableDriver)
	all := map[string][]string{}
	for method := range reflect.TypeFor[runstate.Table]().Methods() {
		actions := map[string]bool{}
		for name := range graph.reach(t, "(*"+module+tableDriver+".Table)."+method.Name) {
			for _, action := range sent[name] {
				actions[action] = true
			}
			if strings.HasPrefix(name, "(*"+sdk+"Client).") && sent[name] == nil {
				t.Errorf("what does %s take?", name)
			}
		}
		all[method.Name] = slices.Sorted(maps.Keys(actions))
	}
	return all
}

// storeActions are those behind each method of a store; a copy reads, a move deletes.
var storeActions = map[string][]string{
	"Create":       {"s3:PutObject"},
	"Replace":      {"s3:PutObject"},
	"Get":          {"s3:GetObject"},
	"Head":         {"s3:GetObject"},
	"List":         {"s3:ListBucket"},
	"Move":         {"s3:GetObject", "s3:PutObject", "s3:DeleteObject"},
	"Capabilities": {},
}

func TestStoreActionsNameEveryMethodOfAStore(t *testing.T) {
	for method := range reflect.TypeFor[destination.Store]().Methods() {
		if _, ok := storeActions[method.Name]; !ok {
			t.Errorf("what does %s of a store take?", method.Name)
		}
	}
}

// allowed returns the actions of a service that a policy allows.
func allowed(p policy.Document, service string) []string {
	actions := map[string]bool{}
	for _, s := range p.Statement {
		for _, action := range s.Action {
			if s.Effect == "Allow" && strings.HasPrefix(action, service+":") {
				actions[action] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(actions))
}

func TestEachRoleMayDoToTheTableWhatItsFunctionDoes(t *testing.T) {
	graph, behind, all := callsOf(t, handlers...), tableActions(t), policies(t)
	for _, function := range functions {
		needed := map[string]bool{}
		called := methods(graph.reach(t, handle(function)), "shared/runstate.Table")
		slices.Sort(called)
		for _, method := range called {
			for _, action := range behind[method] {
				needed[action] = true
			}
		}
		want := slices.Sorted(maps.Keys(needed))
		if got := allowed(all[function], "dynamodb"); !slices.Equal(got, want) {
			t.Errorf("the role of the %s allows\n %v, its function needs\n %v\n for %v", function, got, want, called)
		}
	}
}

func TestEachRoleMayDoToTheBucketWhatItsFunctionDoes(t *testing.T) { // SEC-10
	graph, all := callsOf(t, handlers...), policies(t)
	for _, function := range functions {
		// Without the right to list, a missing object is a forbidden one.
		needed := map[string]bool{"s3:ListBucket": true}
		moves := false
		for _, method := range methods(graph.reach(t, handle(function)), "shared/destination.Store") {
			if method == "Move" { // into quarantine, which is an option
				moves = true
				continue
			}
			for _, action := range storeActions[method] {
				needed[action] = true
			}
		}
		want := slices.Sorted(maps.Keys(needed))
		if got := allowed(all[function], "s3"); !slices.Equal(got, want) {
			t.Errorf("the role of the %s allows\n %v, its function needs\n %v", function, got, want)
		}
		if moves != (function == "planner") {
			t.Errorf("the %s moves objects: %v; the policy quarantine is the planner's", function, moves)
		}
	}
	want := slices.Sorted(slices.Values(storeActions["Move"]))
	if got := allowed(all["quarantine"], "s3"); !slices.Equal(got, want) {
		t.Errorf("quarantine allows %v, a move needs %v", got, want)
	}
}

var consuming = []string{"sqs:ChangeMessageVisibility", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}

func TestEachRoleMayDoToTheQueuesWhatItsFunctionDoes(t *testing.T) {
	graph, all := callsOf(t, handlers...), policies(t)
	for _, function := range functions {
		var want []string
		main := read(t, repository+"/functions/"+function+"/aws/main.go")
		if strings.Contains(main, "lambdahost.SQS(") || strings.Contains(main, "lambdahost.Events(") {
			want = append(want, consuming...)
		}
		if len(methods(graph.reach(t, handle(function)), "shared/taskqueue.Queue")) > 0 {
			want = append(want, "sqs:SendMessage")
		}
		if got := allowed(all[function], "sqs"); !slices.Equal(got, want) {
			t.Errorf("the role of the %s allows\n %v, its function needs\n %v", function, got, want)
		}
	}
}

// resourcesOf returns what a policy allows an action on.
func resourcesOf(p policy.Document, action string) []string {
	var all []string
	for _, s := range p.Statement {
		if s.Effect == "Allow" && slices.Contains(s.Action, action) {
			all = append(all, s.Resource...)
		}
	}
	slices.Sort(all)
	return all
}

func TestEachRoleReachesTheQueuesThatItsFunctionUses(t *testing.T) {
	all := policies(t)
	for _, c := range []struct {
		function       string
		takes, sendsTo []string
	}{
		// The planner's own dead letters are sent by Lambda, with its role.
		{"planner", nil, []string{"<chunk_queue_arns>", "<finalize_queue_arn>", "<trigger_dead_letter>", "<validate_queue_arn>"}},
		{"chunk", []string{"<chunk_queue_arns>"}, []string{"<chunk_queue_arns>", "<finalize_queue_arn>"}},
		{"finalizer", []string{"<finalize_queue_arn>"}, []string{"<chunk_queue_arns>"}},
		{"validator", []string{"<validate_queue_arn>"}, nil},
	} {
		for action, want := range map[string][]string{"sqs:ReceiveMessage": c.takes, "sqs:DeleteMessage": c.takes, "sqs:SendMessage": c.sendsTo} {
			if got := resourcesOf(all[c.function], action); !slices.Equal(got, want) {
				t.Errorf("the %s has %s on %v, want %v", c.function, action, got, want)
			}
		}
	}
}

func TestWhoTellsOfRunsMayAnswerTheirTaskTokens(t *testing.T) {
	driver, all := callsOf(t, "shared/notify/stepfunctions"), policies(t)
	var want []string
	for _, method := range methods(driver.reach(t, "(*"+module+"shared/notify/stepfunctions.Notifier).Notify"), "shared/notify/stepfunctions.API") {
		want = append(want, "states:"+method)
	}
	slices.Sort(want)
	got := slices.Concat(allowed(all["callbacks"], "states"), allowed(all["heartbeats"], "states"))
	slices.Sort(got)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("callbacks and heartbeats allow %v, the driver needs %v", got, want)
	}
	for name, action := range map[string]string{"callbacks": "states:SendTaskSuccess", "heartbeats": "states:SendTaskHeartbeat"} {
		if got := resourcesOf(all[name], action); !slices.Equal(got, []string{"<state_machine_arns>"}) {
			t.Errorf("%s are for %v", name, got)
		}
	}
	given, err := policy.Given(awsModule + "/iam.tf")
	if err != nil {
		t.Fatal(err)
	}
	graph := callsOf(t, handlers...)
	for _, function := range functions {
		tells := graph.reach(t, handle(function))[module+"functions/runend.EventOf"]
		if slices.Contains(given[function], "callbacks") != tells {
			t.Errorf("the %s tells of runs: %v; it has %v", function, tells, given[function])
		}
		files, err := filepath.Glob(filepath.Join(repository, "functions", function, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		beats := slices.ContainsFunc(files, func(file string) bool {
			return !strings.HasSuffix(file, "_test.go") && strings.Contains(read(t, file), "notify.AtWork")
		})
		if slices.Contains(given[function], "heartbeats") != beats {
			t.Errorf("the %s sends heartbeats: %v; it has %v", function, beats, given[function])
		}
	}
}

func TestRunsThatHaveNotEndedCannotBeDeleted(t *testing.T) {
	for name, p := range policies(t) {
		for _, s := range p.Statement {
			if slices.Contains(s.Action, "dynamodb:DeleteItem") && !slices.Equal(s.Condition["ForAllValues:StringEquals"]["dynamodb:LeadingKeys"], policy.Texts{"ACTIVE"}) {
				t.Errorf("%s/%s deletes any item", name, s.Sid)
			}
			if name == "chunk" && strings.HasPrefix(s.Action[0], "dynamodb:") && !slices.Equal(s.Condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"], policy.Texts{"RUN#*"}) {
				t.Errorf("%s/%s reaches other items than those of runs", name, s.Sid)
			}
		}
	}
}
