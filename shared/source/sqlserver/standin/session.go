package standin

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// session is what the database keeps of a client.
type session struct {
	database *Database
	client   *tdsfake.Session
	settings map[string]string
	level    string
	tables   []*table // what the open transaction sees, nil for what there is
}

// Serve starts a server of the database.
func Serve(d *Database, o tdsfake.Options) (*tdsfake.Server, error) {
	return tdsfake.Listen(d.Answer, o)
}

// Answer is the handler of a server.
func (d *Database) Answer(r tdsfake.Request) ([]tdsfake.Result, error) {
	if d.Heard != nil {
		if err := d.Heard(r.SQL); err != nil {
			return nil, err
		}
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if r.Database != d.Name {
		return nil, tdsfake.Error{Number: 4060, Class: 11, Message: "Cannot open database \"" + r.Database + "\" requested by the login."}
	}
	s, ok := r.Session.State.(*session)
	if !ok {
		s = &session{database: d, client: r.Session, settings: map[string]string{}}
		r.Session.State = s
	}
	var results []tdsfake.Result
	for statement := range strings.SplitSeq(r.SQL, "; ") { // of ours, only those of settings are joined
		if !strings.HasPrefix(statement, "set ") && !strings.HasPrefix(statement, "begin ") {
			statement = r.SQL
		}
		result, err := s.statement(statement)
		if err != nil {
			return results, err
		}
		if result != nil {
			results = append(results, *result)
		}
		if statement == r.SQL {
			break
		}
	}
	return results, nil
}

var setting = regexp.MustCompile(`^set ([a-z_, ]+?) (on|off|-?\d+|[a-z_]+)$`)

func (s *session) statement(statement string) (*tdsfake.Result, error) {
	level, isLevel := strings.CutPrefix(statement, "set transaction isolation level ")
	switch {
	case isLevel:
		if s.level = level; level == "snapshot" && !s.database.Snapshot {
			return nil, tdsfake.Error{Number: 3952, Class: 16, Message: "Snapshot isolation is not allowed in this database."}
		}
		return nil, nil
	case statement == "begin transaction":
		s.client.Begin()
		s.tables = nil
		return nil, nil
	case statement == "if @@trancount > 0 rollback transaction":
		s.client.End()
		s.tables = nil
		return nil, nil
	case strings.HasPrefix(statement, "set "):
		m := setting.FindStringSubmatch(statement)
		if m == nil {
			return nil, refused("%s", statement)
		}
		for name := range strings.SplitSeq(m[1], ", ") {
			if !s.database.Forgets {
				s.settings[name] = m[2]
			}
		}
		return nil, nil
	}
	all, err := tokens(statement)
	if err != nil {
		return nil, err
	}
	p := parser{all: all}
	q, err := p.query()
	if err == nil && p.peek().kind != end {
		err = refused("%q after the end", p.peek().text)
	}
	if err != nil {
		return nil, err
	}
	out, err := s.run(q)
	if err != nil {
		return nil, err
	}
	if ends := s.database.Ends; ends != "" && strings.HasPrefix(statement, ends) {
		s.client.End()
	}
	result := &tdsfake.Result{Rows: out.rows}
	for _, c := range out.columns {
		result.Columns = append(result.Columns, tdsfake.Column{Name: c.Name, Type: onWire(c.Type), Nullable: true})
	}
	return result, nil
}

// onWire is a type as the protocol sends its values.
func onWire(t tdsfake.Type) tdsfake.Type {
	switch t.Name {
	case "text", "ntext", "image", "geography", "geometry", "hierarchyid", "sql_variant":
		panic("a value of type " + t.Name + " is sent as it is")
	}
	return t
}

// seen are the tables that the session sees: under SNAPSHOT isolation those of
// the first look in its transaction.
func (s *session) seen() []*table {
	if s.level != "snapshot" || !s.client.Open() {
		return s.database.tables
	}
	if s.tables == nil {
		for _, t := range s.database.tables {
			copied := *t
			s.tables = append(s.tables, &copied)
		}
	}
	return s.tables
}

func (s *session) table(schema, name string) *table {
	tables := s.seen()
	if schema == "" {
		schema = "dbo"
	}
	at := slices.IndexFunc(tables, func(t *table) bool { return t.schema == schema && t.name == name })
	if at < 0 {
		return nil
	}
	return tables[at]
}

var objectName = regexp.MustCompile(`^\[((?:[^\]]|\]\])*)\]\.\[((?:[^\]]|\]\])*)\]$`)

// named is the table of a quoted name, or nil.
func (s *session) named(quoted string) *table {
	m := objectName.FindStringSubmatch(quoted)
	if m == nil {
		return nil
	}
	return s.table(strings.ReplaceAll(m[1], "]]", "]"), strings.ReplaceAll(m[2], "]]", "]"))
}

// options are the bits of @@options that a session can set.
var options = map[string]int64{"ansi_warnings": 8, "ansi_padding": 16, "ansi_nulls": 32, "arithabort": 64, "quoted_identifier": 256, "concat_null_yields_null": 4096, "numeric_roundabort": 8192}

func (s *session) number(name string, otherwise int64) int64 {
	n, err := strconv.ParseInt(s.settings[name], 10, 64)
	if err != nil {
		return otherwise
	}
	return n
}

// function is the value of a function whose arguments have values.
func (s *session) function(name string, values []any, kindOf func(int) kind) (any, error) {
	switch name {
	case "@@trancount":
		return map[bool]int64{true: 1}[s.client.Open()], nil
	case "@@textsize":
		return s.number("textsize", 4096), nil
	case "@@lock_timeout":
		return s.number("lock_timeout", -1), nil
	case "@@options":
		set := int64(0)
		for name, bit := range options {
			if s.settings[name] == "on" {
				set |= bit
			}
		}
		return set, nil
	case "db_id":
		return int64(5), nil
	case "db_name":
		return s.database.Name, nil
	case "schema_name":
		return "dbo", nil
	case "serverproperty":
		return map[any]any{"ServerName": "STANDIN", "ProductMajorVersion": "16", "EngineEdition": "3"}[values[0]], nil
	case "has_perms_by_name":
		return int64(0), nil
	case "object_id":
		if t := s.named(fmt.Sprint(values[0])); t != nil {
			return s.id(t), nil
		}
		return nil, nil
	case "collationproperty":
		return codePage(values[0]), nil
	case "min_active_rowversion":
		return binaryOf(s.database.version + 1), nil
	case "sysutcdatetime":
		return s.database.Clock(), nil
	}
	for _, v := range values {
		if v == nil {
			return nil, nil
		}
	}
	switch name {
	case "dateadd":
		return values[2].(time.Time).Add(time.Duration(values[1].(int64)) * time.Second), nil
	case "lower":
		return strings.ToLower(values[0].(string)), nil
	case "substring":
		b, from, n := values[0].([]byte), values[1].(int64)-1, values[2].(int64)
		return b[from:min(from+n, int64(len(b)))], nil
	case "datalength":
		if text, ok := values[0].(string); ok {
			return int64(len(encoded(text, kindOf(0)))), nil
		}
		return int64(len(values[0].([]byte))), nil
	}
	return nil, tdsfake.Error{Number: 195, Class: 15, Message: "'" + name + "' is not a recognized built-in function name."}
}

// codePage is that of a collation.
func codePage(collation any) any {
	name, ok := collation.(string)
	switch {
	case !ok || name == "":
		return nil
	case strings.HasSuffix(name, "_UTF8"):
		return int64(65001)
	case strings.HasPrefix(name, "Japanese_"):
		return int64(932)
	}
	return int64(1252)
}
