package s3_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/lapstrake/lapstrake/internal/testenv"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/s3"
	"github.com/lapstrake/lapstrake/shared/fault"
)

const (
	xxhHeader = "X-Amz-Checksum-Xxhash3"
	md5Header = "X-Amz-Checksum-Md5"
	crcHeader = "X-Amz-Checksum-Crc32c"
)

func names(headers ...string) map[string]bool {
	m := map[string]bool{}
	for _, h := range headers {
		m[h] = true
	}
	return m
}

func credentialsInEnvironment(t *testing.T) {
	t.Setenv("LAPSTRAKE_S3_TEST_KEY", "test")
	t.Setenv("LAPSTRAKE_S3_TEST_SECRET", "testtest")
}

// What a store claims is not believed before it was seen (DST-08).
func TestTheProbeSeesWhatAStoreDoes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		server *fake
		want   string
		err    error
	}{
		{"it verifies XXHASH3", &fake{verifies: names(xxhHeader, md5Header, crcHeader)}, "xxh3", nil},
		{"it verifies MD5", &fake{verifies: names(md5Header, crcHeader)}, "md5", nil},
		{"it verifies CRC32C", &fake{verifies: names(crcHeader)}, "crc32c", nil},
		{"it verifies XXHASH3, but does not return it", &fake{verifies: names(xxhHeader, md5Header), forgets: names(xxhHeader)}, "md5", nil},
		{"it verifies nothing", &fake{}, "", nil},
		{"it keeps whatever it is told", &fake{keeps: names(xxhHeader, md5Header, crcHeader)}, "", nil},
		{"it refuses the header", &fake{refuses: names(xxhHeader), verifies: names(md5Header)}, "md5", nil},
		{"it ignores If-None-Match", &fake{verifies: names(xxhHeader), ignores: names("If-None-Match")}, "", destination.ErrUnsafe},
		{"it ignores If-Match", &fake{verifies: names(xxhHeader), ignores: names("If-Match")}, "", destination.ErrUnsafe},
		{"it does not implement If-Match", &fake{refuses: names("If-Match")}, "", destination.ErrUnsafe},
		{"it does not implement If-None-Match", &fake{refuses: names("If-None-Match")}, "", destination.ErrUnsafe},
	} {
		t.Run(tc.name, func(t *testing.T) {
			credentialsInEnvironment(t)
			for range 2 { // the second time there is an object of the first
				at := location("http://s3.test", "bucket/exports/orders")
				s, err := s3.Open(t.Context(), at, options(s3.Options{ProbeIn: "_lapstrake/", Transport: tc.server, Clock: &instant{}}))
				if tc.err != nil {
					if !errors.Is(err, tc.err) || fault.Retry(err) {
						t.Fatalf("error is %v, want %v for good", err, tc.err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := s.Capabilities().StoreChecksum; got != tc.want {
					t.Errorf("StoreChecksum is %q, want %q", got, tc.want)
				}
				if len(tc.server.objects) != 1 || tc.server.objects["exports/orders/_lapstrake/probe"].body == nil {
					t.Errorf("the probe left %d objects", len(tc.server.objects))
				}
			}
		})
	}
}

// Planners that probe at once do not disturb one another.
func TestARivalsProbeIsNotTakenForAFault(t *testing.T) {
	credentialsInEnvironment(t)
	server := &fake{verifies: names(xxhHeader)}
	puts := 0
	server.beforePut = func(f *fake) {
		if puts++; puts%3 == 1 {
			f.objects["_lapstrake/probe"] = fakeObject{body: fmt.Appendf(nil, "a rival's, %d", puts)}
		}
	}
	s := open(t, location("http://s3.test", "bucket"), s3.Options{ProbeIn: "_lapstrake", Transport: server, Clock: &instant{}})
	if got := s.Capabilities().StoreChecksum; got != "xxh3" {
		t.Errorf("StoreChecksum is %q", got)
	}
}

// everyOther loses the answer of every other write.
type everyOther struct {
	*fake
	puts int
}

func (e *everyOther) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := e.fake.RoundTrip(r)
	if r.Method == http.MethodPut {
		if e.puts++; e.puts%2 == 1 {
			return nil, errors.New("connection reset")
		}
	}
	return answer, err
}

func TestTheProbeIsNotEndedByALostAnswer(t *testing.T) {
	credentialsInEnvironment(t)
	server := &everyOther{fake: &fake{verifies: names(xxhHeader)}}
	s := open(t, location("http://s3.test", "bucket"), s3.Options{ProbeIn: "_lapstrake", Transport: server, Clock: &instant{}})
	if got := s.Capabilities().StoreChecksum; got != "xxh3" || server.puts < 8 {
		t.Errorf("StoreChecksum is %q after %d writes", got, server.puts)
	}
}

func TestAStoreThatWasNotProbedIsNotTrusted(t *testing.T) {
	credentialsInEnvironment(t)
	server := &fake{keeps: names(xxhHeader)}
	for _, tc := range []struct{ told, want string }{{"", ""}, {"xxh3", "xxh3"}, {"crc32c", "crc32c"}} {
		s := open(t, location("http://s3.test", "bucket"), s3.Options{StoreChecksum: tc.told, Transport: server})
		if got := s.Capabilities().StoreChecksum; got != tc.want {
			t.Errorf("told %q: StoreChecksum is %q, want %q", tc.told, got, tc.want)
		}
	}
	s := open(t, location("http://s3.test", "bucket"), s3.Options{Transport: server})
	if _, err := s.Create(t.Context(), "k", []byte("x"), destination.Meta{}); err != nil {
		t.Fatal(err)
	}
	if o, err := s.Head(t.Context(), "k"); err != nil || o.Fingerprint != "" {
		t.Errorf("head = %+v, %v: a checksum that nobody has verified", o, err)
	}
	if server.objects["k"].header.Get(xxhHeader) == "" {
		t.Error("the fingerprint was not sent: a later reader could not use it")
	}
	server.refuses = names(xxhHeader)
	if _, err := s.Create(t.Context(), "k2", []byte("x"), destination.Meta{}); err != nil {
		t.Errorf("a store that refuses the header is not usable: %v", err)
	}
}

func TestTheProbeOnRealServers(t *testing.T) {
	for _, tc := range []struct{ name, variable, want string }{
		{"versitygw verifies XXHASH3", testenv.S3Endpoint, "xxh3"},
		{"MiniStack accepts any XXHASH3", testenv.AWSEndpoint, "crc32c"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			endpoint := testenv.Server(t, tc.variable)
			credentialsInEnvironment(t)
			at := location(endpoint, makeBucket(t, endpoint))
			for range 2 {
				s := open(t, at, s3.Options{ProbeIn: "_lapstrake/"})
				if got := s.Capabilities().StoreChecksum; got != tc.want {
					t.Errorf("StoreChecksum is %q, want %q", got, tc.want)
				}
			}
		})
	}
}

