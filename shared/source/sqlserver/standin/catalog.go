package standin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// open is what a query reads from.
func (s *session) open(o origin) (relation, error) {
	if o.inner != nil {
		return s.run(o.inner)
	}
	if o.schema != "sys" {
		t := s.table(o.schema, o.name)
		if t == nil {
			return relation{}, tdsfake.Error{Number: 208, Class: 16, Message: "Invalid object name '" + o.name + "'."}
		}
		return relation{columns: t.columns, rows: t.rows}, nil
	}
	var arguments []any
	for _, a := range o.arguments {
		v, err := a.eval(&scope{session: s})
		if err != nil {
			return relation{}, err
		}
		arguments = append(arguments, v)
	}
	switch o.name {
	case "dm_exec_describe_first_result_set":
		return s.described(arguments[0].(string))
	case "dm_db_stats_histogram":
		return s.histogram(arguments[0], arguments[1].(int64))
	}
	view, ok := views[o.name]
	if !ok {
		return relation{}, tdsfake.Error{Number: 208, Class: 16, Message: "Invalid object name 'sys." + o.name + "'."}
	}
	r := catalog(view.columns)
	view.fill(s, &r)
	return r, nil
}

// catalog is a relation whose columns are named, with a type behind a space
// where they are no numbers.
func catalog(columns string) relation {
	var r relation
	for column := range strings.SplitSeq(columns, ", ") {
		name, of, found := strings.Cut(column, " ")
		if !found {
			of = "bigint"
		}
		t := tdsfake.Type{Name: of}
		if of == "nvarchar" {
			t.Length = 128
		}
		r.columns = append(r.columns, Column{Name: name, Type: t})
	}
	return r
}

func (r *relation) add(values ...any) { r.rows = append(r.rows, values) }

// id is a number for a table.
func (s *session) id(t *table) int64 {
	return 1000 + int64(slices.IndexFunc(s.seen(), func(o *table) bool { return o.schema == t.schema && o.name == t.name }))
}

func (t *table) String() string { return t.schema + "." + t.name }

func flag(b bool) int64 { return map[bool]int64{true: 1}[b] }

// views are the parts of the catalog that are asked for.
var views = map[string]struct {
	columns string
	fill    func(s *session, r *relation)
}{
	"databases": {"database_id, snapshot_isolation_state, is_read_committed_snapshot_on, service_broker_guid uniqueidentifier", func(s *session, r *relation) {
		r.add(int64(5), flag(s.database.Snapshot), flag(s.database.Versions), [16]byte{1, 2, 3, 4})
	}},
	"schemas": {"schema_id, name nvarchar", func(s *session, r *relation) {
		var seen []string
		for _, t := range s.seen() {
			if !slices.Contains(seen, t.schema) {
				seen = append(seen, t.schema)
				r.add(int64(len(seen)), t.schema)
			}
		}
	}},
	"objects": {"object_id, schema_id, name nvarchar, type nvarchar", func(s *session, r *relation) {
		var seen []string
		for _, t := range s.seen() {
			if !slices.Contains(seen, t.schema) {
				seen = append(seen, t.schema)
			}
			r.add(s.id(t), int64(slices.Index(seen, t.schema)+1), t.name, "U ")
		}
	}},
	"columns": {"object_id, column_id, name nvarchar, is_masked, encryption_type", func(s *session, r *relation) {
		s.eachColumn(func(t *table, id, i int64, c Column) {
			var encrypted any
			if s.database.Encrypted[t.String()+"."+c.Name] {
				encrypted = int64(1)
			}
			r.add(id, i, c.Name, flag(s.database.Masked[t.String()+"."+c.Name]), encrypted)
		})
	}},
	"partitions": {"object_id, partition_id, index_id, rows", func(s *session, r *relation) {
		for _, t := range s.seen() {
			r.add(s.id(t), s.id(t), int64(1), int64(len(t.rows)))
		}
	}},
	"allocation_units": {"container_id, used_pages", func(s *session, r *relation) {
		for _, t := range s.seen() {
			r.add(s.id(t), int64(1+len(t.rows)/100))
		}
	}},
	"security_policies": {"object_id, is_enabled", func(s *session, r *relation) { r.add(int64(1), int64(1)) }},
	"security_predicates": {"object_id, target_object_id, predicate_type", func(s *session, r *relation) {
		for _, t := range s.seen() {
			if s.database.Hidden[t.String()] {
				r.add(int64(1), s.id(t), int64(0))
			}
		}
	}},
	"indexes": {"object_id, index_id, name nvarchar, is_primary_key, is_unique, is_disabled, is_hypothetical, has_filter, type", func(s *session, r *relation) {
		for _, t := range s.seen() {
			if len(t.primary) > 0 {
				r.add(s.id(t), int64(1), "PK_"+t.name, int64(1), int64(1), int64(0), int64(0), int64(0), int64(1))
			}
		}
	}},
	"index_columns": {"object_id, index_id, column_id, key_ordinal", func(s *session, r *relation) {
		s.eachColumn(func(t *table, id, i int64, c Column) {
			if at := slices.Index(t.primary, c.Name); at >= 0 {
				r.add(id, int64(1), i, int64(at+1))
			}
		})
	}},
	"stats": {"object_id, stats_id, has_filter", func(s *session, r *relation) {
		s.eachColumn(func(_ *table, id, i int64, c Column) { r.add(id, i, int64(0)) })
	}},
	"stats_columns": {"object_id, stats_id, column_id, stats_column_id", func(s *session, r *relation) {
		s.eachColumn(func(_ *table, id, i int64, c Column) { r.add(id, i, i, int64(1)) })
	}},
}

