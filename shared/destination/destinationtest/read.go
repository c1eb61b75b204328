package destinationtest

import (
	"maps"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

func testNotFound(t *testing.T, s destination.Store) {
	put(t, s, "folder/object", []byte("x"))
	for _, key := range []string{"nothing", "folder/nothing", "no/folder/nothing", "folder"} {
		_, _, err := s.Get(t.Context(), key, 100)
		wantCause(t, err, destination.ErrNotFound)
		_, err = s.Head(t.Context(), key)
		wantCause(t, err, destination.ErrNotFound)
		err = s.Move(t.Context(), key, "elsewhere", "some-version")
		wantCause(t, err, destination.ErrNotFound)
	}
}

func testGetLimit(t *testing.T, s destination.Store) {
	put(t, s, "k", []byte("0123456789"))
	for _, tc := range []struct {
		limit int64
		want  error
	}{{10, nil}, {11, nil}, {9, destination.ErrTooLarge}, {0, destination.ErrTooLarge}} {
		body, _, err := s.Get(t.Context(), "k", tc.limit)
		if tc.want != nil {
			wantCause(t, err, tc.want)
		} else if err != nil || string(body) != "0123456789" {
			t.Errorf("limit %d: %q, %v", tc.limit, body, err)
		}
	}
}

func testMeta(t *testing.T, s destination.Store) {
	body := []byte("rows")
	m := describe(body)
	m.ContentType = "application/vnd.apache.parquet"
	m.User = map[string]string{"lapstrake-run": "orders_20261129T120000.000", "lapstrake-gen": "12", "lapstrake-note": "a b; c=d, \"e\" 100%"}
	if _, err := s.Create(t.Context(), "part-000001.parquet", body, m); err != nil {
		t.Fatal(err)
	}
	o, err := s.Head(t.Context(), "part-000001.parquet")
	if err != nil {
		t.Fatal(err)
	}
	want := m.User
	if !s.Capabilities().KeepsMeta {
		want = nil
	}
	if !maps.Equal(o.User, want) {
		t.Errorf("metadata is %q, want %q", o.User, want)
	}
	for name, user := range map[string]map[string]string{
		"another's name":   {"owner": "x"},
		"upper case":       {"lapstrake-Run": "x"},
		"a line break":     {"lapstrake-run": "x\r\nx-amz-acl: public-read"},
		"not ASCII":        {"lapstrake-run": "é"},
		"a space at first": {"lapstrake-run": " x"},
	} {
		_, err := s.Create(t.Context(), "refused", body, destination.Meta{User: user})
		if err == nil {
			t.Errorf("%s: %q was stored", name, user)
			continue
		}
		wantCause(t, err, destination.ErrInvalid)
	}
}

// testChecksums has the negative control for every claim: a body that is not
// what its checksum says must be refused, and leave nothing.
func testChecksums(t *testing.T, s destination.Store) {
	c := s.Capabilities()
	body, other := []byte("what was sent"), []byte("what was meant")
	wrong := map[string]destination.Meta{}
	switch c.StoreChecksum {
	case "xxh3":
		wrong["fingerprint"] = destination.Meta{Fingerprint: contract.FingerprintOf(other)}
	case "md5":
		wrong["md5"] = destination.Meta{MD5: contract.MD5Base64(other)}
	case "crc32c", "": // the caller has no way to name a wrong one
	default:
		t.Fatalf("StoreChecksum is %q", c.StoreChecksum)
	}
	for name, m := range wrong {
		_, err := s.Create(t.Context(), "wrong-"+name, body, m)
		wantCause(t, err, destination.ErrCorrupted)
		_, err = s.Head(t.Context(), "wrong-"+name)
		wantCause(t, err, destination.ErrNotFound)
	}
	v := put(t, s, "replaced", []byte("before"))
	for name, m := range wrong {
		_, err := s.Replace(t.Context(), "replaced", v, body, m)
		if err == nil {
			t.Fatalf("replace with a wrong %s was accepted", name)
		}
		wantCause(t, err, destination.ErrCorrupted)
		wantBody(t, s, "replaced", "before")
	}

	for key, m := range map[string]destination.Meta{"with": describe(body), "without": {}} {
		if _, err := s.Create(t.Context(), key, body, m); err != nil {
			t.Fatalf("create %s checksums: %v", key, err)
		}
		o, err := s.Head(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		wantChecksums(t, o, body, c.StoreChecksum, key == "with")
		err = s.List(t.Context(), key, func(listed destination.Object) error {
			if listed.Key == key {
				wantChecksums(t, listed, body, c.StoreChecksum, key == "with" && c.ListChecksum)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// wantChecksums checks that o reports no wrong checksum, and the promised one
// if it is due.
func wantChecksums(t *testing.T, o destination.Object, body []byte, promised string, due bool) {
	t.Helper()
	if f := contract.FingerprintOf(body); o.Fingerprint != f && (o.Fingerprint != "" || due && promised == "xxh3") {
		t.Errorf("%s: fingerprint is %q, want %q", o.Key, o.Fingerprint, f)
	}
	if m := contract.MD5Base64(body); o.MD5 != m && (o.MD5 != "" || due && promised == "md5") {
		t.Errorf("%s: MD5 is %q, want %q", o.Key, o.MD5, m)
	}
}
