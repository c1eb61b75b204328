package telemetry

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestRedact(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"a URL", "postgres://u:S3cr3t@db:5432/shop", "postgres://REDACTED@db:5432/shop"},
		{"a user without a password", "postgres://u@db/shop", "postgres://REDACTED@db/shop"},
		{"an @ in the password", "postgresql://u:p@S3cr3t@db/shop", "postgresql://REDACTED@db/shop"},
		{"every other delimiter in the password", "mysql://u:a/S3cr3t?b#c:d@db/shop failed", "mysql://REDACTED@db/shop failed"},
		{"a space in the password", `parse "postgres://u:S3 cr3t@db": invalid userinfo`, `parse "postgres://REDACTED@db": invalid userinfo`},
		{"a quote in the password", `cannot parse "postgres://u:12'S3cr3t@db/shop"`, `cannot parse "postgres://REDACTED@db/shop"`},
		{"a URL that was cut off", `"postgres://u:S3cr3t…": too long`, `"postgres://REDACTED": too long`},
		{"two URLs", "postgres://u:S3cr3t@a/x\npostgres://v:S3cr3t@b/y", "postgres://REDACTED@a/x\npostgres://REDACTED@b/y"},
		{"several hosts", "mongodb://u:S3cr3t@a:1,b:2/?replicaSet=x", "mongodb://REDACTED@a:1,b:2/?replicaSet=x"},
		{"a bracketed host", "cannot parse `postgres://u:S3cr3t@[db/shop`", "cannot parse `postgres://REDACTED@[db/shop`"},
		{"a scheme of two parts", "mongodb+srv://u:S3cr3t@cluster/x", "mongodb+srv://REDACTED@cluster/x"},
		{"a query", "https://db/x?password=S3cr3t&sslmode=disable", "https://db/x?password=***&sslmode=disable"},
		{"a signed URL", "https://b.s3.amazonaws.com/k?X-Amz-Signature=S3cr3t&x=1", "https://b.s3.amazonaws.com/k?X-Amz-Signature=***&x=1"},
		{"a MySQL DSN", "dial u:S3cr3t:@tcp(db:3306)/shop", "dial REDACTED@tcp(db:3306)/shop"},
		{"pairs", "host=db user=u password=S3cr3t@: dbname=shop", "host=db user=u password=*** dbname=shop"},
		{"pairs with spaces", "host = db password = S3cr3t dbname = shop", "host = db password = *** dbname = shop"},
		{"an escaped space", `password=a\ S3cr3t host=db`, `password=*** host=db`},
		{"a quoted value", `password='S3cr3t \' with space' host=db`, `password='***' host=db`},
		{"a doubled quote", `Password="S3""cr3t";Server=db`, `Password="***";Server=db`},
		{"a semicolon list", "Server=db;Pwd=S3cr3t with space;Database=d", "Server=db;Pwd=***;Database=d"},
		{"a semicolon list that begins with it", "Password=S3cr3t with space;Database=d", "Password=***;Database=d"},
		{"an ODBC value", "PWD={S3}}cr3t;x};Server=db", "PWD={***};Server=db"},
		{"JSON", `{"password":"S3cr3t","port":5432}`, `{"password":"***","port":5432}`},
		{"JSON in a string", `"{\"token\":\"S3cr3t\",\"port\":1}"`, `"{\"token\":\"***\",\"port\":1}"`},
		{"prose", "Password: S3cr3t", "Password: ***"},
		{"environment", "PGPASSWORD=S3cr3t AWS_SECRET_ACCESS_KEY=S3cr3t/+ PATH=/bin", "PGPASSWORD=*** AWS_SECRET_ACCESS_KEY=*** PATH=/bin"},
		{"a quotation around it", `bad "host=db password=S3cr3t": no`, `bad "host=db password=***": no`},
		{"a header", "Authorization: Bearer S3cr3t.S3cr3t", "Authorization: Bearer ***"},
		{"a webhook", "post https://hooks.slack.com/services/T0/B0/S3cr3t: 404", "post https://hooks.slack.com/services/*** 404"},

		{"an object", "s3://bucket/a@b/part-000001.parquet", "s3://bucket/a@b/part-000001.parquet"},
		{"references", "secretsmanager://arn:aws:secretsmanager:eu-west-1:1:secret:x#password, ssm:///a@b, env://PASSWORD", "secretsmanager://arn:aws:secretsmanager:eu-west-1:1:secret:x#password, ssm:///a@b, env://PASSWORD"},
		{"a file", "file:///data/a@b", "file:///data/a@b"},
		{"hosts", "postgres://db:5432/shop http://[::1]:8080/ mongodb://a:1,b:2/", "postgres://db:5432/shop http://[::1]:8080/ mongodb://a:1,b:2/"},
		{"an address", "user@host is fine, and so is dial tcp 127.0.0.1:5432: refused", "user@host is fine, and so is dial tcp 127.0.0.1:5432: refused"},
		{"words", "password authentication failed for user u; invalid token in line 3", "password authentication failed for user u; invalid token in line 3"},
		{"a task", "task 000001 of run orders_1: chunk=3 rows=17", "task 000001 of run orders_1: chunk=3 rows=17"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Redact(tc.in); got != tc.want {
				t.Errorf("Redact(%q)\n  is %q\nwant %q", tc.in, got, tc.want)
			}
		})
	}
}

