package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// proven is what prove prints, as far as these tests look at it.
type proven struct {
	Exports []struct {
		Proven  bool
		Windows int `json:"windows_chained"`
		Runs    []struct {
			Proven  bool
			Rows    int64
			Tasks   int
			Reads   int `json:"read_positions"`
			Dropped int `json:"superseded"`
		}
	}
}

func proofOf(t *testing.T, o outcome) proven {
	t.Helper()
	var p proven
	if err := json.Unmarshal([]byte(o.stdout), &p); err != nil || len(p.Exports) != 1 {
		t.Fatalf("%v: %s", err, o)
	}
	return p
}

// Real runs, one of them killed and resumed, are proven from the folder alone:
// the machine that asks has neither config nor table nor database. Then the
// record loses a task, by somebody who makes every fingerprint fit.
func TestPublishedRunsAreProvenFromTheirFolder(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, "CREATE TABLE lines (k integer, v text); INSERT INTO lines SELECT nullif(i % 900, 0), 'v' || i FROM generate_series(1, 5000) i; CREATE INDEX ON lines (k)")
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	config := d.write(t, "rivet.yaml", `source: { type: postgres, url_env: DATABASE_URL }
exports:
  - { name: lines, table: public.lines, mode: chunked, chunk_column: k, chunk_size: 100, format: parquet, destination: { type: local, path: "out/{run_id}" } }
`)
	if o := d.start(t, signalAt(3, chunkDone, syscall.SIGKILL), "run", "-c", config).wait(t); o.code != 128+int(syscall.SIGKILL) {
		t.Fatal(o)
	}
	d.must(t, "resume", "-c", config)
	d.must(t, "run", "-c", config)

	elsewhere := newDesk(t)
	out := filepath.Join(d.dir, "out")
	o := elsewhere.must(t, "prove", out+"/", "--deep", "--json")
	p := proofOf(t, o).Exports[0]
	if !p.Proven || len(p.Runs) != 2 || p.Runs[0].Rows != 5000 || p.Runs[0].Tasks < 10 || p.Runs[0].Reads != p.Runs[0].Tasks {
		t.Fatal(o)
	}
	var sidecar string
	for _, name := range files(t, out) {
		if contract.IsSidecarName(filepath.Base(name)) && !strings.Contains(name, "_lapstrake") {
			sidecar = name
		}
	}
	folder := filepath.Join(out, filepath.Dir(sidecar)) + "/"
	run := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(sidecar), "manifest-"), ".json")
	for _, args := range [][]string{{folder}, {folder, "--run-id", run}, {run, "-c", config, "--state", "/nowhere/state.db"}, {"-c", config}} {
		desk := elsewhere
		if args[0] != folder {
			desk = d
		}
		if o := desk.must(t, append([]string{"prove"}, args...)...); !strings.HasPrefix(o.stdout, "lines: PROVEN\n") {
			t.Errorf("prove %q: %s", args, o)
		}
	}

	dropTask(t, out, sidecar)
	o = elsewhere.run(t, "prove", folder)
	if o.code != fault.ExitIntegrity || !strings.HasPrefix(o.stdout, "lines: NOT PROVEN\n") || !strings.Contains(o.stdout, "LAPSTRAKE_PROVE_KEY_GAP no task goes on where task") || !strings.Contains(o.stderr, "LAPSTRAKE_PROVE_FAILED") {
		t.Fatal(o)
	}
}

// dropTask takes a task with its parts out of record and manifest of a run.
func dropTask(t *testing.T, out, sidecar string) {
	t.Helper()
	read := func(name string) []byte {
		body, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	m, err := contract.DecodeManifest(read(sidecar))
	if err != nil {
		t.Fatal(err)
	}
	r, err := contract.DecodeRunRecord(read(m.RunRecord.Key))
	if err != nil {
		t.Fatal(err)
	}
	dropped := r.Tasks[4]
	r.Tasks = append(r.Tasks[:4], r.Tasks[5:]...)
	var parts []contract.Part
	for _, p := range m.Parts {
		if p.Path != dropped.Parts[0] {
			parts = append(parts, p)
		}
	}
	m.Parts, m.PartCount, m.RowCount = parts, len(parts), m.RowCount-dropped.Rows
	body, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	m.RunRecord.Fingerprint = contract.FingerprintOf(body)
	changed, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{m.RunRecord.Key: body, sidecar: changed} {
		if err := os.WriteFile(filepath.Join(out, name), body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Windows of real runs follow one another; the last exit code is that of a chain
// whose middle is gone.
func TestWindowsOfPublishedRunsAreProven(t *testing.T) {
	db := newDatabase(t)
	db.exec(t, "CREATE TABLE changes (id integer PRIMARY KEY, version integer NOT NULL, c bigint)")
	d := newDesk(t)
	d.env["DATABASE_URL"] = db.url
	config := d.write(t, "rivet.yaml", changesConfig)
	var runs []string
	for _, rows := range []string{"(1,1,10),(2,1,NULL)", "(3,1,10)", "(4,1,20),(5,1,20)", ""} { // new, late, newer, nothing
		if rows != "" {
			db.exec(t, "INSERT INTO changes VALUES "+rows)
		}
		o := d.must(t, "run", "-c", config, "--json")
		var r struct {
			PerExport []struct {
				RunID string `json:"run_id"`
			} `json:"per_export"`
		}
		if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r.PerExport[0].RunID)
	}
	out := filepath.Join(d.dir, "out")
	p := proofOf(t, d.must(t, "prove", out, "--json")).Exports[0]
	if !p.Proven || p.Windows != 4 || len(p.Runs) != 4 {
		t.Fatalf("%+v", p)
	}
	if err := os.Remove(filepath.Join(out, contract.SidecarName(contract.RunID(runs[1])))); err != nil {
		t.Fatal(err)
	}
	o := d.run(t, "prove", "-c", config)
	if o.code != fault.ExitIntegrity || !strings.Contains(o.stdout, "LAPSTRAKE_PROVE_WINDOW_GAP") {
		t.Fatal(o)
	}
	d.must(t, "prove", "-c", config, runs[2])
	if o := d.run(t, "prove", "-c", config, runs[1]); o.code != fault.ExitGeneric || !strings.Contains(o.stdout, "LAPSTRAKE_PROVE_NO_MANIFEST") {
		t.Fatal(o)
	}
}
