package destinationtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/destination"
)

// oddKeys are names that tables and people give (DST-12).
var oddKeys = []string{
	" leading space", "trailing space ", "a b", "a+b", "a%20b", "a%2Fb", "100%", "a#b", "a?b=c&d", "a&amp;b", "<xml>",
	"quote\"s", "apostrophe's", "back\\slash", "semi;colon", "co:lon", "a=1/b=2/c", "tilde~", "(1)", "[x]", "{y}", "@$!*,",
	"cafe\u0301 NFD", "caf\u00e9 NFC", "日本語", "😀", ".dot", "..two", "a..b", "dots/.../x", "-dash", "_under",
	strings.Repeat(strings.Repeat("l", 99)+"/", 7) + strings.Repeat("n", 200),
}

func testOddKeys(t *testing.T, s destination.Store) {
	for i, key := range oddKeys {
		put(t, s, key, fmt.Appendf(nil, "body %d", i))
	}
	for i, key := range oddKeys {
		wantBody(t, s, key, fmt.Sprintf("body %d", i))
		if o, err := s.Head(t.Context(), key); err != nil || o.Key != key {
			t.Errorf("head %.60q = %.60q, %v", key, o.Key, err)
		}
		if got := keys(t, s, key); !slices.Contains(got, key) {
			t.Errorf("list %.60q = %.200q", key, got)
		}
		to := "_quarantine/" + key
		if len(to) > 900 {
			to = "_quarantine/long"
		}
		o, err := s.Head(t.Context(), key)
		if err == nil {
			err = s.Move(t.Context(), key, to, o.Version)
		}
		if err != nil {
			t.Errorf("move %.60q: %v", key, err)
			continue
		}
		wantBody(t, s, to, fmt.Sprintf("body %d", i))
	}
	if left := keys(t, s, ""); len(left) != len(oddKeys) {
		t.Errorf("%d objects after the moves, want %d: %.300q", len(left), len(oddKeys), left)
	}
}

func testInvalidKeys(t *testing.T, s destination.Store) {
	v := put(t, s, "there", []byte("x"))
	for _, key := range []string{
		"", "/", "/absolute", "../out", "a/../b", "a/..", "..", ".", "./a", "a/./b", "a//b", "a/", "nul\x00", "line\nbreak",
		"bad\xffutf8", strings.Repeat("k", 1025),
	} {
		_, err := s.Create(t.Context(), key, []byte("x"), destination.Meta{})
		if err == nil {
			t.Errorf("create %.60q was accepted", key)
			continue
		}
		wantCause(t, err, destination.ErrInvalid)
		_, err = s.Replace(t.Context(), key, destination.Absent, []byte("x"), destination.Meta{})
		wantCause(t, err, destination.ErrInvalid)
		_, _, err = s.Get(t.Context(), key, 10)
		wantCause(t, err, destination.ErrInvalid)
		_, err = s.Head(t.Context(), key)
		wantCause(t, err, destination.ErrInvalid)
		wantCause(t, s.Move(t.Context(), "there", key, v), destination.ErrInvalid)
		wantCause(t, s.Move(t.Context(), key, "elsewhere", v), destination.ErrInvalid)
	}
	for _, prefix := range []string{"/", "/a", "../", "a/../b", "a//", "./", "nul\x00"} {
		err := s.List(t.Context(), prefix, func(destination.Object) error { return nil })
		wantCause(t, err, destination.ErrInvalid)
	}
}

// testListOrder has names for which the order of folders is not the order of
// keys: "a-b" comes before "a/b", and "a.b" too, but "a0" after it.
func testListOrder(t *testing.T, s destination.Store) {
	want := []string{
		"A", "Z/z", "_lapstrake/x/y", "a-b", "a-b2/c", "a.b", "a/b", "a/b-c", "a/b.c", "a/c/d", "a/c0", "a0", "aa/b", "b", "é",
	}
	if !slices.IsSorted(want) {
		t.Fatal("the test's own list is not sorted")
	}
	for i := range want {
		put(t, s, want[(i*7+3)%len(want)], []byte("x"))
	}
	if got := keys(t, s, ""); !slices.Equal(got, want) {
		t.Errorf("list = %q\nwant   %q", got, want)
	}
}

func testListMany(t *testing.T, s destination.Store) {
	const n = 2001
	want := make([]string, n)
	for i := range want {
		want[i] = fmt.Sprintf("p/part-%06d.parquet", i+1)
	}
	put(t, s, "p2/other", []byte("x"))
	parallel(16, n, func(i int) {
		if _, err := s.Create(t.Context(), want[i], []byte("x"), destination.Meta{}); err != nil {
			t.Errorf("create %s: %v", want[i], err)
		}
	})
	if got := keys(t, s, "p/"); !slices.Equal(got, want) {
		t.Errorf("listed %d objects, want %d in order", len(got), n)
	}
}

func testListError(t *testing.T, s destination.Store) {
	put(t, s, "a", []byte("x"))
	put(t, s, "b", []byte("x"))
	// An OpError of another store must come back as it is, too.
	for _, stop := range []error{errors.New("enough"), &destination.OpError{Op: "get", Store: "elsewhere", Key: "k", Err: destination.ErrNotFound}} {
		calls := 0
		err := s.List(t.Context(), "", func(destination.Object) error { calls++; return stop })
		if err != stop || calls != 1 {
			t.Errorf("list = %v after %d objects, want the function's own error after 1", err, calls)
		}
	}
}

