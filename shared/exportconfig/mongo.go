package exportconfig

import "regexp"

const mongo = "mongo"

// collectionRule is for names that need no quoting in a path or a message. A dot
// is a part of the name.
var collectionRule = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:@-]{0,119}$`)

// mongo reads source.mongo.
func (r *reader) mongo(source *mapping) Mongo {
	m := source.block("mongo")
	if m == nil {
		return Mongo{}
	}
	if r.sourceType != mongo && r.sourceType != "" {
		r.fail(source.scope, source.lineOf("mongo"), "source.mongo is read with type: mongo only")
	}
	return Mongo{
		Canonical: m.text("json") == "canonical", ReadConcern: m.text("read_concern"),
		CursorTimeout: m.has("no_cursor_timeout") && !m.yes("no_cursor_timeout"),
	}
}

// collection refuses what an export of a collection cannot be told: it has one
// key, which need not grow with time, and two columns of text.
func (r *reader) collection(m *mapping) {
	for _, refused := range []struct{ key, why string }{
		{"query", "name a collection or a view as table"},
		{"query_file", "name a collection or a view as table"},
		{"columns", "a collection has the columns _id and document, both text"},
		{"chunk_column", "a collection is cut by _id, its one key"},
		{"keyset_incremental", "ids need not grow with time"},
	} {
		if m.has(refused.key) && (refused.key != "keyset_incremental" || m.yes(refused.key)) {
			r.fail(m.scope, m.lineOf(refused.key), "%s is not read with source.type: mongo: %s", refused.key, refused.why)
		}
	}
	if mode := m.text("mode"); mode == Incremental || mode == TimeWindow {
		r.fail(m.scope, m.lineOf("mode"), "mode: %s is not read with source.type: mongo: use full, or chunked, which cuts by _id", mode)
	}
	if key := m.text("chunk_by_key"); key != "" && key != "_id" {
		r.fail(m.scope, m.lineOf("chunk_by_key"), "chunk_by_key must be _id with source.type: mongo, the one key of a collection")
	}
}
