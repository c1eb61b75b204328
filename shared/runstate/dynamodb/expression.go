package dynamodb

import (
	"regexp"
	"strings"

	"github.com/lapstrake/lapstrake/shared/runstate"
)

// edit is the change that an update makes, and the values that its condition
// compares with. In expressions "#x" is the attribute x.
type edit struct {
	sets, removes, adds []string
	values              item
}

// set gives an attribute a value; nil removes it.
func (e *edit) set(attribute string, v value) {
	if v == nil {
		e.remove(attribute)
		return
	}
	e.expression(attribute, ":"+attribute)
	e.value(attribute, v)
}

// expression gives an attribute the value of an expression.
func (e *edit) expression(attribute, expression string) {
	e.sets = append(e.sets, "#"+attribute+" = "+expression)
}

func (e *edit) remove(attributes ...string) {
	for _, a := range attributes {
		e.removes = append(e.removes, "#"+a)
	}
}

// add adds to a number or a set.
func (e *edit) add(attribute string, v value) {
	e.adds = append(e.adds, "#"+attribute+" :added_"+attribute)
	e.value("added_"+attribute, v)
}

// value is what ":name" stands for.
func (e *edit) value(name string, v value) {
	if e.values == nil {
		e.values = item{}
	}
	e.values[":"+name] = v
}

// update is the update expression.
func (e *edit) update() string {
	var clauses []string
	for _, clause := range []struct {
		verb  string
		parts []string
	}{{"SET ", e.sets}, {"REMOVE ", e.removes}, {"ADD ", e.adds}} {
		if len(clause.parts) > 0 {
			clauses = append(clauses, clause.verb+strings.Join(clause.parts, ", "))
		}
	}
	return strings.Join(clauses, " ")
}

// statuses may be compared with by name, such as ":planning".
var statuses = func() item {
	all := item{}
	for _, s := range []runstate.RunStatus{
		runstate.RunPlanning, runstate.RunRunning, runstate.RunFinalizing, runstate.RunSucceeded,
		runstate.RunFailed, runstate.RunSuperseded, runstate.RunRefused,
	} {
		all[":"+string(s)] = text(s)
	}
	for _, s := range []runstate.ChunkStatus{runstate.ChunkPending, runstate.ChunkRunning, runstate.ChunkCompleted, runstate.ChunkFailed} {
		all[":"+string(s)] = text(s)
	}
	return all
}()

var placeholder = regexp.MustCompile(`[#:][a-z_0-9]+`)

// placeholders returns the names and values that expressions use, and no
// others: DynamoDB refuses a request with one too many.
func placeholders(values item, expressions ...string) (names map[string]string, used item) {
	for _, expression := range expressions {
		for _, p := range placeholder.FindAllString(expression, -1) {
			if p[0] == '#' {
				if names == nil {
					names = map[string]string{}
				}
				names[p] = p[1:]
				continue
			}
			if used == nil {
				used = item{}
			}
			if v, ok := values[p]; ok {
				used[p] = v
			} else {
				used[p] = statuses[p]
			}
		}
	}
	return names, used
}

func optional(expression string) *string {
	if expression == "" {
		return nil
	}
	return &expression
}
