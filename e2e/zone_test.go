package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/internal/testenv"
)

// moments lie in hours that a clock somewhere skips or has twice, and before
// clocks had zones.
var moments = []string{"2024-03-10 02:30:00.000001", "2024-11-03 01:30:00", "2024-03-31 02:15:00.5", "1986-01-01 00:07:30", "1935-05-10 12:00:00", "2024-06-30 23:59:59.999999"}

// OPS-14: the zone of the machine that reads has no part in any value, bound or
// position: runs in three zones store the same bytes.
func TestTheZoneOfTheMachineChangesNothing(t *testing.T) {
	for _, tc := range []struct {
		name, kind, table, cursor string
		prepare                   func(t *testing.T) (at string)
	}{
		{"PostgreSQL", "postgres", "public.moments", "z", func(t *testing.T) string {
			db := newDatabase(t)
			db.exec(t, "CREATE TABLE moments (id integer PRIMARY KEY, d date, t time, w timestamp, z timestamptz NOT NULL, i interval); SET timezone = 'UTC'")
			for i, m := range moments {
				db.exec(t, fmt.Sprintf("INSERT INTO moments VALUES (%d, '%[2]s', '%[2]s', '%[2]s', '%[2]s', '%[2]s'::timestamp - '2000-01-01')", i, m))
			}
			return db.url
		}},
		{"MariaDB", "mysql", "moments", "w", func(t *testing.T) string {
			at, db := mysqlDatabase(t, testenv.MariaDBURL)
			if _, err := db.ExecContext(t.Context(), "create table moments (id int primary key, d date, t time(6), w datetime(6) not null, z timestamp(6) null, y year)"); err != nil {
				t.Fatal(err)
			}
			for i, m := range moments {
				if _, err := db.ExecContext(t.Context(), "insert into moments values (?, ?, time(?), ?, if(? < '1970-01-02', null, ?), year(?))", i, m, m, m, m, m, m); err != nil {
					t.Fatal(err)
				}
			}
			return at
		}},
		{"SQL Server", "mssql", "dbo.orders", "updated_at", func(t *testing.T) string {
			at, _ := sqlServer(t, 50, time.Date(2024, 3, 10, 2, 45, 0, 0, time.UTC))
			return at
		}},
		{"MongoDB", "mongo", "moments", "", func(t *testing.T) string {
			at, db := mongoDatabase(t)
			for i, m := range moments {
				at, err := time.Parse("2006-01-02 15:04:05.999999", m)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := db.Collection("moments").InsertOne(t.Context(), bson.D{{Key: "_id", Value: bson.NewDateTimeFromTime(at)}, {Key: "n", Value: i}, {Key: "at", Value: at}}); err != nil {
					t.Fatal(err)
				}
			}
			return at
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			at := tc.prepare(t)
			exports := []string{"mode: full, format: csv", "mode: full, format: parquet"}
			if tc.cursor != "" {
				exports = append(exports, "mode: incremental, format: csv, cursor_column: "+tc.cursor)
			}
			config := fmt.Sprintf("source: { type: %s, url_env: DATABASE_URL }\nexports:\n", tc.kind)
			for i, e := range exports {
				config += fmt.Sprintf("  - { name: e%d, table: %s, %s, destination: { type: local, path: out/%d } }\n", i, tc.table, e, i)
			}
			var want []string
			for _, zone := range []string{"UTC", "America/St_Johns", "Asia/Kathmandu"} {
				if _, err := time.LoadLocation(zone); err != nil {
					t.Fatal(err) // the command would not know it either
				}
				d := newDesk(t)
				d.env["DATABASE_URL"], d.env["TZ"] = at, zone
				d.write(t, "rivet.yaml", config)
				d.must(t, "run")
				var got []string
				for i := range exports {
					m := published(t, inFolder(t, filepath.Join(d.dir, "out", fmt.Sprint(i)))).manifest
					for _, part := range m.Parts {
						got = append(got, fmt.Sprintf("export %d: %d rows, %s", i, part.Rows, part.ContentFingerprint))
					}
					if m.Position != nil {
						got = append(got, fmt.Sprintf("to %s", m.Position.To.Value))
					}
				}
				if want == nil {
					want = got
				}
				if len(got) < len(exports) || !slices.Equal(got, want) {
					t.Errorf("in zone %s: %q, want %q", zone, got, want)
				}
			}
		})
	}
}
