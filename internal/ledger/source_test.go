package ledger

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const module = "github.com/lapstrake/lapstrake/"

// testPackage is what the test sources of a folder declare and say.
type testPackage struct {
	functions map[string]bool
	// texts are the string literals, also those of the conformance suites that
	// the tests call: the names of subtests are among them.
	texts map[string]bool
}

// there returns an error unless the test that name leads to is in the sources:
// folder.TestName, or folder.TestName/subtest.
func there(found map[string]*testPackage, name string) error {
	at := strings.LastIndex(name, ".Test")
	if at < 0 {
		return fmt.Errorf("%s names no package", name)
	}
	path := name[:at]
	steps := strings.Split(name[at+1:], "/")
	p := found[path]
	if p == nil {
		p = &testPackage{functions: make(map[string]bool), texts: make(map[string]bool)}
		if err := p.read(path, "_test.go"); err != nil {
			return err
		}
		found[path] = p
	}
	if !p.functions[steps[0]] {
		return fmt.Errorf("%s has no test %s", path, steps[0])
	}
	for _, step := range steps[1:] {
		if !p.texts[step] {
			return fmt.Errorf("%s: no text %q in the sources of %s: no such subtest", path, step, path)
		}
	}
	return nil
}

// read takes in the files of a folder whose names end so.
func (p *testPackage) read(path, suffix string) error {
	folder := filepath.Join("../..", path)
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), suffix) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, file.Name()), nil, 0)
		if err != nil {
			return err
		}
		if err := p.take(f); err != nil {
			return err
		}
	}
	return nil
}

func (p *testPackage) take(f *ast.File) error {
	for _, i := range f.Imports {
		imported, err := strconv.Unquote(i.Path.Value)
		suite, ours := strings.CutPrefix(imported, module)
		if err == nil && ours && strings.HasSuffix(suite, "test") {
			err = p.read(suite, ".go")
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, d := range f.Decls {
		if fn, is := d.(*ast.FuncDecl); is && fn.Recv == nil {
			p.functions[fn.Name.Name] = true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				p.texts[text] = true
			}
		}
		return true
	})
	return nil
}
