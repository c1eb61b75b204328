package exportconfig

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

func TestWhereSecretsGo(t *testing.T) {
	const local = "type: postgres, host: localhost, user: u, database: d, "
	for _, tc := range []struct {
		name, source string
		url          string // reference of the URL
		password     string // reference of the password
		inline       InlineSecret
	}{
		{"url_env", "type: postgres, url_env: DATABASE_URL", "env://DATABASE_URL", "", InlineSecret{}},
		{"url_file", "type: postgres, url_file: secrets/url", "file:///srv/etl/secrets/url", "", InlineSecret{}},
		{"url_file, absolute", "type: postgres, url_file: /run/secrets/url", "file:///run/secrets/url", "", InlineSecret{}},
		{"a URL", "type: postgres, url: 'postgresql://u:p@localhost/d'", "", "", InlineSecret{URL: "postgresql://u:p@localhost/d"}},
		{"a URL with a variable is inline", "type: postgres, url: 'postgres://u:${DB_PASS}@localhost/d'", "", "", InlineSecret{URL: "postgres://u:S3cr3t@localhost/d"}},
		{"a URL that is a reference", "type: postgres, url: secretsmanager://shop/reader", "secretsmanager://shop/reader", "", InlineSecret{}},
		{"a variable that holds a reference", "type: postgres, url: '${REF}'", "ssm://orders/url", "", InlineSecret{}},
		{"password_env", local + "password_env: DB_PASS", "", "env://DB_PASS", InlineSecret{}},
		{"a password", local + "password: 'p://w'", "", "", InlineSecret{Password: "p://w"}},
		{"a password that is a reference", local + "password: 'env://DB_PASS'", "", "env://DB_PASS", InlineSecret{}},
		{"a token", "type: postgres, host: db.eu-west-1.rds.amazonaws.com, user: 'a b', database: d, tls: {}}\nlapstrake: {source_auth: rds_iam", "", "rds-iam://a%20b@db.eu-west-1.rds.amazonaws.com:5432", InlineSecret{}},
		{"a token for MySQL", "type: mysql, host: db.eu-west-1.rds.amazonaws.com, user: u, database: d, tls: {}}\nlapstrake: {source_auth: rds_iam", "", "rds-iam://u@db.eu-west-1.rds.amazonaws.com:3306", InlineSecret{}},
		{"no password", local + "port: 1", "", "", InlineSecret{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cfg, err := Parse("rivet.yaml", []byte("source: {"+tc.source+"}\n"+export), env())
			if err != nil {
				t.Fatal(err)
			}
			s := cfg.Source
			if s.URLRef != tc.url || s.PasswordRef != tc.password || s.Inline != tc.inline {
				t.Errorf("got %q, %q and inline %q, %q", s.URLRef, s.PasswordRef, s.Inline.URL, s.Inline.Password)
			}
			body, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, shown := range []string{string(body), fmt.Sprintf("%v %+v %#v", s, s, s)} {
				for _, secret := range []string{tc.inline.URL, tc.inline.Password} {
					if secret != "" && strings.Contains(shown, secret) {
						t.Errorf("the secret is in %s", shown)
					}
				}
			}
		})
	}
}

// secretBearing matches the keys that hold a secret, or where one is put by
// mistake.
var secretBearing = regexp.MustCompile(`^(url|host|user|database|password|webhook_url)|_env$|^endpoint$`)

// TestNoMessageShowsAValue puts the value of a variable wherever a key can
// stand, and what looks like a password wherever a secret can: whatever is
// wrong with it, no message and no diagnostic shows it.
func TestNoMessageShowsAValue(t *testing.T) {
	for _, b := range blocks {
		for _, k := range b.keys {
			forms := []string{"${DB_PASS}", "x${DB_PASS}", "[\"${DB_PASS}\"]", "{a: \"${DB_PASS}\"}"}
			if secretBearing.MatchString(k.name) {
				forms = append(forms, "S3cr3t", "postgres://u:S3cr3t@h:bad port/d", "[S3cr3t]", "!x S3cr3t", "*S3cr3t", "@S3cr3t", "'S3cr3t", "ssm://", "mysql://S3cr3t@h/d")
			}
			for _, form := range forms {
				config := nest(b.path, k.name+": "+form)
				cfg, err := Parse("rivet.yaml", []byte(config), env())
				shown := fmt.Sprint(err, cfg.Diagnostics)
				for _, e := range cfg.Exports {
					shown += fmt.Sprint(e.Diagnostics)
				}
				if strings.Contains(shown, "S3cr3t") {
					t.Errorf("%s\nof\n%s", shown, config)
				}
			}
		}
	}
	for _, config := range []string{"password:S3cr3t: x\n", "{password:S3cr3t}\n", "*S3cr3t", "a: *S3cr3t", "a: &a S3cr3t\n<<: *b", "a: 'S3cr3t", "source: S3cr3t", "? S3cr3t S3cr3t\n: 1", strings.Repeat("S3cr3t", 20) + ": 1"} {
		if _, err := Parse("rivet.yaml", []byte(config), env()); err == nil || strings.Contains(err.Error(), "S3cr3t") {
			t.Errorf("%v\nof\n%s", err, config)
		}
	}
}

// nest puts a line into the block at path.
func nest(path, line string) string {
	if path == "" {
		return line + "\n"
	}
	var b strings.Builder
	depth := 0
	for name := range strings.SplitSeq(path, ".") {
		item, list := strings.CutSuffix(name, "[]")
		b.WriteString(strings.Repeat("  ", depth) + item + ":\n")
		depth++
		if list {
			b.WriteString(strings.Repeat("  ", depth) + "- name: orders\n")
			depth++
		}
	}
	b.WriteString(strings.Repeat("  ", depth) + line + "\n")
	return b.String()
}
