// Command demo fills a table, exports it, kills the export half way, resumes
// it, and reads the result as a loader does. tools/demo.sh starts the database.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

const (
	rows      = 300_000
	chunkSize = 25_000
	workers   = 4
	export    = "public.orders"
)

func main() {
	d := demo{}
	flag.StringVar(&d.url, "url", "", "PostgreSQL superuser URL")
	flag.StringVar(&d.lapstrake, "lapstrake", "build/lapstrake", "the lapstrake binary")
	flag.StringVar(&d.dir, "dir", "build/demo", "where the result is left")
	flag.Parse()
	if err := d.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

type demo struct {
	url, lapstrake, dir string
	config, out         string
}

func (d *demo) run(ctx context.Context) error {
	var err error
	if d.dir, err = filepath.Abs(d.dir); err != nil {
		return err
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(d.dir, 0o755); err != nil {
		return err
	}
	d.out = filepath.Join(d.dir, "out")
	want, err := d.fill(ctx)
	if err != nil {
		return fmt.Errorf("fill the table: %w", err)
	}
	if err := d.writeConfig(); err != nil {
		return err
	}
	runID, err := d.killHalfWay(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(d.out, "_SUCCESS")); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("_SUCCESS stands after the kill (%v)", err)
	}
	fmt.Println("no _SUCCESS stands: nothing is published")
	if err := d.lapstrakeVerb(ctx, "resume", runID); err != nil {
		return err
	}
	fmt.Println("resumed")
	if err := d.lapstrakeVerb(ctx, "validate"); err != nil {
		return err
	}
	got, parts, err := readManifest(ctx, d.out)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("the parts of the manifest hold %+v, the table holds %+v", got, want)
	}
	page, err := d.page(runID)
	if err != nil {
		return err
	}
	fmt.Printf("PASSED rows=%d parts=%d\n", got.Rows, parts)
	for _, p := range []string{filepath.Join(d.out, "manifest.json"), filepath.Join(d.out, "part-*.parquet"), page} {
		fmt.Println("  " + p)
	}
	return nil
}

// sums is what the table and the parts are compared by: rows, and sums over
// columns of three types that a lost, doubled or changed row would change.
type sums struct {
	Rows, IDs, Cents, Notes int64
}

// fill makes the orders table from a fixed seed.
func (d *demo) fill(ctx context.Context) (sums, error) {
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return sums{}, err
	}
	defer func() { _ = conn.Close(ctx) }()
	var version string
	if err := conn.QueryRow(ctx, "show server_version").Scan(&version); err != nil {
		return sums{}, err
	}
	fmt.Printf("PostgreSQL %s at port %d\n", version, conn.Config().Port)
	for _, statement := range []string{
		"drop table if exists orders",
		`create table orders (
			id bigint primary key, customer text not null, amount numeric(12,2) not null, status text,
			placed_at timestamptz not null, tags text[], details jsonb, ref uuid)`,
		fmt.Sprintf(`insert into orders select g, 'customer-' || (g::bigint * 7919 %% 9973), ((g::bigint * 104729 %% 1000000)::numeric / 100)::numeric(12,2),
			case when g %% 10 = 0 then null else (array['new','paid','sent','closed'])[1 + g %% 4] end,
			timestamptz '2026-01-01 00:00:00Z' + g * interval '37 seconds', array['t' || g %% 5, null],
			jsonb_build_object('n', g, 'gift', g %% 3 = 0), md5(g::text)::uuid
			from generate_series(1, %d) g`, rows),
		"analyze orders",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return sums{}, err
		}
	}
	var s sums
	err = conn.QueryRow(ctx, "select count(*), sum(id)::bigint, (sum(amount) * 100)::bigint, sum(length(coalesce(status, '')))::bigint from orders").Scan(&s.Rows, &s.IDs, &s.Cents, &s.Notes)
	fmt.Printf("%d rows loaded\n", s.Rows)
	return s, err
}

func (d *demo) writeConfig() error {
	d.config = filepath.Join(d.dir, "rivet.yaml")
	return os.WriteFile(d.config, fmt.Appendf(nil, `source:
  type: postgres
  url_env: DATABASE_URL
exports:
  - name: %s
    table: %s
    mode: chunked
    chunk_size: %d
    parallel: %d
    format: parquet
    destination:
      type: local
      path: out
`, export, export, chunkSize, workers), 0o644)
}

// killHalfWay starts the export and ends its process with SIGKILL as soon as it
// has said that half of the chunks are completed.
func (d *demo) killHalfWay(ctx context.Context) (runID string, err error) {
	cmd := d.command(ctx, "run")
	events, err := cmd.StderrPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	chunks, half, completed := rows/chunkSize, rows/chunkSize/2, 0
	var last string
	for lines := bufio.NewScanner(events); lines.Scan(); {
		var e struct {
			Msg   string `json:"msg"`
			RunID string `json:"run_id"`
		}
		last = lines.Text()
		if json.Unmarshal([]byte(last), &e) != nil || e.Msg != "chunk completed" {
			continue
		}
		runID = e.RunID
		if completed++; completed == half {
			if err := cmd.Process.Kill(); err != nil {
				return "", err
			}
			break
		}
	}
	if err := cmd.Wait(); err == nil || completed < half {
		return "", fmt.Errorf("the export ended by itself after %d of %d chunks: %s", completed, chunks, last)
	}
	fmt.Printf("killed at %d of %d chunks\n", completed, chunks)
	return runID, nil
}

// lapstrakeVerb runs one verb to its end and shows what it says on failure.
func (d *demo) lapstrakeVerb(ctx context.Context, args ...string) error {
	cmd := d.command(ctx, args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("lapstrake %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (d *demo) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.lapstrake, append([]string{"-c", d.config}, args...)...)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+d.url)
	return cmd
}

// page copies the run's report to a place that is easy to find.
func (d *demo) page(runID string) (string, error) {
	body, err := os.ReadFile(filepath.Join(d.out, "_lapstrake", export, "runs", runID, "summary.html"))
	if err != nil {
		return "", err
	}
	to := filepath.Join(d.dir, "run.html")
	return to, os.WriteFile(to, body, 0o644)
}
