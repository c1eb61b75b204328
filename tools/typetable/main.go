// Command typetable writes the tables of docs/types.md.
//
//	typetable docs/types.md
//
// A table stands between two comments, <!-- table: NAME --> and <!-- end -->,
// and what is there is replaced. Its rows are those that the sources map by,
// its overrides are tried one after the other, and its forms are what the
// writers of Parquet and CSV make of an example: nothing in it is said by hand
// that the code says too.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: typetable FILE")
		os.Exit(2)
	}
	if err := rewrite(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "typetable:", err)
		os.Exit(1)
	}
}

func rewrite(file string) error {
	before, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	after, err := withTables(before)
	if err != nil || bytes.Equal(before, after) {
		return err
	}
	return os.WriteFile(file, after, 0o644)
}

var (
	errNoPlace = errors.New("there is no place for the table")
	place      = regexp.MustCompile(`(?s)<!-- table: (\w+) -->\n.*?<!-- end -->`)
)

// withTables is a page with every table as the code has it.
func withTables(page []byte) ([]byte, error) {
	tables, err := all()
	if err != nil {
		return nil, err
	}
	var failed error
	page = place.ReplaceAllFunc(page, func(found []byte) []byte {
		name := string(place.FindSubmatch(found)[1])
		text, ok := tables[name]
		if !ok {
			failed = fmt.Errorf("the page has a table %s, which there is not", name)
		}
		delete(tables, name)
		return fmt.Appendf(nil, "<!-- table: %s -->\n%s<!-- end -->", name, text)
	})
	for name := range tables {
		failed = fmt.Errorf("%s: %w", name, errNoPlace)
	}
	return page, failed
}

// all returns the tables by their names.
func all() (map[string]string, error) {
	text, err := documents()
	if err != nil {
		return nil, err
	}
	tables := map[string]string{"bson": text}
	for name, of := range sources {
		text, err := columns(of)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		tables[name] = text
	}
	return tables, nil
}