func (s *session) eachColumn(do func(t *table, id, number int64, c Column)) {
	for _, t := range s.seen() {
		for i, c := range t.columns {
			do(t, s.id(t), int64(i+1), c)
		}
	}
}

// described says what a query would give.
func (s *session) described(text string) (relation, error) {
	r := catalog("column_ordinal, is_hidden, name nvarchar, system_type_name nvarchar, user_type_name nvarchar, is_nullable bit, collation_name nvarchar, error_number int, error_message nvarchar")
	var out relation
	all, err := tokens(text)
	if err == nil {
		p := parser{all: all}
		var q *query
		if q, err = p.query(); err == nil && p.peek().kind != end {
			err = refused("%q after the end", p.peek().text)
		}
		if err == nil {
			out, err = s.run(q)
		}
	}
	if err != nil {
		number, message := int64(50000), err.Error()
		if refused, ok := err.(tdsfake.Error); ok {
			number = int64(refused.Number)
		}
		r.add(int64(1), int64(0), nil, nil, nil, nil, nil, number, message)
		return r, nil
	}
	for i, c := range out.columns {
		system, user := any(declared(c.Type)), any(nil)
		if c.Type.Name == "geography" || c.Type.Name == "geometry" || c.Type.Name == "hierarchyid" {
			system, user = nil, c.Type.Name
		}
		var collation any
		if c.Collation != "" {
			collation = c.Collation
		}
		r.add(int64(i+1), int64(0), c.Name, system, user, !c.NotNull, collation, nil, nil)
	}
	return r, nil
}

// histogram has a step for each value of a column.
func (s *session) histogram(object any, number int64) (relation, error) {
	var t *table
	for _, one := range s.seen() {
		if s.id(one) == object {
			t = one
		}
	}
	if t == nil || number < 1 || int(number) > len(t.columns) {
		return relation{}, fmt.Errorf("no statistics %d of object %v", number, object)
	}
	r := catalog("step_number, range_rows, equal_rows")
	column := t.columns[number-1]
	r.columns = append(r.columns, Column{Name: "range_high_key", Type: column.Type, Collation: column.Collation})
	var values []any
	for _, row := range t.rows {
		values = append(values, row[number-1])
	}
	var failed error
	slices.SortFunc(values, func(a, b any) int {
		switch {
		case a == nil && b == nil:
			return 0
		case a == nil:
			return -1
		case b == nil:
			return 1
		}
		c, err := compare(a, b)
		if err != nil {
			failed = err
		}
		return c
	})
	for i, v := range values {
		if last := len(r.rows) - 1; i > 0 && same(values[i-1], v) {
			r.rows[last][2] = r.rows[last][2].(int64) + 1
			continue
		}
		r.add(int64(len(r.rows)+1), int64(0), int64(1), v)
	}
	return r, failed
}

func same(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	c, err := compare(a, b)
	return err == nil && c == 0
}
