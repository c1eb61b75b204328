package exportconfig

import (
	"slices"
	"strings"
)

// hint says what an unknown key may have been meant to be, or where it
// belongs.
func hint(name string, in keyBlock) string {
	if _, ok := blockAt("source.tuning").find(name); ok && (in.path == "source" || in.path == "exports[]") {
		return ": move it under tuning"
	}
	elsewhere := ""
	for _, b := range blocks {
		k, ok := b.find(name)
		if !ok || k.support() == Refused || b.path == in.path {
			continue
		}
		if below := strings.HasPrefix(b.path, in.path) && in.path != ""; elsewhere == "" || below {
			elsewhere = ": it belongs under " + b.path
			if b.path == "" {
				elsewhere = ": it belongs at the top of the file"
			}
			if below {
				break
			}
		}
	}
	if elsewhere != "" {
		return elsewhere
	}
	var names []string
	for _, k := range in.keys {
		names = append(names, k.name)
	}
	if near := nearest(name, names); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// nearest returns the word that name is most likely a misspelling of, or "".
func nearest(name string, words []string) string {
	const longest = 40
	if len(name) == 0 || len(name) > longest {
		return ""
	}
	best, bestDistance := "", max(1, len(name)/3)+1
	for _, w := range words {
		if d := distance(name, w); d < bestDistance {
			best, bestDistance = w, d
		}
	}
	return best
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, above := make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row := make([]int, len(t)+1)
		row[0] = i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			row[j] = slices.Min([]int{above[j] + 1, row[j-1] + 1, above[j-1] + cost})
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above = above, row
	}
	return above[len(t)]
}
