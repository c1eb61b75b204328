package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/lapstrake/lapstrake"

// switchFile is the package of the switches. It is in no tree: only the overlay
// has it, so no product can ask it.
const (
	switchFile = "internal/mutant/mutant.go"
	switchBody = `package mutant

import "os"

var on = os.Getenv("` + switchVariable + `")

func On(name string) bool { return on == name }
`
	switchVariable = "LAPSTRAKE_MUTANT"
	switchImport   = `; import mutant__ "` + module + `/internal/mutant"`
)

func quoteMeta(s string) string { return regexp.QuoteMeta(s) }

// piece is a place in a file and what its mutants make of it.
type piece struct {
	from, to int
	edits    []named
	inner    []*piece
}

type named struct {
	mutant string
	edit
}

// writeOverlay writes the files with every mutant's switch in them to dir, and
// returns the path of the overlay for `go test`.
func writeOverlay(root, dir string, all []mutant) (string, error) {
	byFile := make(map[string][]named)
	for _, m := range all {
		for _, e := range m.edits {
			byFile[e.file] = append(byFile[e.file], named{m.name, e})
		}
	}
	bodies := map[string][]byte{switchFile: []byte(switchBody)}
	var stale []error
	for file, edits := range byFile {
		body, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		if bodies[file], err = switched(file, body, edits); err != nil {
			stale = append(stale, err)
		}
	}
	if len(stale) > 0 {
		return "", errors.Join(stale...)
	}
	replace := make(map[string]string)
	for file, body := range bodies {
		at := filepath.Join(dir, strings.ReplaceAll(file, "/", "+"))
		if err := os.WriteFile(at, body, 0o644); err != nil {
			return "", err
		}
		replace[filepath.Join(root, file)] = at
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "overlay.json")
	return at, os.WriteFile(at, overlay, 0o644)
}

// switched returns the file with the edits in it, each behind its switch.
func switched(file string, body []byte, edits []named) ([]byte, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), file, body, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var pieces []*piece
	var stale []error
	for _, e := range edits {
		from, to, err := find(tree, body, e.edit)
		if err != nil {
			stale = append(stale, fmt.Errorf("mutant %q: %w", e.mutant, err))
			continue
		}
		at := slices.IndexFunc(pieces, func(p *piece) bool { return p.from == from && p.to == to })
		if at < 0 {
			pieces = append(pieces, &piece{from: from, to: to})
			at = len(pieces) - 1
		}
		pieces[at].edits = append(pieces[at].edits, e)
	}
	if len(stale) > 0 {
		return nil, errors.Join(stale...)
	}
	whole := &piece{to: len(body)}
	slices.SortFunc(pieces, func(a, b *piece) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(min(a.to-a.from, 1), min(b.to-b.from, 1)), cmp.Compare(b.to, a.to))
	})
	for _, p := range pieces {
		if err := whole.nest(p); err != nil {
			return nil, fmt.Errorf("%s: mutant %q: %w", file, p.edits[0].mutant, err)
		}
	}
	end := int(tree.Name.End()) - 1
	text, err := whole.render(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return []byte(text[:end] + switchImport + text[end:]), nil
}

// find returns where the edit's piece is. One that is not there, or there twice,
// belongs to a mutant that the code has left behind.
func find(tree *ast.File, body []byte, e edit) (from, to int, err error) {
	start, end := 0, len(body)
	if e.in != "" {
		if start, end, err = function(tree, e.in); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", e.file, err)
		}
	}
	words := strings.Fields(e.old)
	for i, w := range words {
		words[i] = quoteMeta(w)
	}
	found := regexp.MustCompile(strings.Join(words, `\s+`)).FindAllIndex(body[start:end], -1)
	if len(found) != 1 {
		return 0, 0, fmt.Errorf("%s, in %s: %d times there: %s", e.file, e.in, len(found), e.old)
	}
	from, to = start+found[0][0], start+found[0][1]
	if e.kind == insertion {
		to = from
	}
	return from, to, nil
}

// function returns where a function's body is.
func function(tree *ast.File, name string) (from, to int, err error) {
	var found []*ast.FuncDecl
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil && (f.Name.Name == name || receiver(f)+"."+f.Name.Name == name) {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return 0, 0, fmt.Errorf("%d functions are called %s", len(found), name)
	}
	return int(found[0].Body.Pos()) - 1, int(found[0].Body.End()) - 1, nil
}

func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	switch t := f.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		if id, ok := t.X.(*ast.Ident); ok {
			return id.Name
		}
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// nest puts q, which begins behind every piece that is in p already, into it.
func (p *piece) nest(q *piece) error {
	if n := len(p.inner); n > 0 && q.from < p.inner[n-1].to {
		if q.to > p.inner[n-1].to {
			return fmt.Errorf("its piece overlaps that of %q", p.inner[n-1].edits[0].mutant)
		}
		return p.inner[n-1].nest(q)
	}
	p.inner = append(p.inner, q)
	return nil
}

// render returns the piece with every switch in it.
func (p *piece) render(body []byte) (string, error) {
	var b strings.Builder
	at := p.from
	for _, q := range p.inner {
		text, err := q.render(body)
		if err != nil {
			return "", err
		}
		b.Write(body[at:q.from])
		b.WriteString(text)
		at = q.to
	}
	b.Write(body[at:p.to])
	text := b.String()
	for _, e := range p.edits {
		on := fmt.Sprintf("mutant__.On(%q)", e.mutant)
		switch e.kind {
		case condition:
			text = fmt.Sprintf("(%s && (%s) || !%s && (%s))", on, e.new, on, text)
		case statements:
			text = fmt.Sprintf("if %s { %s } else { %s }", on, e.new, text)
		case insertion:
			text = fmt.Sprintf("if %s { %s }; %s", on, e.new, text)
		case verbatim:
			if len(p.inner) > 0 || len(p.edits) > 1 {
				return "", fmt.Errorf("mutant %q replaces verbatim what another one changes", e.mutant)
			}
			text = strings.ReplaceAll(e.new, "$on", on)
		}
	}
	return text, nil
}
