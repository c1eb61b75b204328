package exportconfig

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// maxPrefixBytes leaves room for the names of control objects within the 1,024
// bytes of an S3 key.
const maxPrefixBytes = 512

var bucketRule = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)

// destination reads where an export goes: the root and the template below it.
// Keys of a destination's environment are names of variables and never values.
func (r *reader) destination(m *mapping, e *Export) {
	if m == nil {
		return
	}
	kind := m.text("type")
	local, s3 := []string{"path"}, []string{"bucket", "region", "endpoint", "access_key_env", "secret_key_env", "session_token_env", "aws_profile", "allow_anonymous"}
	switch kind {
	case "local":
		r.onlyWith(m, "s3", s3)
		r.localDestination(m, e)
	case "s3":
		r.onlyWith(m, "local", local)
		r.s3Destination(m, e)
	}
}

// onlyWith refuses keys that another kind of destination reads.
func (r *reader) onlyWith(m *mapping, kind string, names []string) {
	for _, name := range m.given(names...) {
		r.fail(m.scope, m.lineOf(name), "destination.%s is read with type: %s only", name, kind)
	}
}

func (r *reader) localDestination(m *mapping, e *Export) {
	name := "path"
	if m.has("prefix") {
		name = "prefix"
		if m.has("path") {
			r.fail(m.scope, m.lineOf("prefix"), "destination has path and prefix, which are the same for type: local: give one")
			return
		}
	}
	folder, ok := r.placed(m, name, m.or(name, "."), *e)
	if !ok {
		return
	}
	if folder == "" {
		folder = "."
	}
	if folder, ok = r.localPath(m, name, folder); !ok {
		return
	}
	static, template := splitTemplate(strings.Split(strings.TrimPrefix(folder, "/"), "/"))
	e.Destination = wire.Location{Kind: "local", URI: "file:///" + strings.Join(static, "/")}
	e.PrefixTemplate = template
}

func (r *reader) s3Destination(m *mapping, e *Export) {
	bucket := m.text("bucket")
	switch {
	case !m.has("bucket"):
		r.fail(m.scope, m.line, "destination.bucket is missing")
	case bucket != "" && (!bucketRule.MatchString(bucket) || strings.Contains(bucket, "..")):
		r.fail(m.scope, m.lineOf("bucket"), "destination.bucket must be the name of a bucket, not %s", quote(m.get("bucket").raw))
	}
	prefix, ok := r.placed(m, "prefix", m.text("prefix"), *e)
	if !ok {
		return
	}
	segments := slices.DeleteFunc(strings.Split(prefix, "/"), func(s string) bool { return s == "" })
	switch {
	case slices.Contains(segments, "..") || slices.Contains(segments, "."):
		r.fail(m.scope, m.lineOf("prefix"), `destination.prefix may not have "." or ".." as a folder`)
	case strings.Contains(prefix, "://"):
		r.fail(m.scope, m.lineOf("prefix"), "destination.prefix is a folder in the bucket, not an address")
	case len(prefix) > maxPrefixBytes:
		r.fail(m.scope, m.lineOf("prefix"), "destination.prefix has %d bytes, at most %d are allowed", len(prefix), maxPrefixBytes)
	}
	static, template := splitTemplate(segments)
	e.Destination = wire.Location{
		Kind: "s3", URI: strings.TrimSuffix("s3://"+bucket+"/"+strings.Join(static, "/"), "/"),
		Region: m.text("region"), Endpoint: m.text("endpoint"), Profile: m.text("aws_profile"), AllowAnonymous: m.yes("allow_anonymous"),
	}
	e.PrefixTemplate = template
	for name, field := range map[string]*string{
		"access_key_env": &e.Destination.AccessKeyEnv, "secret_key_env": &e.Destination.SecretKeyEnv, "session_token_env": &e.Destination.SessionTokenEnv,
	} {
		*field = strings.TrimPrefix(r.envReference(m, name), "env://")
	}
	r.s3Access(m)
}

// s3Access checks how the store is reached and signed in to.
func (r *reader) s3Access(m *mapping) {
	if m.has("access_key_env") != m.has("secret_key_env") {
		r.fail(m.scope, m.line, "destination.access_key_env and destination.secret_key_env go together")
	}
	if m.has("session_token_env") && !m.has("access_key_env") {
		r.fail(m.scope, m.lineOf("session_token_env"), "destination.session_token_env needs destination.access_key_env and destination.secret_key_env")
	}
	if m.has("access_key_env") && m.has("aws_profile") {
		r.fail(m.scope, m.lineOf("aws_profile"), "destination has access_key_env and aws_profile: give one")
	}
	v := m.get("endpoint")
	if v == nil {
		return
	}
	u, err := url.Parse(v.text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "":
		r.fail(m.scope, v.line, "destination.endpoint must be http:// or https:// with a host and a port only")
	case !loopback(u.Hostname()) && !m.yes("allow_anonymous"):
		r.fail(m.scope, v.line, "destination.endpoint may be other than loopback only with allow_anonymous: true; to sign in to an S3 of your own set AWS_ENDPOINT_URL_S3 in the environment")
	}
}

// placed resolves {export} and {table}, which are known, in a path, and refuses
// what no folder may be called.
func (r *reader) placed(m *mapping, name, p string, e Export) (string, bool) {
	before := len(r.list)
	line := m.lineOf(name)
	if strings.Contains(p, "{partition}") {
		r.add(line, CodeUnsupported, m.scope.exports, "%sdestination.%s: {partition} is not supported by this version: %s", m.scope.label, name, plain(noPartitions))
	}
	if strings.ContainsFunc(p, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		r.fail(m.scope, line, "destination.%s has a control character", name)
	}
	p = strings.NewReplacer("{export}", e.Name, "{table}", e.Name).Replace(p)
	for segment := range strings.SplitSeq(p, "/") {
		if segment == contract.ControlDir || segment == quarantineFolder {
			r.add(line, CodePrefix, m.scope.exports, "%sdestination.%s: a folder may not be called %s, which is kept for control objects", m.scope.label, name, segment)
		}
	}
	return p, len(r.list) == before
}

const quarantineFolder = "_quarantine"

// splitTemplate cuts a path before its first folder with a placeholder.
func splitTemplate(segments []string) (static []string, template string) {
	segments = slices.DeleteFunc(segments, func(s string) bool { return s == "" })
	n := slices.IndexFunc(segments, hasPlaceholder)
	if n < 0 {
		return segments, ""
	}
	return segments[:n], path.Join(segments[n:]...) + "/"
}
