package e2e

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
)

// SEC-02: whatever a run stores in a bucket or a table, prints or leaves on
// disk, and whether it succeeds or fails, the password of its source is in none
// of it, in any of the forms that a URL or a header give it.
func TestNoPasswordReachesTheBucketOrTheTable(t *testing.T) {
	testenv.Server(t, testenv.PostgresURL)
	x := contest(t, newCloud(t), t.Name())
	role, password := "e2e_"+strings.ToLower(rand.Text()[:12]), "p@ss/w%rd:"+rand.Text()
	x.db.exec(t, fmt.Sprintf("CREATE ROLE %[1]s LOGIN PASSWORD '%[2]s'; GRANT SELECT ON lines TO %[1]s", role, password))
	t.Cleanup(func() {
		if _, err := x.db.conn.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role); err != nil {
			t.Error(err)
		}
	})
	at, err := url.Parse(x.db.url)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword(role, password)

	store, table := x.proxies(t)
	var mu sync.Mutex
	var sent []string
	for _, p := range []*proxy{store, table} {
		p.decide(func(r request) fate {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, r.body)
			return nil
		})
	}
	d := x.desk(t, store, table)
	d.env["DATABASE_URL"] = at.String()
	forms := []string{password, url.PathEscape(password), url.QueryEscape(password), strings.TrimPrefix(at.User.String(), role+":"), base64.StdEncoding.EncodeToString([]byte(password))}
	keeps := func(when string, o outcome) {
		t.Helper()
		for _, form := range forms {
			d.keepsSecret(t, form, o)
			for _, body := range sent {
				if strings.Contains(body, form) {
					t.Errorf("%s: the password was sent in %.300q", when, body)
				}
			}
		}
	}
	keeps("a run that succeeds", d.must(t, x.command("run")...))
	keeps("a plan", d.must(t, "plan"))
	x.db.exec(t, "REVOKE SELECT ON lines FROM "+role)
	failed := d.run(t, x.command("run")...)
	if failed.code == 0 {
		t.Errorf("a run without permission: %s", failed)
	}
	keeps("a run that fails", failed)
	x.db.exec(t, fmt.Sprintf("ALTER ROLE %s PASSWORD 'another'", role))
	keeps("a run with a wrong password", d.run(t, x.command("run")...))
	if len(sent) < 50 {
		t.Errorf("only %d requests were seen: the test no longer tests anything", len(sent))
	}
}
