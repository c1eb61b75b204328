package s3_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/destination"
	"github.com/lapstrake/lapstrake/shared/destination/s3"
	"github.com/lapstrake/lapstrake/shared/fault"
)

// reply is one scripted answer of a server that is not there.
type reply struct {
	status int
	code   string // of the XML error
	header http.Header
	body   string
	err    error // instead of an answer
}

// script answers the n-th request with the n-th reply, and all later ones with
// the last.
type script struct {
	replies []reply

	mu       sync.Mutex
	requests []*http.Request
	tokens   []string
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	re := s.replies[min(len(s.requests), len(s.replies)-1)]
	s.requests = append(s.requests, r)
	s.tokens = append(s.tokens, r.Header.Get("X-Amz-Security-Token"))
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if re.err != nil {
		return nil, re.err
	}
	body := re.body
	if re.code != "" && r.Method != http.MethodHead {
		body = "<Error><Code>" + re.code + "</Code><Message>said by a test</Message></Error>"
	}
	header := re.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		StatusCode: re.status, Status: fmt.Sprintf("%d x", re.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// instant is a clock that never waits, and counts.
type instant struct {
	clock.System
	waits []time.Duration
}

func (c *instant) After(d time.Duration) <-chan time.Time {
	c.waits = append(c.waits, d)
	ch := make(chan time.Time, 1)
	ch <- time.Time{}
	return ch
}

func scripted(t *testing.T, replies ...reply) (destination.Store, *script, *instant) {
	t.Helper()
	t.Setenv("LAPSTRAKE_S3_TEST_KEY", "test")
	t.Setenv("LAPSTRAKE_S3_TEST_SECRET", "testtest")
	t.Setenv("AWS_MAX_ATTEMPTS", "7") // must not make the library repeat anything
	t.Setenv("AWS_RETRY_MODE", "standard")
	tr, c := &script{replies: replies}, &instant{}
	return open(t, location("http://s3.test", "bucket/root"), s3.Options{Transport: tr, Clock: c}), tr, c
}

var (
	ok         = reply{status: 200, header: http.Header{"Etag": {`"v1"`}}}
	conflict   = reply{status: 409, code: "ConditionalRequestConflict"}
	failed     = reply{status: 412, code: "PreconditionFailed"}
	slowDown   = reply{status: 503, code: "SlowDown"}
	internal   = reply{status: 500, code: "InternalError"}
	denied     = reply{status: 403, code: "AccessDenied"}
	noKey      = reply{status: 404, code: "NoSuchKey"}
	noBucket   = reply{status: 404, code: "NoSuchBucket"}
	expired    = reply{status: 400, code: "ExpiredToken"}
	reset      = reply{err: errors.New("connection reset by peer")}
	noDial     = reply{err: &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}}
	badDigest  = reply{status: 400, code: "BadDigest"}
	notThere   = reply{status: 404}
	headDenied = reply{status: 403}
)

func times(n int, r reply) []reply { return slices.Repeat([]reply{r}, n) }

// Every answer of a server to a conditional write has one meaning (DST-05,
// DST-06, DST-14).
func TestTheAnswersToAConditionalWrite(t *testing.T) {
	for _, tc := range []struct {
		name     string
		replies  []reply
		create   error // what Create returns
		replace  error // what Replace returns
		requests int
	}{
		{"stored", []reply{ok}, nil, nil, 1},
		{"412 is somebody else's success", []reply{failed}, destination.ErrExists, destination.ErrMoved, 1},
		{"409 is no answer: asked again", append(times(4, conflict), ok), nil, nil, 5},
		{"409 five times is undecided", append(times(5, conflict), ok), destination.ErrUndecided, destination.ErrUndecided, 5},
		{"409 and then 412: nothing of ours was stored", []reply{conflict, failed}, destination.ErrExists, destination.ErrMoved, 2},
		{"another 409", []reply{{status: 409, code: "OperationAborted"}, ok}, nil, nil, 2},
		{"503 is asked again", append(times(3, slowDown), ok), nil, nil, 4},
		{"503 for ever is undecided", times(20, slowDown), destination.ErrUndecided, destination.ErrUndecided, 8},
		{"503 and then 412 may be our own success", []reply{slowDown, failed}, destination.ErrExists, destination.ErrUndecided, 2},
		{"503 and then 404 may be our own success, deleted", []reply{slowDown, noKey}, destination.ErrNoBucket, destination.ErrUndecided, 2},
		{"503 and then 403 does not say what the first did", []reply{slowDown, denied}, destination.ErrUndecided, destination.ErrUndecided, 2},
		{"500 may have stored it: not asked again", []reply{internal, ok}, destination.ErrUndecided, destination.ErrUndecided, 1},
		{"502 without a body", []reply{{status: 502}, ok}, destination.ErrUndecided, destination.ErrUndecided, 1},
		{"a lost connection", []reply{reset, ok}, destination.ErrUndecided, destination.ErrUndecided, 1},
		{"no connection at all is asked again", []reply{noDial, ok}, nil, nil, 2},
		{"no connection for ever: nothing was stored", times(9, noDial), destination.ErrUnavailable, destination.ErrUnavailable, 4},
		{"200 without an ETag", []reply{{status: 200}}, destination.ErrUndecided, destination.ErrUndecided, 1}, // DST-04
		{"access denied", []reply{denied}, destination.ErrDenied, destination.ErrDenied, 1},
		{"a wrong secret", []reply{{status: 403, code: "SignatureDoesNotMatch"}}, destination.ErrDenied, destination.ErrDenied, 1},
		{"a wrong clock", []reply{{status: 403, code: "RequestTimeTooSkewed"}}, destination.ErrDenied, destination.ErrDenied, 1},
		{"expired credentials are fetched once more", []reply{expired, ok}, nil, nil, 2}, // DST-15
		{"and only once", times(5, expired), destination.ErrDenied, destination.ErrDenied, 2},
		{"no bucket", []reply{noBucket}, destination.ErrNoBucket, destination.ErrNoBucket, 1},
		{"no key", []reply{noKey}, destination.ErrNoBucket, destination.ErrMoved, 1},
		{"other bytes arrived", []reply{badDigest}, destination.ErrCorrupted, destination.ErrCorrupted, 1},
		{"not implemented, with the checksum or without", []reply{{status: 501, code: "NotImplemented"}}, destination.ErrNotSupported, destination.ErrNotSupported, 2},
		{"full", []reply{{status: 507}}, destination.ErrFull, destination.ErrFull, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for op, want := range map[string]error{"create": tc.create, "replace": tc.replace} {
				s, tr, _ := scripted(t, tc.replies...)
				err := write(t.Context(), s, op)
				if !errors.Is(err, want) {
					t.Errorf("%s: error is %v, want %v", op, err, want)
				}
				for _, other := range []error{destination.ErrExists, destination.ErrMoved, destination.ErrUndecided} {
					if want != other && errors.Is(err, other) {
						t.Errorf("%s: error %v is also %v", op, err, other)
					}
				}
				if len(tr.requests) != tc.requests {
					t.Errorf("%s: %d requests, want %d", op, len(tr.requests), tc.requests)
				}
			}
		})
	}
}

