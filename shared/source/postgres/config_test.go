package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/transport"
)

const password = "S3cr3t"

func TestURL(t *testing.T) {
	for _, tc := range []struct{ name, url, want string }{
		{"everything", "postgres://u:S3cr3t@h:5433/d", "h:5433/d as u"},
		{"the default port, and the user's database", "postgresql://u@h", "h:5432/u as u"},
		{"a password with escapes", "postgres://u:%40%3A%2F%23@h/d", "h:5432/d as u"},
		{"an address of IPv6", "postgres://u@[::1]:5433/d", "[::1]:5433/d as u"},
		{"a socket", "postgres:///d?host=/run/postgresql&user=u", "/run/postgresql:5432/d as u"},
		{"the query part wins", "postgres://u@localhost/d?host=db.example.com&port=6000&dbname=e", "db.example.com:6000/e as u"},
		{"not a URL", "host=h user=u password=S3cr3t", "refused"},
		{"another scheme", "mysql://u:S3cr3t@h/d", "refused"},
		{"no user", "postgres://h/d", "refused"},
		{"no host", "postgres://u:S3cr3t@/d", "refused"},
		{"several hosts", "postgres://u:S3cr3t@h,i/d", "refused"},
		{"a port that is none", "postgres://u:S3cr3t@h:54x2/d", "refused"},
		{"a port that is too high", "postgres://u:S3cr3t@h:70000/d", "refused"},
		{"a host in brackets", "postgres://u:S3cr3t@[h]:5432/d", "refused"},
		{"a broken escape", "postgres://u:S3cr3t%@h/d", "refused"},
		{"a # in the password", "postgres://u:S3cr3t#x@h/d", "refused"},
		{"a # after digits", "postgres://u:12#S3cr3t@h/d", "refused"},
		{"a ? in the password", "postgres://u:12?S3cr3t@h/d", "refused"},
		{"a parameter that is part of the password", "postgres://u:12?hidden=S3cr3t@h/d", "refused"},
		{"an @ and a # in the password", "postgres://u:a@S3cr3t#x@h/d", "refused"},
		{"a / in the password", "postgres://u:12/S3cr3t@h/d", "refused"},
		{"an unknown parameter", "postgres://u:S3cr3t@h/d?sslkey=k", "refused"},
		{"a parameter that looks like a secret", "postgres://u@h/d?S3cr3t%26=1", "refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseURL(tc.url)
			if tc.want == "refused" {
				if fault.CodeOf(err) != "LAPSTRAKE_CONFIG_SOURCE_URL" || strings.Contains(err.Error(), password) || strings.Contains(err.Error(), "hidden") {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if s := strings.Replace(got.String(), "[/run/postgresql]", "/run/postgresql", 1) + " as " + got.user; s != tc.want {
				t.Fatalf("%s, want %s", s, tc.want)
			}
		})
	}
	if got, err := parseURL("postgres://u:%40%3A%2F%23@h/d"); err != nil || got.password != "@:/#" {
		t.Fatalf("the password is %q, %v", got.password, err)
	}
}

func TestTLSRules(t *testing.T) {
	block := func(mode string) exportconfig.TLS { return exportconfig.TLS{Mode: mode} }
	for _, tc := range []struct {
		name  string
		host  string
		block exportconfig.TLS
		url   string // sslmode
		want  string
	}{
		{"this machine needs none", "127.0.0.1", block(""), "", "plain"},
		{"nor does its name", "localhost", block(""), "prefer", "plain"},
		{"nor a socket", "/run/postgresql", block(""), "", "plain"},
		{"nor IPv6", "::1", block(""), "disable", "plain"},
		{"another machine needs a block", "db.example.com", block(""), "", "refused"},
		{"its URL cannot switch that off", "db.example.com", block(""), "disable", "refused"},
		{"a preference is nothing", "10.0.0.1", block(""), "prefer", "refused"},
		{"the URL can ask for it", "db.example.com", block(""), "verify-full", "name and authority"},
		{"plain text has to be spelled out", "db.example.com", block("disable"), "", "plain"},
		{"the stricter of both, from the block", "h", block("verify-full"), "disable", "name and authority"},
		{"the stricter of both, from the URL", "h", block("disable"), "require", "anybody"},
		{"no check of who it is", "h", block("require"), "", "anybody"},
		{"the authority only", "h", block("verify-ca"), "", "authority"},
		{"both", "h", block("verify-full"), "", "name and authority"},
		{"names not checked", "h", exportconfig.TLS{Mode: "verify-full", AcceptInvalidHostnames: true}, "", "authority"},
		{"nothing checked", "h", exportconfig.TLS{Mode: "verify-full", AcceptInvalidCerts: true}, "", "anybody"},
		{"an unknown mode", "h", block("verify"), "", "refused"},
		{"an authority that cannot be read", "h", exportconfig.TLS{Mode: "verify-full", CAFile: "/nonexistent/ca.pem"}, "", "refused"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := target{host: tc.host, sslmode: tc.url}.tlsConfig(tc.block)
			got := "plain"
			switch {
			case err != nil:
				got = "refused"
				if fault.ClassOf(err) != fault.Usage {
					t.Errorf("class %s", fault.ClassOf(err))
				}
			case c != nil && !c.InsecureSkipVerify && c.ServerName == tc.host:
				got = "name and authority"
			case c != nil && c.VerifyConnection != nil:
				got = "authority"
			case c != nil:
				got = "anybody"
			}
			if got != tc.want {
				t.Fatalf("%s (%v), want %s", got, err, tc.want)
			}
		})
	}
}