func TestErrorsOfParsersHoldNoSecret(t *testing.T) { // SEC-01
	for _, s := range []string{
		"postgres://u:S3cr3t@db:port/shop", "postgres://u:S3cr3t@[db/shop", "postgres://u:S3 cr3t@db/shop", "postgres://u:S3cr3t%zz@db/shop",
		"postgres://u:S3cr3t@db/shop?sslmode=none", "host=db password=S3cr3t port=x", "host=db password='S3cr3t", "password=S3cr3t sslmode=x",
	} {
		_, pgErr := pgconn.ParseConfig(s)
		_, urlErr := url.Parse(s)
		for _, err := range []error{pgErr, urlErr} {
			if err == nil {
				continue
			}
			if got := Redact(err.Error()); strings.Contains(got, "cr3t") {
				t.Errorf("%q is shown as %q", err, got)
			}
		}
	}
}

func TestHiddenValuesAreHiddenInEveryForm(t *testing.T) {
	known.forms = nil
	t.Cleanup(func() { known.forms = nil; known.replacer.Store(nil) })
	Hide(`pl"in/S3cr3t +`)
	Hide("postgres://u:Pa%40ss/w0rd@db/shop")
	Hide("host=db password=PairS3cr3t")
	Hide("https://hooks.example.com/services/T0/B0/W3bh00k")
	Hide("postgresql://reader@db.example.com/shop")
	Hide("rotated-1")
	Hide("rotated-12")
	Hide("test")
	Hide("postgres")
	for in, want := range map[string]string{
		`login with pl"in/S3cr3t + failed`:                      "login with *** failed",
		"q=" + url.QueryEscape(`pl"in/S3cr3t +`):                "q=***",
		fmt.Sprintf("%q", `pl"in/S3cr3t +`):                     `"***"`,
		"the driver says Pa%40ss/w0rd, that is Pa@ss/w0rd":      "the driver says ***, that is ***",
		"old rotated-1, new rotated-12":                         "old ***, new ***",
		"reader@db.example.com":                                 "reader@db.example.com",
		"PairS3cr3t":                                            "***",
		"post https://hooks.example.com/services/T0/B0/W3bh00k": "post ***",
		"test of postgres on db":                                "test of postgres on db",
	} {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) is %q, want %q", in, got, want)
		}
	}
}

// shapes are the ways in which a password stands in a text. ok says whether the
// password can stand there at all.
var shapes = []func(user, password string) (text string, ok bool){
	func(u, p string) (string, bool) { // a URL by the book
		return (&url.URL{Scheme: "postgres", User: url.UserPassword(u, p), Host: "db:5432", Path: "/shop"}).String(), true
	},
	func(u, p string) (string, bool) { // and one by hand, unless it reads as another host with text after it
		u = url.QueryEscape(u)
		return "postgres://" + u + ":" + p + "@db:5432/shop", !strings.ContainsAny(p[:1], "0123456789 <>") && !(strings.Contains(p, " ") && strings.Contains(p, "@"))
	},
	func(u, p string) (string, bool) {
		return "host=db user=" + url.PathEscape(u) + " password=" + p + " dbname=shop", !strings.ContainsAny(p, " \"'`\\{;")
	},
	func(u, p string) (string, bool) {
		return "host=db password='" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(p) + "' dbname=shop", true
	},
	func(u, p string) (string, bool) {
		return "Server=db;UID=" + url.PathEscape(u) + ";PWD=" + p + ";Database=shop", !strings.ContainsAny(p, ";") && !strings.ContainsAny(p[:1], " \"'{\\")
	},
	func(u, p string) (string, bool) {
		return "https://db/shop?user=" + url.QueryEscape(u) + "&password=" + url.QueryEscape(p) + "&x=1", true
	},
	func(u, p string) (string, bool) {
		b, err := json.Marshal(map[string]string{"user": u, "password": p})
		return string(b), err == nil
	},
	func(u, p string) (string, bool) {
		return fmt.Sprintf("cannot parse %q: no", "postgres://"+url.PathEscape(u)+":"+url.PathEscape(p)+"@db/shop"), true
	},
	func(u, p string) (string, bool) {
		return url.PathEscape(u) + ":" + p + "@tcp(db:3306)/shop", !strings.ContainsAny(p, " \"'`") && !strings.Contains(p, "://")
	},
}

func FuzzRedact(f *testing.F) {
	for shape := range shapes {
		f.Add(uint8(shape), "user", "S3cr3t")
		f.Add(uint8(shape), "us@er", "p@s:s/w?o#r%d")
		f.Add(uint8(shape), "u", `p"a's\s w;o&r,d=x`)
		f.Add(uint8(shape), "u", "a://b:c@d")
	}
	f.Fuzz(func(t *testing.T, shape uint8, user, password string) {
		if len(password) < 6 || strings.ContainsFunc(user+password, unicode.IsControl) {
			t.Skip()
		}
		text, ok := shapes[int(shape)%len(shapes)](user, password)
		if !ok {
			t.Skip()
		}
		empty, _ := shapes[int(shape)%len(shapes)](user, "xxxxxxxx")
		if strings.Contains(Redact(empty), password) {
			t.Skip() // the password is also somebody's name
		}
		got := Redact("connect to " + text)
		for _, form := range []string{password, url.PathEscape(password), url.QueryEscape(password)} {
			if strings.Contains(got, form) {
				t.Fatalf("%q shows %q: %q", text, form, got)
			}
		}
		if again := Redact(got); again != got {
			t.Fatalf("%q becomes %q when it is redacted again", got, again)
		}
	})
}
