package terraform

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// notDeployed are settings of the command line, which no function reads.
var notDeployed = map[string]bool{"LAPSTRAKE_SWEEP": true}

var settingName = regexp.MustCompile(`^LAPSTRAKE_[A-Z_]+$`)

// settingsRead returns the variables that the wiring asks for, from its source.
func settingsRead(t *testing.T) []string {
	t.Helper()
	names := map[string]bool{}
	for _, file := range []string{"awssettings.go", "settings.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository, "shared/wiring", file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr: // an error code looks like a setting
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "New" {
					return false
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && settingName.MatchString(text) {
					names[text] = true
				}
			}
			return true
		})
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return notDeployed[name] })
	return slices.Sorted(maps.Keys(names))
}

func TestTheModuleSetsWhatTheFunctionsRead(t *testing.T) {
	text := read(t, filepath.Join(awsModule, "functions.tf"))
	set := map[string]bool{}
	for _, m := range regexp.MustCompile(`(LAPSTRAKE_[A-Z_]+)\s+=`).FindAllStringSubmatch(text, -1) {
		set[m[1]] = true
	}
	want := settingsRead(t)
	if got := slices.Sorted(maps.Keys(set)); !slices.Equal(got, want) {
		t.Errorf("the module sets %v, the wiring reads %v", got, want)
	}
	if len(want) < 5 {
		t.Errorf("only %v are read: the test no longer tests anything", want)
	}
}

func TestThePageNamesEverySetting(t *testing.T) {
	page := read(t, repository+"/docs/aws.md")
	for _, name := range settingsRead(t) {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("docs/aws.md does not name %s", name)
		}
	}
}
