package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/rowtype"
)

var sources = map[string]rowtype.Table{
	"postgres": rowtype.PostgresTable, "mysql": rowtype.MySQLTable, "sqlserver": rowtype.SQLServerTable,
}

// none stands in a cell that has nothing to say.
const none = "–"

// columns is the table of a source whose tables have columns.
func columns(of rowtype.Table) (string, error) {
	var text strings.Builder
	text.WriteString("| Type | Parquet | CSV | Fidelity | Overrides | Refused at the row |\n|---|---|---|---|---|---|\n")
	for _, r := range of {
		cells, err := cellsOf(r)
		if err != nil {
			return "", fmt.Errorf("%s: %w", r.Of.Native(), err)
		}
		fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | "))
	}
	return text.String(), nil
}

func cellsOf(r rowtype.Row) ([]string, error) {
	declared, refuses := cmp.Or(r.Declared, "`"+r.Of.Native()+"`"), cmp.Or(r.Refuses, none)
	m, err := r.Of.Map()
	var unmapped *rowtype.UnmappedError
	if errors.As(err, &unmapped) {
		works := overrides(r.Of, rowtype.Type{})
		if works == none {
			works = unmapped.Advice
		}
		return []string{declared, "refused", none, "refused", works, refuses}, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := formOf(m.Type)
	if r.Type.Kind == rowtype.Decimal && r.Type.Precision == 0 {
		f.parquet = "DECIMAL(p,s)"
	}
	return []string{declared, f.parquet, f.csv, m.Fidelity, overrides(r.Of, m.Type), refuses}, err
}

// candidates are the overrides that are tried.
var candidates = []string{"bool", "int16", "int32", "int64", "float64", "timestamp_ns", "timestamp_tz_ns", "uuid", "json", "text"}

// overrides are those that a type takes, apart from the one that it has anyway.
func overrides(of rowtype.SourceType, mapped rowtype.Type) string {
	var works []string
	for _, name := range candidates {
		if name == "uuid" {
			works = append(works, decimals(of)...)
		}
		to, err := rowtype.ParseOverride(name)
		if err != nil || to.String() == mapped.String() {
			continue
		}
		m, err := of.Override(to)
		if err != nil {
			continue
		}
		how := map[string]string{rowtype.DecimalPlain: " in plain digits", rowtype.HexBytes: " in hex"}[m.TextForm]
		works = append(works, "`"+name+"`"+how)
	}
	if works == nil {
		return none
	}
	return strings.Join(works, ", ")
}

// decimals are the decimals that a type takes: all, or those with room for its
// digits.
func decimals(of rowtype.SourceType) []string {
	for digits := 1; digits <= rowtype.MaxPrecision; digits++ {
		if _, err := of.Override(rowtype.Type{Kind: rowtype.Decimal, Precision: digits}); err != nil {
			continue
		}
		if digits == 1 {
			return []string{"`decimal(p,s)`"}
		}
		return []string{fmt.Sprintf("`decimal(p,s)` with p − s ≥ %d", digits)}
	}
	return nil
}
