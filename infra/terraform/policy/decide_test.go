package policy

import (
	"os"
	"path/filepath"
	"testing"
)

const role = "arn:aws:iam::1:role/chunk"

func documents(t *testing.T, texts map[string]string) map[string]Document {
	t.Helper()
	folder := t.TempDir()
	for name, text := range texts {
		text = `{"Version": "2012-10-17", "Statement": [` + text + `]}`
		if err := os.WriteFile(filepath.Join(folder, name+suffix), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Read(folder, map[string]string{"objects": "arn:aws:s3:::lake/", "queues": `["arn:q1", "arn:q2"]`, "role": role})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestARequestNeedsAPermissionAndNoRefusal(t *testing.T) {
	const (
		parts  = `{"Sid": "P", "Effect": "Allow", "Action": "s3:PutObject", "Resource": ["${objects}part-*", "${objects}*/part-*"], "Condition": {"Null": {"s3:if-none-match": "false"}}}`
		queues = `{"Sid": "Q", "Effect": "Allow", "Action": ["sqs:SendMessage", "sqs:DeleteMessage"], "Resource": ${queues}}`
		runs   = `{"Sid": "R", "Effect": "Allow", "Action": "dynamodb:PutItem", "Resource": "arn:t", "Condition": {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["RUN#*"]}}}`
		active = `{"Sid": "A", "Effect": "Allow", "Action": "dynamodb:DeleteItem", "Resource": "arn:t", "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["ACTIVE"]}}}`
		only   = `{"Sid": "O", "Effect": "Deny", "Principal": {"AWS": "${role}"}, "Action": "s3:PutObject", "NotResource": ["${objects}part-*", "${objects}*/part-*"]}`
		others = `{"Sid": "N", "Effect": "Deny", "Principal": {"AWS": ["arn:aws:iam::1:role/planner"]}, "Action": "s3:PutObject", "Resource": "${objects}*"}`
		all    = `{"Sid": "W", "Effect": "Allow", "Action": "s3:PutObject", "Resource": "${objects}*"}`
		clear  = `{"Sid": "S", "Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": "${objects}*", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}`
	)
	create := map[string][]string{"s3:if-none-match": {"*"}}
	put := func(key string, conditions map[string][]string) Request {
		return Request{Principal: role, Action: "s3:PutObject", Resource: "arn:aws:s3:::lake/" + key, Conditions: conditions}
	}
	key := func(action, pk string) Request {
		return Request{Action: "dynamodb:" + action, Resource: "arn:t", Conditions: map[string][]string{"dynamodb:LeadingKeys": {pk}}}
	}
	for _, tc := range []struct {
		name      string
		documents string
		request   Request
		by        string // the resource of the permission, "" for a refusal
	}{
		{"nothing is allowed", queues, put("part-1", create), ""},
		{"a new part at the root", parts, put("part-1", create), "arn:aws:s3:::lake/part-*"},
		{"a new part below", parts, put("a/b/part-1", create), "arn:aws:s3:::lake/*/part-*"},
		{"a part that may be there", parts, put("part-1", nil), ""},
		{"another object", parts, put("manifest.json", create), ""},
		{"a queue of a list", queues, Request{Action: "sqs:SendMessage", Resource: "arn:q2"}, "arn:q2"},
		{"a queue that is not in the list", queues, Request{Action: "sqs:SendMessage", Resource: "arn:q3"}, ""},
		{"a resource that is not told", queues, Request{Action: "sqs:SendMessage"}, "arn:q1"},
		{"another action", queues, Request{Action: "sqs:PurgeQueue", Resource: "arn:q1"}, ""},
		{"a key that is like the pattern", runs, key("PutItem", "RUN#1"), "arn:t"},
		{"a key that is not", runs, key("PutItem", "ACTIVE"), ""},
		{"a key that is the one", active, key("DeleteItem", "ACTIVE"), "arn:t"},
		{"a key that only begins like it", active, key("DeleteItem", "ACTIVE#1"), ""},
		{"a refusal of everything else", all + "," + only, put("manifest.json", nil), ""},
		{"what the refusal leaves out", all + "," + only, put("part-1", nil), "arn:aws:s3:::lake/*"},
		{"a refusal of others", all + "," + others, put("part-1", nil), "arn:aws:s3:::lake/*"},
		{"a refusal of everybody whose condition does not hold", all + "," + clear, put("part-1", nil), "arn:aws:s3:::lake/*"},
		{"a refusal of everybody", all + "," + clear, put("part-1", map[string][]string{"aws:SecureTransport": {"false"}}), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			grants, err := Decide(documents(t, map[string]string{"p": tc.documents}), tc.request)
			if err != nil {
				t.Fatal(err)
			}
			by := ""
			if len(grants) > 0 {
				by = grants[0].Resource
			}
			if by != tc.by {
				t.Errorf("allowed by %q, want %q", by, tc.by)
			}
		})
	}
}

func TestAnOperatorThatIsNotKnownIsAnError(t *testing.T) {
	all := documents(t, map[string]string{"p": `{"Sid": "X", "Effect": "Allow", "Action": "a:B", "Resource": "arn:x", "Condition": {"NumericLessThan": {"k": "1"}}}`})
	if grants, err := Decide(all, Request{Action: "a:B", Resource: "arn:x"}); err == nil {
		t.Errorf("allowed by %v", grants)
	}
}

func TestValuesThatAreNotGivenAppearByTheirNames(t *testing.T) {
	got := Grants(documents(t, map[string]string{"p": `{"Sid": "X", "Effect": "Allow", "Action": "a:B", "Resource": ["${table}", "${objects}k"]}, {"Sid": "Y", "Effect": "Allow", "Action": "a:C", "Resource": ${list}}`}))
	want := []Grant{{"p", "X", "a:B", "<table>"}, {"p", "X", "a:B", "arn:aws:s3:::lake/k"}, {"p", "Y", "a:C", "<list>"}}
	if len(got) != len(want) {
		t.Fatalf("grants: %v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("grant %d is %v, want %v", i, got[i], want[i])
		}
	}
}