func write(ctx context.Context, s destination.Store, op string) error {
	if op == "create" {
		_, err := s.Create(ctx, "k", []byte("body"), destination.Meta{})
		return err
	}
	_, err := s.Replace(ctx, "k", "v0", []byte("body"), destination.Meta{})
	return err
}

func TestAWriteIsOneConditionalPutWithItsChecksum(t *testing.T) { // DST-09
	s, tr, _ := scripted(t, ok)
	for _, op := range []string{"create", "replace"} {
		if err := write(t.Context(), s, op); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []map[string]string{
		{"If-None-Match": "*", "If-Match": ""},
		{"If-None-Match": "", "If-Match": `"v0"`},
	} {
		r := tr.requests[i]
		if r.Method != http.MethodPut || r.URL.EscapedPath() != "/bucket/root/k" {
			t.Errorf("request is %s %s", r.Method, r.URL)
		}
		for name, value := range want {
			if got := r.Header.Get(name); got != value {
				t.Errorf("%s is %q, want %q", name, got, value)
			}
		}
		if r.Header.Get("X-Amz-Checksum-Xxhash3") == "" || r.Header.Get("X-Amz-Checksum-Crc32") != "" {
			t.Errorf("checksums are not as set: %v", r.Header)
		}
	}
}

// The waits grow, and end when the caller's time does (DST-13).
func TestRetriesWaitAndEndWithTheCaller(t *testing.T) {
	s, _, c := scripted(t, slowDown)
	_ = write(t.Context(), s, "create")
	if len(c.waits) != 7 || !slices.IsSorted(c.waits) || c.waits[0] == c.waits[6] {
		t.Errorf("waits are %v", c.waits)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, tr, _ := scripted(t, slowDown)
	tr.replies = append(times(2, slowDown), reply{err: errors.New("cut")})
	cancelling := &cancelAfter{script: tr, n: 2, cancel: cancel}
	s = open(t, location("http://s3.test", "bucket"), s3.Options{Transport: cancelling, Clock: stopped{}})
	err := write(ctx, s, "create")
	if !errors.Is(err, destination.ErrUndecided) || !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want undecided and cancelled", err)
	}
}

// cancelAfter cancels the caller's context with its n-th answer.
type cancelAfter struct {
	*script
	n      int
	cancel func()
}

func (c *cancelAfter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.script.RoundTrip(r)
	if len(c.requests) >= c.n {
		c.cancel()
	}
	return resp, err
}

// stopped is a clock whose first wait passes at once and later ones never do.
type stopped struct{ clock.System }

func (stopped) After(d time.Duration) <-chan time.Time {
	ch := make(chan time.Time, 1)
	if d < time.Second/2 {
		ch <- time.Time{}
	}
	return ch
}

func TestRefusalsHaveAClassAndACode(t *testing.T) {
	for _, tc := range []struct {
		reply reply
		class fault.Class
		code  fault.Code
	}{
		{denied, fault.Permanent, "LAPSTRAKE_DEST_DENIED"},
		{noBucket, fault.Permanent, "LAPSTRAKE_DEST_NO_BUCKET"},
		{reply{status: 400, code: "InvalidArgument"}, fault.Permanent, "LAPSTRAKE_DEST_REFUSED"},
		{reply{status: 301, code: "PermanentRedirect"}, fault.Permanent, "LAPSTRAKE_DEST_WRONG_REGION"},
		{reply{status: 400, code: "AuthorizationHeaderMalformed"}, fault.Permanent, "LAPSTRAKE_DEST_WRONG_REGION"},
		{internal, fault.Retryable, "LAPSTRAKE_DEST_UNDECIDED"},
	} {
		s, _, _ := scripted(t, tc.reply)
		err := write(t.Context(), s, "create")
		if fault.ClassOf(err) != tc.class || fault.CodeOf(err) != tc.code {
			t.Errorf("%d %s: class %q and code %q, want %q and %q (%v)", tc.reply.status, tc.reply.code, fault.ClassOf(err), fault.CodeOf(err), tc.class, tc.code, err)
		}
		if !strings.Contains(err.Error(), "create k in s3://bucket/root") {
			t.Errorf("message does not name key and store: %v", err)
		}
	}
}

func TestTheAnswersToARead(t *testing.T) {
	object := reply{status: 200, header: http.Header{"Etag": {`"v1"`}}, body: "body"}
	wrong := reply{status: 200, header: http.Header{"Etag": {`"v1"`}, "X-Amz-Checksum-Xxhash3": {"AAAAAAAAAAA="}}, body: "body"}
	for _, tc := range []struct {
		name     string
		replies  []reply
		want     error
		requests int
	}{
		{"there", []reply{object}, nil, 1},
		{"a passing failure", []reply{internal, slowDown, reset, object}, nil, 4},
		{"a failure that stays", times(9, internal), destination.ErrUnavailable, 5},
		{"expired credentials", []reply{expired, object}, nil, 2},
		{"expired for good", times(5, expired), destination.ErrDenied, 2},
		{"no key", []reply{noKey}, destination.ErrNotFound, 1},
		{"no bucket", []reply{noBucket}, destination.ErrNoBucket, 1},
		{"denied", []reply{denied}, destination.ErrDenied, 1},
		{"other bytes than the store's checksum, once", []reply{wrong, object}, nil, 2},
		{"other bytes than the store's checksum", times(9, wrong), destination.ErrCorrupted, 5},
		{"no ETag", []reply{{status: 200, body: "body"}}, destination.ErrNotSupported, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, tr, _ := scripted(t, tc.replies...)
			body, v, err := s.Get(t.Context(), "k", 100)
			if !errors.Is(err, tc.want) || err == nil && (string(body) != "body" || v != "v1") {
				t.Errorf("get = %q at %q, %v; want %v", body, v, err, tc.want)
			}
			if len(tr.requests) != tc.requests {
				t.Errorf("%d requests, want %d", len(tr.requests), tc.requests)
			}
		})
	}
}

