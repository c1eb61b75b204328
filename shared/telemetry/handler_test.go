package telemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lapstrake/lapstrake/shared/fault"
)

type name string

type person struct {
	Name     string
	Password string   `json:"password"`
	URLs     []string `json:"urls"`
	Age      int64
}

func TestLogHoldsNoSecretWhateverItsKind(t *testing.T) {
	const leak = "postgres://u:S3cr3t@db/shop"
	var out bytes.Buffer
	log := JSONLogger(&out, slog.LevelInfo).With("url", leak, slog.Group("g", "url", leak)).WithGroup("inner")
	log.InfoContext(With(t.Context(), slog.String("context", leak)), leak,
		"text", leak,
		"typed", name(leak),
		"error", fmt.Errorf("connect: %w", errors.New(leak)),
		"url", stringer(leak),
		"struct", person{Name: leak, Password: "S3cr3t", URLs: []string{leak}, Age: 1 << 60},
		"bytes", json.RawMessage(`{"token":"S3cr3t"}`),
		"none", nil,
		"odd", func() {},
		"password", "S3cr3t",
		"valuer", valuer{},
	)
	if strings.Contains(out.String(), "S3cr3t") {
		t.Fatalf("the log shows a secret:\n%s", out.String())
	}
	if strings.Count(out.String(), "\n") != 1 || !json.Valid(out.Bytes()) {
		t.Fatalf("not one JSON event a line:\n%s", out.String())
	}
	if !strings.Contains(out.String(), `"Age":1152921504606846976`) {
		t.Errorf("a number has changed:\n%s", out.String())
	}
}

type stringer string

func (s stringer) String() string { return string(s) }

type valuer struct{}

func (valuer) LogValue() slog.Value { return slog.StringValue("postgres://u:S3cr3t@db/shop") }

func TestEventHasContextErrorAndTimeInUTC(t *testing.T) {
	var out bytes.Buffer
	log := JSONLogger(&out, slog.LevelInfo)
	ctx := With(t.Context(), slog.String(AttrRunID, "r1"))
	ctx = With(With(ctx, slog.Int(AttrGeneration, 1)), slog.Int(AttrReceives, 2))
	ctx, _ = With(ctx, slog.String(AttrQueue, "q")), With(ctx, slog.String(AttrTask, "another branch"))
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.FixedZone("", 5*3600+45*60)) // OPS-14
	r := slog.NewRecord(at, slog.LevelWarn, "m", 0)
	r.AddAttrs(Err(fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_AUTH", "no")))
	if err := log.Handler().Handle(ctx, r); err != nil {
		t.Fatal(err)
	}
	want := `{"time":"2026-11-29T06:15:00Z","level":"WARN","msg":"m","run_id":"r1","gen":1,"receives":2,"queue":"q","error":"no","class":"permanent","code":"LAPSTRAKE_SOURCE_AUTH"}` + "\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Fatalf("(-want +got)\n%s", d)
	}
	if log.Enabled(ctx, slog.LevelDebug) {
		t.Error("debug events are enabled")
	}
}

func TestTraceID(t *testing.T) {
	for in, want := range map[string]string{
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": "4bf92f3577b34da6a3ce929d0e0e4736",
		"": "", "00-4bf9-00f0-01": "", "nonsense": "",
	} {
		if got := TraceID(in); got != want {
			t.Errorf("trace id of %q is %q, want %q", in, got, want)
		}
	}
}

type stopped struct{}

func (stopped) Now() time.Time                       { return time.Unix(1_790_000_000, 5_000_000) }
func (stopped) After(time.Duration) <-chan time.Time { return nil }

func TestEMF(t *testing.T) {
	var out bytes.Buffer
	var o Observer = NewEMF(&out, stopped{}, "prod", "chunk")
	o.Count(RowsRead, 9007199254740993, slog.String(AttrRunID, "r1"), slog.Any(AttrExport, name("public.orders")))
	o.Duration(ChunkSeconds, 1500*time.Millisecond, slog.String("url", "postgres://u:S3cr3t@db"))
	o.Count(PartBytes, 5, slog.Any("odd", func() {}))
	want := `{"RowsRead":9007199254740993,"_aws":{"Timestamp":1790000000005,"CloudWatchMetrics":[{"Namespace":"Lapstrake","Dimensions":[["stack","function"],["stack","export"]],"Metrics":[{"Name":"RowsRead","Unit":"Count"}]}]},"export":"public.orders","function":"chunk","run_id":"r1","stack":"prod"}
{"ChunkSeconds":1.5,"_aws":{"Timestamp":1790000000005,"CloudWatchMetrics":[{"Namespace":"Lapstrake","Dimensions":[["stack","function"]],"Metrics":[{"Name":"ChunkSeconds","Unit":"Seconds"}]}]},"function":"chunk","stack":"prod","url":"postgres://REDACTED@db"}
`
	got, last, _ := strings.Cut(out.String(), `{"PartBytes"`)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("(-want +got)\n%s", d)
	}
	if !strings.Contains(last, `"Unit":"Bytes"`) {
		t.Fatalf("an odd attribute loses the metric: %q", last)
	}
}

func TestLoggedMetrics(t *testing.T) {
	var out bytes.Buffer
	o := Logged{JSONLogger(&out, slog.LevelDebug)}
	o.Count(Splits, 2, slog.String(AttrTask, "000001"))
	o.Duration(ChunkSeconds, time.Second)
	Nop{}.Count(Splits, 1)
	Nop{}.Duration(ChunkSeconds, 1)
	for _, want := range []string{`"metric":"Splits","value":2,"task":"000001"`, `"metric":"ChunkSeconds","value":1`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in\n%s", want, out.String())
		}
	}
}
