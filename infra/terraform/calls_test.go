package terraform

import (
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/lapstrake/lapstrake/"

// calls says which functions and methods each function names, all by their
// full names. A method of an interface has no body here: a graph of handlers
// ends at the seams.
type calls map[string]map[string]bool

// drops marks a function that has a transaction of the table delete items.
const drops = "transaction that deletes"

// callsOf reads packages of this repository, named by their folders.
func callsOf(t *testing.T, folders ...string) calls {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles"}, paths(folders)...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	type goPackage struct {
		ImportPath, Export, Dir string
		GoFiles                 []string
	}
	all := map[string]goPackage{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p goPackage
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
	set := token.NewFileSet()
	compiled := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })
	graph := calls{}
	for _, folder := range folders {
		p := all[module+folder]
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(set, filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		info := &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: compiled}
		if _, err := config.Check(p.ImportPath, set, files, info); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			graph.add(f, info)
		}
	}
	return graph
}

func paths(folders []string) []string {
	var all []string
	for _, folder := range folders {
		all = append(all, module+folder)
	}
	return all
}

func (g calls) add(f *ast.File, info *types.Info) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		named := map[string]bool{}
		g[info.Defs[fn.Name].(*types.Func).FullName()] = named
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if f, ok := info.Uses[n].(*types.Func); ok {
					named[f.Origin().FullName()] = true
				}
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "transact" && len(n.Args) > 3 {
					named[drops] = true
				}
			}
			return true
		})
	}
}

// reach returns every function and method that a function names, or one that
// it names does, and so on.
func (g calls) reach(t *testing.T, from string) map[string]bool {
	t.Helper()
	if g[from] == nil {
		t.Fatalf("there is no %s", from)
	}
	reached := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		for called := range g[name] {
			if !reached[called] {
				reached[called] = true
				visit(called)
			}
		}
	}
	visit(from)
	return reached
}

// handle is the full name of a function's handler.
func handle(function string) string { return module + "functions/" + function + ".Handle" }

// methods returns which methods of a seam are among the names.
func methods(reached map[string]bool, seam string) []string {
	var all []string
	for name := range reached {
		if method, ok := strings.CutPrefix(name, "("+module+seam+")."); ok {
			all = append(all, method)
		}
	}
	return all
}
