package main

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	mysqldriver "github.com/go-sql-driver/mysql"

	"github.com/lapstrake/lapstrake/shared/source/mysql/packet"
)

type mariadb struct {
	pool *sql.DB
	conn *sql.Conn
	url  string
	pid  int
}

func connectMariaDB(ctx context.Context, u url.URL) (engine, error) {
	config := mariaDBConfig(u)
	config.MultiStatements = true
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		return nil, err
	}
	u.Path = "/" + database
	m := &mariadb{pool: sql.OpenDB(connector), url: u.String()}
	if m.conn, err = m.pool.Conn(ctx); err != nil {
		return nil, err
	}
	var pidFile string
	err = m.conn.QueryRowContext(ctx, "select @@pid_file").Scan(&pidFile)
	if err == nil { // with room for a whole table, as a server has that is made for its data
		_, err = m.conn.ExecContext(ctx, "set global innodb_buffer_pool_size = 2147483648; create database if not exists "+database+"; use "+database)
	}
	if err == nil {
		var text []byte
		if text, err = os.ReadFile(pidFile); err == nil {
			m.pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
	}
	if err != nil {
		m.close(ctx)
		return nil, err
	}
	return m, nil
}

func mariaDBConfig(u url.URL) *mysqldriver.Config {
	config := mysqldriver.NewConfig()
	config.User, config.Net, config.Addr, config.DBName = u.User.Username(), "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	config.Passwd, _ = u.User.Password()
	return config
}

func (m *mariadb) name() string   { return "mariadb" }
func (m *mariadb) at() string     { return m.url }
func (m *mariadb) source() string { return "mysql" }
func (m *mariadb) schema() string { return database }

func (m *mariadb) close(context.Context) {
	_ = m.conn.Close()
	_ = m.pool.Close()
}

// make leaves the mark in the table's comment.
func (m *mariadb) make(ctx context.Context, t table, statements, mark string) error {
	var same int
	if err := m.conn.QueryRowContext(ctx, "select count(*) from information_schema.tables where table_schema = ? and table_name = ? and table_comment = ?", database, t.name, mark).Scan(&same); err != nil || same > 0 {
		return err
	}
	progress("making %d rows of %s", t.rows, t.name)
	_, err := m.conn.ExecContext(ctx, "set sql_log_bin = 0; drop table if exists "+t.name+";\n"+statements+"alter table "+t.name+" comment '"+mark+"'; analyze table "+t.name)
	return err
}

func (m *mariadb) truth(ctx context.Context, t table) (w truth, err error) {
	err = m.conn.QueryRowContext(ctx, fmt.Sprintf("select cast(count(*) as char), cast(sum(%s) as char) from %s", t.key, t.name)).Scan(&w.rows, &w.sum)
	return w, err
}

func (m *mariadb) version(ctx context.Context) string {
	version := "unknown"
	if err := m.conn.QueryRowContext(ctx, "select substring_index(version(), '-', 1)").Scan(&version); err != nil {
		version = "unknown"
	}
	return "MariaDB " + version
}

// cpu has the server's own work in it, too, which is little while nothing is
// written.
func (m *mariadb) cpu(ctx context.Context) (time.Duration, error) {
	for others := 1; others > 0; {
		if err := m.conn.QueryRowContext(ctx, "select count(*), sleep(0.1) from information_schema.processlist where id <> connection_id() and user not in ('system user', 'event_scheduler')").Scan(&others, new(int)); err != nil {
			return 0, err
		}
	}
	return cpuOf(m.pid, 11)
}

// mariaDBFloor reads a table by the binary protocol and throws it away. It
// returns the bytes of its values.
func mariaDBFloor(ctx context.Context, at, table string) (n int64, err error) {
	u, err := url.Parse(at)
	if err != nil {
		return 0, fmt.Errorf("-url is not a URL")
	}
	var link *packet.Link
	config := mariaDBConfig(*u)
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		link = packet.NewLink(conn, nil)
		return link, err
	}
	connector, err := mysqldriver.NewConnector(config)
	if err != nil {
		return 0, err
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { _ = conn.Close() }()
	rows, err := packet.Run(link, "select * from "+table, 0)
	for more := true; err == nil && more; {
		if more, err = rows.Next(); more && err == nil {
			for i := range rows.Columns {
				value, _ := rows.Value(i)
				n += int64(len(value))
			}
		}
	}
	return n, err
}
