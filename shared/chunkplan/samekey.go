package chunkplan

import (
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
)

// SameKey reports whether the delivered keys of a position are values of key:
// its columns have these names, and types in which the text of a key means the
// value that it was. Otherwise nothing is known of the rows at the position: a
// text that is read as another type may be no value, or that of another row.
// Types that a position does not know are taken for the same.
func SameKey(key []keyspace.Column, p contract.Position) bool {
	if len(key) != len(p.KeyColumns) || len(p.KeyTypes) > 0 && len(p.KeyTypes) != len(key) {
		return false
	}
	for i, k := range key {
		if k.Name != p.KeyColumns[i] || len(p.KeyTypes) > 0 && !sameText(p.KeyTypes[i], k.Native) {
			return false
		}
	}
	return true
}

// texts are the types of text that differ only in how much they hold. Those of
// a fixed length are not among them: they may pad their values.
var texts = []string{"text", "character varying", "varchar", "tinytext", "mediumtext", "longtext"}

// sameText reports whether a value that is converted from one type to the other
// keeps its text.
func sameText(from, to string) bool {
	return from == to || isInteger(from) && isInteger(to) || slices.Contains(texts, strings.ToLower(from)) && slices.Contains(texts, strings.ToLower(to))
}
