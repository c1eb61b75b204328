package mongodb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/sourcetest"
)

func TestConnections(t *testing.T) {
	inline := func(url string) exportconfig.Source {
		return exportconfig.Source{Inline: exportconfig.InlineSecret{URL: url}}
	}
	withTLS := func(url, mode string) exportconfig.Source {
		cfg := inline(url)
		cfg.TLS.Mode = mode
		return cfg
	}
	parts := exportconfig.Source{Host: "127.0.0.1", User: "reader", Database: "shop", Inline: exportconfig.InlineSecret{Password: "S3cr3t"}}
	remote, badPort := parts, parts
	remote.Host, badPort.Port = "db.example", 70000
	for _, tc := range []struct {
		name    string
		cfg     exportconfig.Source
		want    string // host and database
		user    string
		tls     string // what is checked: "", "chain and name", "nothing"
		refused fault.Code
	}{
		{name: "this machine in plain text", cfg: inline("mongodb://reader:S3cr3t@127.0.0.1/shop?authSource=admin"), want: "127.0.0.1/shop", user: "reader"},
		{name: "several members", cfg: inline("mongodb://localhost:1,localhost:2/shop?replicaSet=rs0"), want: "localhost:1,localhost:2/shop"},
		{name: "parts", cfg: parts, want: "127.0.0.1:27017/shop", user: "reader"},
		{name: "another machine with tls in the URL", cfg: inline("mongodb://db.example/shop?tls=true"), want: "db.example/shop", tls: "chain and name"},
		{name: "another machine with a tls block", cfg: withTLS("mongodb://db.example:1/shop", "verify-full"), want: "db.example:1/shop", tls: "chain and name"},
		{name: "the stricter of block and URL", cfg: withTLS("mongodb://db.example/shop?tls=true&tlsInsecure=true", "verify-full"), want: "db.example/shop", tls: "chain and name"},
		{name: "no check, as both ask", cfg: withTLS("mongodb://db.example/shop?tls=true&tlsInsecure=true", "require"), want: "db.example/shop", tls: "nothing"},
		{name: "plain text that is asked for", cfg: withTLS("mongodb://db.example/shop", "disable"), want: "db.example/shop"},
		{name: "another machine in plain text", cfg: inline("mongodb://reader:S3cr3t@db.example/shop"), refused: "LAPSTRAKE_CONFIG_TLS_REQUIRED"},
		{name: "one of several that is another machine", cfg: inline("mongodb://localhost:1,db.example:2/shop"), refused: "LAPSTRAKE_CONFIG_TLS_REQUIRED"},
		{name: "parts of another machine", cfg: remote, refused: "LAPSTRAKE_CONFIG_TLS_REQUIRED"},
		{name: "a port that is none", cfg: badPort, refused: "LAPSTRAKE_CONFIG_SOURCE_URL"},
		{name: "no host", cfg: exportconfig.Source{Database: "shop"}, refused: "LAPSTRAKE_CONFIG_SOURCE_URL"},
		{name: "no database", cfg: inline("mongodb://reader:S3cr3t@127.0.0.1/"), refused: "LAPSTRAKE_CONFIG_SOURCE_URL"},
		{name: "another scheme", cfg: inline("postgres://reader:S3cr3t@127.0.0.1/shop"), refused: "LAPSTRAKE_CONFIG_SOURCE_URL"},
		{name: "a password with a stray character", cfg: inline("mongodb://reader:S3cr3t@x@127.0.0.1/shop"), refused: "LAPSTRAKE_CONFIG_SOURCE_URL"},
		{name: "a parameter with a wrong value", cfg: inline("mongodb://reader:S3cr3t@127.0.0.1/shop?tls=S3cr3t"), refused: "LAPSTRAKE_CONFIG_SOURCE_URL"},
		{name: "a certificate that is not there", cfg: inline("mongodb://127.0.0.1/shop?tls=true&tlsCAFile=/none"), refused: "LAPSTRAKE_CONFIG_SOURCE_URL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := targetOf(t.Context(), tc.cfg, nil)
			if tc.refused != "" {
				sourcetest.WantRefusal(t, err, fault.Usage, tc.refused)
				if strings.Contains(err.Error(), "S3cr3t") {
					t.Fatal("the message has the password")
				}
				return
			}
			if err != nil || got.String() != tc.want || got.user != tc.user {
				t.Fatalf("%s as %q, %v", got, got.user, err)
			}
			checks := ""
			if c := got.options.TLSConfig; c != nil {
				checks = "chain and name"
				if c.InsecureSkipVerify {
					checks = "nothing"
				}
			}
			if checks != tc.tls {
				t.Errorf("it checks %q, want %q", checks, tc.tls)
			}
			if plainAndLocal := tc.tls == "" && tc.cfg.TLS.Mode == ""; (got.options.Dialer != nil) != plainAndLocal {
				t.Error("a name that leads to another machine would be followed")
			}
		})
	}
}