// The host that is connected to decides, wherever in the URL it stands
// (SEC-07).
func TestHostParameterDoesNotBypassTLS(t *testing.T) {
	cfg := exportconfig.Source{Inline: exportconfig.InlineSecret{URL: "postgres://u:S3cr3t@localhost/d?host=db.example.com"}}
	_, err := Open(t.Context(), cfg, nil)
	if fault.CodeOf(err) != "LAPSTRAKE_CONFIG_TLS_REQUIRED" || !strings.Contains(err.Error(), "db.example.com") {
		t.Fatal(err)
	}
}

// A name that leads elsewhere is refused when it is dialled.
func TestLocalNameMustLeadHere(t *testing.T) {
	dial := transport.DialLocal(nil, nil)
	if _, err := dial(t.Context(), "tcp", "192.0.2.1:5432"); fault.CodeOf(err) != "LAPSTRAKE_CONFIG_TLS_REQUIRED" {
		t.Fatal(err)
	}
}

func TestSecretsAreResolved(t *testing.T) {
	values := map[string]string{"env://URL": "postgres://u:S3cr3t@127.0.0.1:1/d", "env://PW": password}
	resolve := func(_ context.Context, ref string) (string, error) {
		if v, ok := values[ref]; ok {
			return v, nil
		}
		return "", errors.New("not there")
	}
	for _, tc := range []struct {
		name string
		cfg  exportconfig.Source
		want string
	}{
		{"a URL", exportconfig.Source{URLRef: "env://URL"}, "127.0.0.1:1/d u S3cr3t"},
		{"a password", exportconfig.Source{Host: "h", User: "u", Database: "d", PasswordRef: "env://PW"}, "h:5432/d u S3cr3t"},
		{"an inline password", exportconfig.Source{Host: "h", Port: 99, User: "u", Inline: exportconfig.InlineSecret{Password: password}}, "h:99/u u S3cr3t"},
		{"nothing there", exportconfig.Source{URLRef: "env://OTHER"}, "LAPSTRAKE_SOURCE_SECRET"},
		{"no host", exportconfig.Source{User: "u"}, "LAPSTRAKE_CONFIG_SOURCE_URL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := targetOf(t.Context(), tc.cfg, resolve)
			text := fmt.Sprint(got, " ", got.user, " ", got.password)
			if err != nil {
				text = string(fault.CodeOf(err))
			}
			if text != tc.want {
				t.Fatalf("%s (%v), want %s", text, err, tc.want)
			}
		})
	}
}
