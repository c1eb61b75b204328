package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Request is one action on one resource, as a service asks about it.
type Request struct {
	// Principal is the ARN of the role, which only the policies of resources
	// look at.
	Principal string
	// Action is such as s3:PutObject. Resource is the ARN; "" is one that the
	// request does not tell, and is within any resource.
	Action, Resource string
	// Conditions are the condition keys that the request has, with their values.
	Conditions map[string][]string
}

// Grant is a permission of a policy: an action of a statement on one of its
// resources.
type Grant struct{ Policy, Sid, Action, Resource string }

func (g Grant) String() string {
	return fmt.Sprintf("%s of %s/%s on %s", g.Action, g.Policy, g.Sid, g.Resource)
}

// Grants are the permissions that documents give, in order.
func Grants(documents map[string]Document) []Grant {
	var all []Grant
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		for _, s := range documents[name].Statement {
			if s.Effect != "Allow" {
				continue
			}
			for _, action := range s.Action {
				for _, resource := range s.Resource {
					all = append(all, Grant{name, s.Sid, action, resource})
				}
			}
		}
	}
	return all
}

// Decide returns the permissions by which a request is allowed, none if it is
// not: a request needs one that allows it, and none that denies it.
//
// An error means that a document has a form that is not known here.
func Decide(documents map[string]Document, r Request) ([]Grant, error) {
	var allowed []Grant
	denied := false
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		for _, s := range documents[name].Statement {
			resource, applies, err := s.applies(r)
			switch {
			case err != nil:
				return nil, fmt.Errorf("%s/%s: %w", name, s.Sid, err)
			case !applies:
			case s.Effect == "Allow":
				allowed = append(allowed, Grant{name, s.Sid, r.Action, resource})
			default:
				denied = true
			}
		}
	}
	if denied {
		return nil, nil
	}
	return allowed, nil
}

// applies reports whether a statement is about a request, and by which of its
// resources.
func (s Statement) applies(r Request) (resource string, ok bool, err error) {
	if !within(s.Action, r.Action) || !s.means(r.Principal) {
		return "", false, nil
	}
	if len(s.NotResource) > 0 {
		if within(s.NotResource, r.Resource) {
			return "", false, nil
		}
	} else if resource, ok = first(s.Resource, r.Resource); !ok {
		return "", false, nil
	}
	for operator, keys := range s.Condition {
		for key, want := range keys {
			holds, err := holds(operator, r.Conditions[key], want)
			if err != nil || !holds {
				return "", false, err
			}
		}
	}
	return resource, true, nil
}

// means reports whether a statement is about a principal: the policy of a role
// names none.
func (s Statement) means(principal string) bool {
	switch p := s.Principal.(type) {
	case nil:
		return true
	case string:
		return p == "*"
	case map[string]any:
		switch arns := p["AWS"].(type) {
		case string:
			return arns == principal
		case []any:
			return slices.Contains(arns, any(principal))
		}
	}
	return false
}

// holds says whether a condition holds for the values of its key. As in the
// service, an operator for all values holds when there are none.
func holds(operator string, have []string, want Texts) (bool, error) {
	switch operator {
	case "Null":
		return (len(have) == 0) == (want[0] == "true"), nil
	case "Bool":
		return len(have) == 1 && have[0] == want[0], nil
	case "ArnEquals":
		return len(have) == 1 && within(want, have[0]), nil
	case "ForAllValues:StringEquals":
		return !slices.ContainsFunc(have, func(v string) bool { return !slices.Contains(want, v) }), nil
	case "ForAllValues:StringLike":
		return !slices.ContainsFunc(have, func(v string) bool { return !within(want, v) }), nil
	}
	return false, fmt.Errorf("the operator %s is not known here", operator)
}

func within(patterns []string, text string) bool {
	_, ok := first(patterns, text)
	return ok
}

// first returns the first pattern that fits. An empty text is within each.
func first(patterns []string, text string) (string, bool) {
	for _, p := range patterns {
		if text == "" || matches(p, text) {
			return p, true
		}
	}
	return "", false
}

// matches reports whether a text fits a pattern, in which * is any text and ?
// any character.
func matches(pattern, text string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if len(text) < len(head) || !same(head, text[:len(head)]) {
		return false
	}
	text = text[len(head):]
	if !star {
		return text == ""
	}
	for i := 0; i <= len(text); i++ {
		if matches(rest, text[i:]) {
			return true
		}
	}
	return false
}

func same(pattern, text string) bool {
	for i := range len(pattern) {
		if pattern[i] != '?' && pattern[i] != text[i] {
			return false
		}
	}
	return true
}