func TestAHostThatCannotBeLookedUpNowMayBeLater(t *testing.T) {
	sourcetest.WantRefusal(t, notRead(fmt.Errorf("parse S3cr3t: %w", &net.DNSError{Err: "no such host", Name: "_mongodb._tcp.S3cr3t"})), fault.Retryable, failure.Unreachable, "mongodb+srv")
	if err := notRead(errors.New("S3cr3t")); strings.Contains(err.Error(), "S3cr3t") {
		t.Errorf("%v has the password", err)
	}
}

func TestTheConfigSaysWhereTheSecretIs(t *testing.T) {
	asked := 0
	_, err := targetOf(t.Context(), exportconfig.Source{Name: "shop", URLRef: "env://URL"}, func(context.Context, string) (string, error) {
		asked++
		return "", errors.New("not there")
	})
	sourcetest.WantRefusal(t, err, fault.Retryable, "LAPSTRAKE_SOURCE_SECRET", "shop")
	if asked != 1 {
		t.Errorf("it was asked for %d times", asked)
	}
}

func TestARefusedPasswordIsNotTold(t *testing.T) {
	f := newServer(t)
	asked := 0
	_, err := Open(t.Context(), exportconfig.Source{Name: "default", URLRef: "env://URL"}, func(context.Context, string) (string, error) {
		asked++
		return "mongodb://nobody:S3cr3t@" + f.Address() + "/shop?directConnection=true", nil
	})
	sourcetest.WantRefusal(t, err, fault.Permanent, failure.Auth, "authSource", f.Address())
	if strings.Contains(err.Error(), "S3cr3t") {
		t.Errorf("%v has the password", err)
	}
	if asked != 2 {
		t.Errorf("the secret was read %d times: it may have been rotated", asked)
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	_, err := Open(t.Context(), exportconfig.Source{Name: "default", Inline: exportconfig.InlineSecret{URL: "mongodb://u:S3cr3t@127.0.0.1:1/shop?serverSelectionTimeoutMS=50"}}, nil)
	sourcetest.WantRefusal(t, err, fault.Retryable, failure.Unreachable, "127.0.0.1:1/shop")
	if strings.Contains(err.Error(), "S3cr3t") {
		t.Errorf("%v has the password", err)
	}
}

func TestADatabaseIsKnownByItsNameAndItsSet(t *testing.T) {
	f := (&fake{hello: replicaSet}).start(t)
	id, err := f.source(t).Identity(t.Context())
	if err != nil || id.Engine != Engine || id.Database != "shop" || id.SystemIdentifier != "rs0" {
		t.Errorf("%+v, %v", id, err)
	}
}

func TestACursorMayTimeOutWhereTheConfigSaysSo(t *testing.T) {
	fk := &fake{hello: standalone, documents: []bson.Raw{document(t, bson.D{{Key: "_id", Value: 1}})}}
	f := fk.start(t)
	f.mongo.CursorTimeout = true
	s := f.source(t)
	mustRead(t, s, specOf(t, s, "docs"))
	if _, err := fk.last().LookupErr("noCursorTimeout"); err == nil {
		t.Errorf("it reads with %s", fk.last())
	}
}