// The answer to a HEAD has no body, so 404 does not say what is missing.
func TestHeadTellsAMissingKeyFromAMissingBucket(t *testing.T) {
	for _, tc := range []struct {
		name    string
		replies []reply
		want    error
	}{
		{"the bucket is missing, too", []reply{notThere, notThere}, destination.ErrNoBucket},
		{"the bucket is there", []reply{notThere, ok}, destination.ErrNotFound},
		{"the role may not ask", []reply{notThere, headDenied}, destination.ErrNotFound},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _, _ := scripted(t, tc.replies...)
			if _, err := s.Head(t.Context(), "k"); !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
		})
	}
	s, tr, _ := scripted(t, ok, notThere)
	_ = write(t.Context(), s, "create")
	if _, err := s.Head(t.Context(), "k"); !errors.Is(err, destination.ErrNotFound) || len(tr.requests) != 2 {
		t.Errorf("after a write: %v with %d requests, want no question about the bucket", err, len(tr.requests))
	}
}

func TestOddListingsAreNotMisread(t *testing.T) {
	page := func(inside string) reply {
		return reply{status: 200, body: "<ListBucketResult>" + inside + "</ListBucketResult>"}
	}
	entry := func(keys ...string) string {
		out := ""
		for _, k := range keys {
			out += "<Contents><Key>" + k + `</Key><Size>1</Size><ETag>"e"</ETag></Contents>`
		}
		return out
	}
	for _, tc := range []struct {
		name    string
		replies []reply
		want    []string
		err     error
	}{
		{"encoded keys", []reply{page("<EncodingType>url</EncodingType>" + entry("root/a+b%2Bc%25", "root/%C3%A9"))}, []string{"a b+c%", "é"}, nil},
		{"keys that are not encoded", []reply{page(entry("root/a+b%2Bc"))}, []string{"a+b%2Bc"}, nil},
		{"a folder marker", []reply{page(entry("root/", "root/a", "root/b/", "root/b/c"))}, []string{"a", "b/c"}, nil},
		{"two pages", []reply{
			page(entry("root/a") + "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"),
			page(entry("root/b")),
		}, []string{"a", "b"}, nil},
		{"out of order", []reply{page(entry("root/b", "root/a"))}, []string{"b"}, destination.ErrNotSupported},
		{"the same page again", times(3, page(entry("root/a")+"<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>")), []string{"a"}, destination.ErrNotSupported},
		{"more, without a token", []reply{page(entry("root/a") + "<IsTruncated>true</IsTruncated>")}, []string{"a"}, destination.ErrNotSupported},
		{"another prefix", []reply{page(entry("other/a"))}, nil, destination.ErrNotSupported},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, _, _ := scripted(t, tc.replies...)
			var got []string
			err := s.List(t.Context(), "", func(o destination.Object) error { got = append(got, o.Key); return nil })
			if !errors.Is(err, tc.err) || !slices.Equal(got, tc.want) {
				t.Errorf("list = %q, %v; want %q, %v", got, err, tc.want, tc.err)
			}
		})
	}
}
