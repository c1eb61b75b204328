package s3_test

import (
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"
)

// fake is a server with the faults of real ones. The zero value is a strict
// server without checksums.
type fake struct {
	verifies  map[string]bool // headers whose value is verified, kept and returned
	keeps     map[string]bool // headers whose value is kept and returned unseen
	forgets   map[string]bool // headers whose value is not returned after all
	refuses   map[string]bool // headers that get a 501
	ignores   map[string]bool // preconditions that are not looked at
	beforePut func(f *fake)   // with the lock held

	mu      sync.Mutex
	objects map[string]fakeObject
	deletes int
}

type fakeObject struct {
	body   []byte
	header http.Header
}

func (o fakeObject) etag() string {
	sum := md5.Sum(o.body)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// sums computes what the headers of checksums hold.
var sums = map[string]func(body []byte) []byte{
	"X-Amz-Checksum-Xxhash3": func(b []byte) []byte { return binary.BigEndian.AppendUint64(nil, xxh3.Hash(b)) },
	"X-Amz-Checksum-Md5":     func(b []byte) []byte { s := md5.Sum(b); return s[:] },
	"X-Amz-Checksum-Crc32c": func(b []byte) []byte {
		return binary.BigEndian.AppendUint32(nil, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	},
}

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.objects == nil {
		f.objects = map[string]fakeObject{}
	}
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	status, header, out := f.serve(r, strings.TrimPrefix(r.URL.Path, "/bucket/"), body)
	if status >= 400 && r.Method != http.MethodHead {
		out = fmt.Appendf(nil, "<Error><Code>%s</Code></Error>", map[int]string{
			400: "BadDigest", 404: "NoSuchKey", 412: "PreconditionFailed", 501: "NotImplemented",
		}[status])
	}
	if header == nil {
		header = http.Header{}
	}
	length := int64(len(out))
	if r.Method == http.MethodHead {
		header.Set("Content-Length", fmt.Sprint(length))
		out = nil
	}
	return &http.Response{
		StatusCode: status, Status: fmt.Sprintf("%d x", status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(strings.NewReader(string(out))), ContentLength: length, Request: r,
	}, nil
}

func (f *fake) serve(r *http.Request, key string, body []byte) (int, http.Header, []byte) {
	for name := range f.refuses {
		if r.Header.Get(name) != "" {
			return 501, nil, nil
		}
	}
	if r.Method == http.MethodPut && f.beforePut != nil {
		f.beforePut(f)
	}
	there, found := f.objects[key]
	if r.Header.Get("If-None-Match") == "*" && found && !f.ignores["If-None-Match"] {
		return 412, nil, nil
	}
	if want := r.Header.Get("If-Match"); want != "" && !f.ignores["If-Match"] {
		if !found {
			return 404, nil, nil
		}
		if want != there.etag() {
			return 412, nil, nil
		}
	}
	switch r.Method {
	case http.MethodPut:
		o := fakeObject{body: body, header: http.Header{}}
		if source := r.Header.Get("X-Amz-Copy-Source"); source != "" {
			name, _ := url.PathUnescape(source)
			o = f.objects[strings.TrimPrefix(name, "bucket/")]
			if o.etag() != r.Header.Get("X-Amz-Copy-Source-If-Match") {
				return 412, nil, nil
			}
			f.objects[key] = o
			return 200, nil, []byte("<CopyObjectResult><ETag>" + o.etag() + "</ETag></CopyObjectResult>")
		}
		for name, sum := range sums {
			value := r.Header.Get(name)
			if value != "" && f.verifies[name] && value != base64.StdEncoding.EncodeToString(sum(body)) {
				return 400, nil, nil
			}
			if value != "" && (f.verifies[name] || f.keeps[name]) && !f.forgets[name] {
				o.header.Set(name, value)
			}
		}
		f.objects[key] = o
		return 200, http.Header{"Etag": {o.etag()}}, nil
	case http.MethodDelete:
		f.deletes++
		delete(f.objects, key)
		return 204, nil, nil
	}
	if strings.TrimPrefix(r.URL.Path, "/") == "bucket" {
		return 200, nil, nil
	}
	if !found {
		return 404, nil, nil
	}
	header := there.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Etag", there.etag())
	return 200, header, there.body
}

// afterCopy does something once a copy has been made.
type afterCopy struct {
	*fake
	do func()
}

func (a afterCopy) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := a.fake.RoundTrip(r)
	if r.Header.Get("X-Amz-Copy-Source") != "" {
		a.do()
	}
	return resp, err
}
