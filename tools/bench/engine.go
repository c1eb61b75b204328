package main

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// engine is a database on this machine, and the connection that looks at it.
type engine interface {
	// name is that of the engine in a table of figures and in a ratio.
	name() string
	// at is the URL of the database that has the tables.
	at() string
	// source is the value of source.type in a config.
	source() string
	// schema is what a config says before the name of a table.
	schema() string
	// make makes a table, unless it is there and has this mark.
	make(ctx context.Context, t table, statements, mark string) error
	// truth is what an output of the table has to have.
	truth(ctx context.Context, t table) (truth, error)
	version(ctx context.Context) string
	// cpu is what the database has used so far for the connections of others,
	// all of which have ended.
	cpu(ctx context.Context) (time.Duration, error)
	close(ctx context.Context)
}

// connect makes what is missing of the tables. A table of the right number of
// rows, made by the same statements, is kept.
func connect(ctx context.Context, server string, wanted []table) (engine, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, fmt.Errorf("-url is not a URL")
	}
	var e engine
	suffix := ""
	if u.Scheme == "mysql" || u.Scheme == "mariadb" {
		suffix = ".mariadb"
		e, err = connectMariaDB(ctx, *u)
	} else {
		e, err = connectPostgres(ctx, *u)
	}
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	for _, t := range wanted {
		body, err := definitions.ReadFile("tables/" + t.name + suffix + ".sql")
		if err == nil {
			statements := strings.ReplaceAll(string(body), "{rows}", fmt.Sprint(t.rows))
			sum := md5.Sum([]byte(statements))
			err = e.make(ctx, t, statements, hex.EncodeToString(sum[:]))
		}
		if err != nil {
			e.close(ctx)
			return nil, fmt.Errorf("make table %s: %w", t.name, err)
		}
	}
	return e, nil
}

// cpuOf is what the processes named by two fields of a process's stat have used:
// itself from 11 on, or its children that were waited for from 13 on.
func cpuOf(pid, field int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("the server's processes are not on this machine: %w", err)
	}
	const ticks = 100 // a second, on every Linux that Go runs on
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	var total time.Duration
	for _, f := range fields[field : field+2] { // user and system
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		total += time.Duration(n) * time.Second / ticks
	}
	return total, nil
}
