package sqlserver

import (
	"encoding/hex"
	"io"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/standin"
	"github.com/lapstrake/lapstrake/shared/source/sqlserver/tdsfake"
)

// pages reads a table page by page, each from the bound that the one before
// gave, and returns the values of its column v in their order.
func pages(t *testing.T, s *Source, rel source.Relation, size int) (values []string) {
	t.Helper()
	described, err := s.Describe(t.Context(), rel)
	if err != nil {
		t.Fatal(err)
	}
	spec := source.ReadSpec{Relation: rel, Columns: described.Columns, Key: []keyspace.Column{described.KeyColumns["v"]}, Ordered: true, Unique: true, BatchRows: size}
	for {
		r, err := s.Read(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Next(t.Context())
		if err == io.EOF {
			return values
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Rows {
			values = append(values, printed(&b.Columns[1], i))
		}
		if len(values) > 100 {
			t.Fatalf("pages of %d do not come to an end", size)
		}
		n, at := r.Cut()
		if n != b.Rows {
			t.Fatalf("a page of %d is cut after %d", b.Rows, n)
		}
		spec.Range.After = at
		if err := r.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func guid(text string) (id [16]byte) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil {
		panic(err)
	}
	copy(id[:], b)
	return id
}

// Every type of a key, in pages of one to four, in the order that the server has
// (PLN-08): a bound is read as the value that it was written of.
func TestKeysOfEveryTypeAreReadInPages(t *testing.T) {
	s := newServer(t)
	codePage := columnOf("varchar", 20)
	codePage.Collation = "Latin1_General_BIN2"
	for _, tc := range []struct {
		name   string
		of     standin.Column
		values []any
		want   string // in the server's order; "" is the one they have here
	}{
		{"bigint", columnOf("bigint"), []any{int64(-9223372036854775808), int64(0), int64(9223372036854775807)}, ""},
		{"decimal", columnOf("decimal", 38, 10), []any{decimal("-9999999999999999999999999999.9999999999"), decimal("-0.0000000001"), decimal("0"), decimal("0.0000000001")}, ""},
		{"money", columnOf("money"), []any{decimal("-922337203685477.5808"), decimal("0.0001"), decimal("922337203685477.5807")}, ""},
		{"float", columnOf("float"), []any{-1.7976931348623157e308, -5e-324, 0.0, 0.1, 0.30000000000000004}, ""},
		{"real", columnOf("real"), []any{float64(float32(-0.1)), float64(float32(0.1)), float64(float32(16777216))}, ""},
		{"date", columnOf("date"), []any{instant("0001-01-01T00:00:00Z"), instant("2024-02-29T00:00:00Z"), instant("9999-12-31T00:00:00Z")}, ""},
		{"datetime by its ticks", columnOf("datetime"), []any{instant("2024-09-25T13:39:40.833Z"), instant("2024-09-25T13:39:40.837Z"), instant("2024-09-25T13:39:40.840Z")}, ""},
		{"smalldatetime", columnOf("smalldatetime"), []any{instant("2024-09-25T13:39:00Z"), instant("2024-09-25T13:40:00Z")}, ""},
		{"a hundred nanoseconds", columnOf("datetime2", 7), []any{instant("2024-09-25T13:39:40.8330001Z"), instant("2024-09-25T13:39:40.8330002Z"), instant("2024-09-25T13:39:40.8330003Z")}, ""},
		{"microseconds", columnOf("datetime2", 6), []any{instant("1969-12-31T23:59:59.999999Z"), instant("2024-09-25T13:39:40.833001Z")}, ""},
		{"instants of several offsets", columnOf("datetimeoffset", 6), []any{instant("2024-03-31T02:30:00.000001+05:30"), instant("2024-03-30T21:00:00.000002Z")}, ""},
		{"time", columnOf("time", 7), []any{instant("0001-01-01T00:00:00Z"), instant("0001-01-01T12:00:00.0000001Z"), instant("0001-01-01T12:00:00.0000002Z")}, ""},
		{"text", columnOf("nvarchar", 20), []any{"", "'", "a\nb", "a\\\nb", "café", "漢", "😀"}, ""},
		{"text of a code page", codePage, []any{"'", "a'b", "café"}, ""},
		{"bytes", columnOf("varbinary", 20), []any{[]byte{}, []byte{0, 1}, []byte{0xff}}, ""},
		{"rowversion", columnOf("timestamp"), []any{nil, nil, nil}, ""},
		{"guids, by their last group first", columnOf("uniqueidentifier"), []any{
			guid("ffffffff-0000-0000-0000-000000000001"), guid("00000000-0000-0000-0000-000000000002"), guid("00000000-0000-0000-0001-000000000001"), guid("00000000-0000-0001-0000-000000000001"),
			guid("00000000-0001-0000-0000-000000000001"), guid("c6d6083a-4d2a-40d0-b20a-000005972e13"), guid("b63d3aa7-8bc8-4c0f-bacd-fffffdaa57cd"), guid("6f9619ff-8b86-d011-b42d-00c04fc964ff")},
			"ffffffff000000000000000000000001 00000000000100000000000000000001 00000000000000010000000000000001 00000000000000000001000000000001 00000000000000000000000000000002 c6d6083a4d2a40d0b20a000005972e13 6f9619ff8b86d011b42d00c04fc964ff b63d3aa78bc84c0fbacdfffffdaa57cd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := tc.of
			c.NotNull = true
			rel := s.made("keys", c, tc.values...)
			src := s.source(t)
			all, err := export(t, src, rel)
			if err != nil {
				t.Fatal(err)
			}
			var inOrder []string
			for i := range all.Rows {
				inOrder = append(inOrder, printed(&all.Columns[1], i))
			}
			want := strings.Join(inOrder, " ")
			if tc.want != "" {
				want = tc.want
			}
			for size := 1; size <= 4; size++ {
				if got := strings.Join(pages(t, src, rel, size), " "); got != want {
					t.Fatalf("in pages of %d:\n %s\nwant\n %s", size, got, want)
				}
			}
		})
	}
}

// A cursor of every type is followed from its own end: the rows behind the text
// of a position are those that came later, and no other (CUR-05).
func TestACursorContinuesBehindItsOwnText(t *testing.T) {
	s := newServer(t)
	for _, tc := range []struct {
		of    standin.Column
		first any
		later any
	}{
		{columnOf("int"), int64(1), int64(2)},
		{columnOf("decimal", 20, 3), decimal("1.001"), decimal("1.002")},
		{columnOf("float"), 0.1, 0.10000000000000002},
		{columnOf("datetime"), instant("2024-09-25T13:39:40.837Z"), instant("2024-09-25T13:39:40.840Z")},
		{columnOf("datetime2", 7), instant("2024-09-25T13:39:40.8370001Z"), instant("2024-09-25T13:39:40.8370002Z")},
		{columnOf("datetimeoffset", 7), instant("2024-09-25T13:39:40.8370001+02:00"), instant("2024-09-25T13:39:40.8370002+02:00")},
		{columnOf("date"), instant("2024-02-28T00:00:00Z"), instant("2024-02-29T00:00:00Z")},
		{columnOf("nvarchar", 10), "a'", "b"},
		{columnOf("timestamp"), nil, nil},
	} {
		t.Run(tc.of.Type.Name, func(t *testing.T) {
			rel := s.made("followed", tc.of, tc.first)
			src := s.source(t)
			described, err := src.Describe(t.Context(), rel)
			if err != nil {
				t.Fatal(err)
			}
			cursor, key := described.KeyColumns["v"], []keyspace.Column{described.KeyColumns["id"]}
			end, err := src.CursorEnd(t.Context(), rel, source.CursorQuery{Cursor: cursor, Key: key})
			if err != nil || !end.Found || end.Ties != 1 {
				t.Fatalf("%+v, %v", end, err)
			}
			position := end.Value
			if end, err = src.CursorEnd(t.Context(), rel, source.CursorQuery{Cursor: cursor, Key: key, From: &position}); err != nil || end.Order != 0 {
				t.Fatalf("%+v, %v: the end is at its own position", end, err)
			}
			s.Database.Insert("dbo", "followed", []any{int64(2), tc.later})
			if end, err = src.CursorEnd(t.Context(), rel, source.CursorQuery{Cursor: cursor, Key: key, From: &position}); err != nil || end.Order != 1 || end.FromTies != 1 {
				t.Fatalf("%+v, %v", end, err)
			}
			b, err := export(t, src, rel, func(spec *source.ReadSpec) {
				spec.Range, spec.Key = keyspace.Range{}, []keyspace.Column{cursor, key[0]}
				spec.Window = &keyspace.Window{Cursor: cursor, From: &position, To: end.Value, Key: key}
			})
			if err != nil || b.Rows != 1 || printed(&b.Columns[0], 0) != "2" {
				t.Fatalf("%d rows behind %s, %v", b.Rows, position, err)
			}
		})
	}
}

// A rowversion above one that a transaction under way may still have is not
// followed yet.
func TestARowversionIsFollowedOnlyToTheOldestTransaction(t *testing.T) {
	s := newServer(t)
	rel := s.made("versions", columnOf("timestamp"), nil, nil, nil)
	s.Heard = func(batch string) error {
		if strings.Contains(batch, " < 0x") && !strings.Contains(batch, "_lapstrake.[v] < 0x0000000000000004") {
			t.Errorf("%s", batch)
		}
		return nil
	}
	src := s.source(t)
	end, err := src.CursorEnd(t.Context(), rel, source.CursorQuery{Cursor: keyspace.Column{Name: "v", Native: "rowversion", Nullable: true}})
	if err != nil || end.Value != "0000000000000003" {
		t.Fatalf("%+v, %v", end, err)
	}
}

func TestColumnsThatAreNoKeyOrCursor(t *testing.T) {
	s := newServer(t)
	src := s.source(t)
	for _, name := range []string{"bit", "xml", "ntext", "image"} {
		rel := s.made("no_key", columnOf(name), nil)
		rel.Overrides = map[string]string{}
		if name == "xml" {
			rel.Overrides["v"] = "text"
		}
		described, err := src.Describe(t.Context(), rel)
		if err != nil {
			t.Fatal(err)
		}
		if c, there := described.KeyColumns["v"]; there {
			t.Errorf("%s is a key column: %+v", name, c)
		}
		_, err = src.CursorEnd(t.Context(), rel, source.CursorQuery{Cursor: keyspace.Column{Name: "v", Native: name}})
		sourcetest.WantRefusal(t, err, fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "[v]", name)
	}
	_, err := src.CursorEnd(t.Context(), s.made("no_key", columnOf("uniqueidentifier")), source.CursorQuery{Cursor: keyspace.Column{Name: "v"}})
	sourcetest.WantRefusal(t, err, fault.Usage, "LAPSTRAKE_PLAN_CURSOR_TYPE", "uniqueidentifier")
	_, err = src.IntegerBounds(t.Context(), s.made("no_key", columnOf("decimal", 10, 0)), keyspace.Column{Name: "v"})
	sourcetest.WantRefusal(t, err, fault.Permanent, "LAPSTRAKE_PLAN_CHUNK_KEY_TYPE", "decimal(10,0)")
	_, err = src.IntegerBounds(t.Context(), s.made("no_key", columnOf("int")), keyspace.Column{Name: "V"})
	sourcetest.WantRefusal(t, err, fault.Permanent, failure.ColumnMissing, "[V]", "there is [v]")
}

// A bound is looked at before it stands in a statement.
func TestABoundThatIsNoneOfItsType(t *testing.T) {
	for name, text := range map[string]string{"int": "1 or 1=1", "decimal": "1)", "float": "nan", "varbinary": "0x", "xml": "a"} {
		c := column{server: typeOf(name)}
		if got, err := c.constant(text); fault.ClassOf(err) != fault.Bug {
			t.Errorf("%s as %s: %s, %v", text, name, got, err)
		}
	}
}

// The split points of a key of several columns are the keys of rows under one
// snapshot. Where there is none, such a key is not cut.
func TestAKeyOfSeveralColumnsIsCutUnderASnapshotOnly(t *testing.T) {
	for _, snapshot := range []bool{true, false} {
		s := newServer(t)
		s.Snapshot = snapshot
		s.Database.Create("dbo", "pairs", []standin.Column{{Name: "a", Type: tdsfake.Type{Name: "int"}, NotNull: true}, {Name: "b", Type: tdsfake.Type{Name: "int"}, NotNull: true}}, "a", "b")
		for i := range int64(20) {
			s.Database.Insert("dbo", "pairs", []any{i / 4, i})
		}
		src := s.source(t)
		described, err := src.Describe(t.Context(), table("pairs"))
		if err != nil {
			t.Fatal(err)
		}
		points, err := src.SplitPoints(t.Context(), table("pairs"), described.Keys[0].Columns, nil, 3)
		if err != nil || (len(points) == 2) != snapshot {
			t.Errorf("snapshot %t: %v, %v", snapshot, points, err)
		}
		if want := map[bool]string{true: "", false: withLocks}[snapshot]; described.Consistency != want {
			t.Errorf("snapshot %t: consistency %q", snapshot, described.Consistency)
		}
	}
}

// A task sees its snapshot, whatever is written while it reads (OPS-12).
func TestATaskSeesOneSnapshot(t *testing.T) {
	s := newServer(t)
	rel := s.made("moving", columnOf("int"), int64(1), int64(2))
	reads := 0
	s.Heard = func(batch string) error {
		if strings.HasPrefix(batch, "select _lapstrake.[id]") {
			reads++
			s.Database.Insert("dbo", "moving", []any{int64(9), int64(9)})
		}
		return nil
	}
	b, err := export(t, s.source(t), rel)
	if err != nil || b.Rows != 2 || reads != 1 {
		t.Fatalf("%d rows, %d reads, %v", b.Rows, reads, err)
	}
}
