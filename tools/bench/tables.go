package main

import "embed"

// table is one of the tables that are exported.
type table struct {
	name string
	rows int64
	key  string // a number whose sum is compared with that of the output
}

// tables have the sizes of a scale of 1.
var tables = []table{
	{name: "lineitem", rows: 6_000_000, key: "l_orderkey"},
	{name: "events", rows: 300_000, key: "id"},
	{name: "narrow", rows: 10_000_000, key: "id"},
}

//go:embed tables/*.sql
var definitions embed.FS

const database = "bench"

// truth is what an output has to have.
type truth struct{ rows, sum string }