func testListPrefix(t *testing.T, s destination.Store) {
	for _, key := range []string{"a/b/1", "a/b/2/3", "a/bc", "a/part-000001", "a/part-000002", "a/part-g000001", "ab/x", "m"} {
		put(t, s, key, []byte("x"))
	}
	for _, tc := range []struct {
		name, prefix string
		want         []string
	}{
		{"a folder", "a/b/", []string{"a/b/1", "a/b/2/3"}},
		{"the start of a name also lists the folders that start so", "a/b", []string{"a/b/1", "a/b/2/3", "a/bc"}},
		{"the start of a name", "a/part-0", []string{"a/part-000001", "a/part-000002"}},
		{"the start of a folder's name", "a", []string{"a/b/1", "a/b/2/3", "a/bc", "a/part-000001", "a/part-000002", "a/part-g000001", "ab/x"}},
		{"a whole key", "m", []string{"m"}},
		{"nothing", "zzz", nil},
		{"a folder that is not there", "no/such/folder/", nil},
		{"below an object", "m/", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := keys(t, s, tc.prefix); !slices.Equal(got, tc.want) {
				t.Errorf("list %q = %q, want %q", tc.prefix, got, tc.want)
			}
		})
	}
}

func testListVersion(t *testing.T, s destination.Store) {
	put(t, s, "a", []byte("moved"))
	put(t, s, "b", []byte("replaced"))
	put(t, s, "c", []byte("seen, then changed"))
	versions := map[string]destination.Version{}
	err := s.List(t.Context(), "", func(o destination.Object) error {
		versions[o.Key] = o.Version
		if want := int64(len(get(t, s, o.Key))); o.Size != want {
			t.Errorf("%s is listed with %d bytes, it has %d", o.Key, o.Size, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Move(t.Context(), "a", "z", versions["a"]); err != nil {
		t.Errorf("move at the listed version: %v", err)
	}
	if _, err := s.Replace(t.Context(), "b", versions["b"], []byte("new"), destination.Meta{}); err != nil {
		t.Errorf("replace at the listed version: %v", err)
	}
	if _, err := s.Replace(t.Context(), "c", destination.Version(versions["c"]), []byte("SEEN, then changed"), destination.Meta{}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Replace(t.Context(), "c", versions["c"], []byte("late"), destination.Meta{})
	wantCause(t, err, destination.ErrMoved)
	wantCause(t, s.Move(t.Context(), "c", "y", versions["c"]), destination.ErrMoved)
}

func testMove(t *testing.T, s destination.Store) {
	body := []byte("part")
	m := describe(body)
	m.User = map[string]string{"lapstrake-gen": "3"}
	v, err := s.Create(t.Context(), "part-000001.parquet", body, m)
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "_quarantine/r1/taken", []byte("another"))
	wantCause(t, s.Move(t.Context(), "part-000001.parquet", "_quarantine/r1/taken", v), destination.ErrExists)
	wantBody(t, s, "_quarantine/r1/taken", "another")
	wantCause(t, s.Move(t.Context(), "part-000001.parquet", "_quarantine/r1/part-000001.parquet", "other-version"), destination.ErrMoved)
	wantCause(t, s.Move(t.Context(), "part-000001.parquet", "part-000001.parquet", v), destination.ErrExists)
	wantBody(t, s, "part-000001.parquet", "part")

	if err := s.Move(t.Context(), "part-000001.parquet", "_quarantine/r1/part-000001.parquet", v); err != nil {
		t.Fatal(err)
	}
	_, err = s.Head(t.Context(), "part-000001.parquet")
	wantCause(t, err, destination.ErrNotFound)
	wantBody(t, s, "_quarantine/r1/part-000001.parquet", "part")
	o, err := s.Head(t.Context(), "_quarantine/r1/part-000001.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if s.Capabilities().KeepsMeta && o.User["lapstrake-gen"] != "3" {
		t.Errorf("metadata after the move is %q", o.User)
	}
	if f := contract.FingerprintOf(body); o.Fingerprint != "" && o.Fingerprint != f {
		t.Errorf("fingerprint after the move is %q, want %q", o.Fingerprint, f)
	}
}

// testMoveAgain stands where a Move died between its copy and its deletion.
func testMoveAgain(t *testing.T, s destination.Store) {
	body := []byte("part")
	v, err := s.Create(t.Context(), "part", body, describe(body))
	if err == nil {
		_, err = s.Create(t.Context(), "_quarantine/part", body, describe(body))
	}
	if err != nil {
		t.Fatal(err)
	}
	err = s.Move(t.Context(), "part", "_quarantine/part", v)
	if o, _ := s.Head(t.Context(), "part"); o.Fingerprint == "" && o.MD5 == "" && errors.Is(err, destination.ErrExists) {
		return // nobody vouches for the two being equal: both stay
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Head(t.Context(), "part")
	wantCause(t, err, destination.ErrNotFound)
	wantBody(t, s, "_quarantine/part", "part")
}

// parallel calls do(0) to do(n-1) on some goroutines and waits for all.
func parallel(workers, n int, do func(i int)) {
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n; i += workers {
				do(i)
			}
		})
	}
	wg.Wait()
}
