package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination/memory"
	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
)

var start = time.Date(2126, 11, 29, 12, 0, 0, 0, time.UTC)

// rows is a source with the keys 1 to n, each as often as groups says, that
// takes a second a batch.
type rows struct {
	n, group, batch int
	now             time.Time
	fails           error
	at              int
	out             *rowbatch.Batch
	spec            source.ReadSpec // of the last Read
	long            int             // up to which keys are of many bytes
}

func (r *rows) Now() time.Time                       { return r.now }
func (r *rows) After(time.Duration) <-chan time.Time { return nil }

func (r *rows) Read(_ context.Context, spec source.ReadSpec) (source.Reader, error) {
	r.out, r.spec = rowbatch.New(spec.Columns), spec
	return r, nil
}

func (r *rows) key(i int) int { return i/r.group + 1 }

func (r *rows) Next(context.Context) (*rowbatch.Batch, error) {
	r.now = r.now.Add(time.Second)
	r.out.Reset()
	for r.out.Rows < r.batch && r.at < r.n {
		r.out.Columns[0].AppendInt64(int64(r.key(r.at)))
		r.out.Rows++
		r.at++
	}
	switch {
	case r.out.Rows > 0:
		return r.out, nil
	case r.fails != nil:
		return nil, r.fails
	}
	return nil, io.EOF
}

func (r *rows) Edge(int) source.Edge { return source.Edge{} }

// Cut keeps whole groups: the last key of a batch may go on in the next one.
func (r *rows) Cut() (int, keyspace.Key) {
	keys := r.out.Columns[0].I64
	n := len(keys)
	if r.group > 1 {
		for n > 0 && keys[n-1] == keys[len(keys)-1] {
			n--
		}
	}
	if n == 0 {
		return 0, nil
	}
	text := strconv.FormatInt(keys[n-1], 10)
	if keys[n-1] <= int64(r.long) {
		text = strings.Repeat("x", 5000)
	}
	return n, keyspace.Key{text}
}

func (r *rows) Position() string { return "0/1" }

func (r *rows) Close(context.Context) error { return nil }

type src struct {
	source.Source
	*rows
}

func (s src) Read(ctx context.Context, spec source.ReadSpec) (source.Reader, error) {
	return s.rows.Read(ctx, spec)
}

func (s src) Close(context.Context) error { return nil }

// lines writes one key a line.
type lines struct {
	body strings.Builder
	// memory has what each part was given to be written into; nil asks for no
	// record.
	memory *[][]byte
	// released counts the workspaces that were given back.
	released int
}

// Release is of the workspace, which is the format itself.
func (l *lines) Release() { l.released++ }

func (lines) Check(partfile.Options) error { return nil }
func (l *lines) New(o partfile.Options) (partfile.Writer, error) {
	if l.memory != nil {
		*l.memory = append(*l.memory, o.Memory.TakeBody())
	}
	o.Memory.Workspace = l
	return &lines{}, nil
}
func (l *lines) Size() int64 { return int64(l.body.Len()) }
func (l *lines) Rows() int64 { return int64(strings.Count(l.body.String(), "\n")) }
func (l *lines) Append(b *rowbatch.Batch) error {
	for _, v := range b.Columns[0].I64 {
		fmt.Fprintln(&l.body, v)
	}
	return nil
}

func (l *lines) Close() (partfile.Part, error) {
	body := []byte(l.body.String())
	return partfile.Part{Body: body, Rows: l.Rows(), Fingerprint: contract.FingerprintOf(body)}, nil
}

func job(r *rows, store *memory.Store, partBytes int64) Job {
	r.now = start
	return Job{
		Plan: chunkplan.Plan{
			RunID: "r1", Export: exportconfig.Export{Format: "csv", PartBytes: partBytes}, Splittable: true, Unique: r.group == 1,
			Columns: []rowtype.Column{{Name: "id", Type: rowtype.Type{Kind: rowtype.Int64}}}, Key: []keyspace.Column{{Name: "id", Native: "bigint"}},
		},
		Task: "000000", Naming: contract.PartNaming{Generation: 1, Plain: true, Ext: "csv"},
		Source: src{rows: r}, Prefix: store, Format: &lines{}, Clock: r,
	}
}

func TestATaskReadsAtThePointInTimeOfThePlan(t *testing.T) {
	r := &rows{n: 1, group: 1, batch: 10}
	j := job(r, memory.New("memory://b", memory.LikeS3), 50)
	j.Plan.ReadAt, j.Plan.NotBefore = "7.1", "6.9"
	if _, err := Run(t.Context(), j); err != nil || r.spec.ReadAt != "7.1" || r.spec.NotBefore != "6.9" {
		t.Fatalf("read at %q, not before %q, %v", r.spec.ReadAt, r.spec.NotBefore, err)
	}
}

func TestPartsRotateAtTheirSize(t *testing.T) {
	store := memory.New("memory://b", memory.LikeS3)
	out, err := Run(t.Context(), job(&rows{n: 100, group: 1, batch: 10}, store, 50))
	if err != nil || out.Rest != nil || out.Result.Rows != 100 || out.Result.ReadPosition != "0/1" {
		t.Fatalf("%+v (%v)", out, err)
	}
	if n := len(out.Result.Parts); n < 4 || out.Result.Parts[1].Path != "part-000001-002.csv" {
		t.Fatalf("%d parts: %+v", n, out.Result.Parts)
	}
}