// Stores without conditional copies or deletions still move, by looking first.
func TestMoveWithoutConditionalCopyAndDelete(t *testing.T) {
	credentialsInEnvironment(t)
	server := &fake{keeps: names(xxhHeader)}
	s := open(t, location("http://s3.test", "bucket/p"), s3.Options{StoreChecksum: "xxh3", Transport: server})
	key := "odd + key%/ü"
	v, err := s.Create(t.Context(), key, []byte("x"), destination.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	server.refuses = names("If-None-Match", "If-Match")
	if err := s.Move(t.Context(), key, "_quarantine/"+key, v); err != nil {
		t.Fatal(err)
	}
	if len(server.objects) != 1 || server.objects["p/_quarantine/"+key].body == nil || server.deletes != 1 {
		t.Errorf("the bucket holds %v", server.objects)
	}
}

// A copy that is not what was to be copied is not followed by a deletion.
func TestMoveKeepsTheObjectWhenTheCopyIsWrong(t *testing.T) {
	credentialsInEnvironment(t)
	server := &fake{keeps: names(xxhHeader)}
	s := open(t, location("http://s3.test", "bucket"), s3.Options{StoreChecksum: "xxh3", Transport: server})
	v, err := s.Create(t.Context(), "k", []byte("content"), destination.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	// Somebody replaces the copy at once.
	at := location("http://s3.test", "bucket")
	s = open(t, at, s3.Options{StoreChecksum: "xxh3", Transport: afterCopy{server, func() {
		server.objects["to"] = fakeObject{body: []byte("another content")}
	}}})
	if err := s.Move(t.Context(), "k", "to", v); !errors.Is(err, destination.ErrCorrupted) {
		t.Errorf("error is %v", err)
	}
	if server.deletes != 0 || !strings.HasPrefix(string(server.objects["k"].body), "content") {
		t.Error("the object was deleted without a good copy")
	}
}
