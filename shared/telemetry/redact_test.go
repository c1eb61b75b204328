package telemetry

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

var leaky = []string{
	"postgres://u:S3cr3t@db:5432/shop", "postgresql://u:p@S3cr3t@db/shop", "cannot parse `postgres://u:S3cr3t@[db/shop`",
	"host=db user=u password=S3cr3t dbname=shop", "password='S3cr3t with space' host=db", `pwd="S3cr3t"`, "Password: S3cr3t",
	"https://db/x?password=S3cr3t&sslmode=disable", "mongodb+srv://u:S3cr3t@cluster/x", "token=S3cr3t",
}

func TestRedactHidesSecrets(t *testing.T) {
	for _, s := range leaky {
		if got := Redact(s); strings.Contains(got, "S3cr3t") {
			t.Errorf("%q becomes %q", s, got)
		}
	}
	for _, s := range []string{"s3://bucket/prefix/part-000001.parquet", "task 000001 of run orders_1", "user@host is fine", "dial tcp 127.0.0.1:5432: refused"} {
		if got := Redact(s); got != s {
			t.Errorf("%q becomes %q: nothing in it is secret", s, got)
		}
	}
}

func TestLogHoldsNoSecret(t *testing.T) {
	var out bytes.Buffer
	log := JSONLogger(&out, slog.LevelInfo).With("url", leaky[0]).WithGroup("g")
	for _, s := range leaky {
		log.Info(s, "text", s, "error", errors.New(s), slog.Group("inner", "text", s))
	}
	if strings.Contains(out.String(), "S3cr3t") {
		t.Fatalf("the log shows a secret:\n%s", out.String())
	}
	if n := strings.Count(out.String(), "\n"); n != len(leaky) {
		t.Fatalf("%d lines for %d events", n, len(leaky))
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("user", "S3cr3t", "db:5432")
	f.Fuzz(func(t *testing.T, user, password, host string) {
		if strings.ContainsAny(password+user+host, " \t\r\n/?#'\"`<>\x00") || len(password) < 6 || strings.Contains(user+host+"postgres://REDACTED@", password) {
			t.Skip()
		}
		if got := Redact("connect to postgres://" + user + ":" + password + "@" + host + "/shop failed"); strings.Contains(got, password) {
			t.Fatalf("%q is shown in %q", password, got)
		}
	})
}