// WRT-16: a part ends with a batch, so that a batch of many small parts is small.
func TestBatchesAreSmallBesideAPart(t *testing.T) {
	for _, tc := range []struct {
		name             string
		part, said, want int64
	}{
		{"parts of the default size", 32 << 20, 0, 4 << 20},
		{"large parts", 1 << 30, 0, 8 << 20},
		{"parts of 256 KB", 256 << 10, 0, 32 << 10},
		{"parts of 4 MB", 4 << 20, 0, 512 << 10},
		{"the least parts", 1, 0, 16 << 10},
		{"batches that the config limits", 128 << 20, 1 << 20, 1 << 20},
		{"batches that the config would have larger than parts", 4 << 20, 64 << 20, 512 << 10},
	} {
		r := &rows{n: 1, group: 1, batch: 10}
		j := job(r, memory.New("memory://b", memory.LikeS3), tc.part)
		j.Plan.Export.BatchBytes = tc.said
		if _, err := Run(t.Context(), j); err != nil || r.spec.BatchBytes != tc.want {
			t.Errorf("%s: batches of %d bytes, want %d (%v)", tc.name, r.spec.BatchBytes, tc.want, err)
		}
	}
}

// A part is in memory once: the next one is written over it.
func TestPartsShareTheirMemory(t *testing.T) {
	j := job(&rows{n: 100, group: 1, batch: 10}, memory.New("memory://b", memory.LikeS3), 50)
	var given [][]byte
	format := &lines{memory: &given}
	j.Format = format
	out, err := Run(t.Context(), j)
	if format.released != 1 {
		t.Errorf("at the end of the task its workspace was given back %d times", format.released)
	}
	if err != nil || len(given) < 4 || len(given) != len(out.Result.Parts) {
		t.Fatalf("%d parts, %d writers (%v)", len(out.Result.Parts), len(given), err)
	}
	for i, m := range given {
		want := contract.Fingerprint("")
		got := want
		if i > 0 {
			want, got = out.Result.Parts[i-1].Fingerprint, contract.FingerprintOf(m)
		}
		if got != want {
			t.Errorf("part %d was given the memory of %q, want that of %q", i+1, got, want)
		}
	}
}

func TestRangeWithoutRowsHasNoPart(t *testing.T) { // WRT-17
	store := memory.New("memory://b", memory.LikeS3)
	out, err := Run(t.Context(), job(&rows{n: 0, group: 1, batch: 10}, store, 50))
	if err != nil || len(out.Result.Parts) != 0 || out.Rest != nil {
		t.Fatalf("%+v (%v)", out, err)
	}
}

// Near the deadline the rest goes to a child, cut between two keys whatever the
// batches are (§3.2).
func TestSplitNearTheDeadline(t *testing.T) {
	for group := 1; group <= 7; group++ {
		for batch := group; batch <= 9; batch++ { // a batch that is one group can end nowhere
			if group > 1 && batch == group {
				continue
			}
			store := memory.New("memory://b", memory.LikeS3)
			r := &rows{n: 200, group: group, batch: batch}
			j := job(r, store, 1<<20)
			j.Deadline = start.Add(24 * time.Second)
			out, err := Run(t.Context(), j)
			if err != nil || out.Rest == nil {
				t.Fatalf("groups of %d, batches of %d: %+v (%v)", group, batch, out, err)
			}
			last, _ := strconv.Atoi(out.Done.UpTo[0])
			if want := int64(last * group); out.Result.Rows != want {
				t.Fatalf("groups of %d, batches of %d: %d rows up to key %d, want %d", group, batch, out.Result.Rows, last, want)
			}
			if err := keyspace.Tiles(keyspace.Range{}, []keyspace.Range{out.Done, *out.Rest}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// QUE-22: a bound stands in two items of the run's table. A task is not cut at a
// key of many kilobytes, but at the next one that is shorter.
func TestATaskIsNotCutAtAKeyThatIsTooLong(t *testing.T) {
	r := &rows{n: 200, group: 1, batch: 1, long: 17}
	j := job(r, memory.New("memory://b", memory.LikeS3), 1<<20)
	j.Deadline = start.Add(24 * time.Second)
	out, err := Run(t.Context(), j)
	if err != nil || out.Rest == nil || out.Result.Rows != 18 || out.Done.UpTo[0] != "18" {
		t.Fatalf("%d rows, rest %v (%v)", out.Result.Rows, out.Rest, err)
	}
}

func TestTaskWithoutAKeyFailsAtItsDeadline(t *testing.T) {
	j := job(&rows{n: 1000, group: 1, batch: 1}, memory.New("memory://b", memory.LikeS3), 1<<20)
	j.Plan.Splittable = false
	j.Deadline = start.Add(24 * time.Second)
	if _, err := Run(t.Context(), j); fault.CodeOf(err) != "LAPSTRAKE_RUN_DEADLINE" {
		t.Fatalf("error %v, want LAPSTRAKE_RUN_DEADLINE", err)
	}
}

// A read that breaks delivers nothing, however many rows came before (OPS-01).
func TestBrokenReadDeliversNothing(t *testing.T) {
	broken := errors.New("connection reset")
	out, err := Run(t.Context(), job(&rows{n: 25, group: 1, batch: 10, fails: broken}, memory.New("memory://b", memory.LikeS3), 20))
	if !errors.Is(err, broken) || out.Result.Rows != 0 || len(out.Result.Parts) != 0 {
		t.Fatalf("%+v (%v)", out, err)
	}
}
