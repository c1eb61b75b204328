package exportconfig

import (
	"math/big"
	"regexp"
	"strings"
)

const (
	defaultPartBytes = 32 * mebibyte
	// maxPartBytes is what one part may have at most, since it is uploaded in
	// one request (D6).
	maxPartBytes = 1024 * mebibyte
)

// output reads the format of the parts and their size.
func (r *reader) output(m *mapping, e *Export) {
	e.Format = m.text("format")
	e.PartBytes = defaultPartBytes
	if v := m.get("max_file_size"); v != nil {
		n, ok := parseSize(v.text)
		switch {
		case !ok:
			r.fail(m.scope, v.line, "max_file_size must be <n>[B|KB|MB|GB], such as 128MB or 0.5GB, not %s", quote(v.raw))
		case n > maxPartBytes:
			r.fail(m.scope, v.line, "max_file_size is %s, at most 1GB is allowed: a part is uploaded in one request", quote(v.raw))
		default:
			e.PartBytes = n
		}
	}
	switch e.Format {
	case "csv":
		r.csv(m, e)
	case "parquet":
		r.compression(m, e)
	}
}

// csv refuses every codec: CSV is never compressed.
func (r *reader) csv(m *mapping, e *Export) {
	e.Compression = "none"
	for _, name := range m.given("compression", "compression_profile", "compression_level") {
		if m.text(name) != "none" && m.get(name) != nil {
			r.fail(m.scope, m.lineOf(name), "%s: CSV is not compressed: leave it out, or write compression: none", name)
		}
	}
	if m.has("parquet") {
		r.fail(m.scope, m.lineOf("parquet"), "parquet is read with format: parquet only")
	}
}

// compression reads codec and level. The profile wins over both.
func (r *reader) compression(m *mapping, e *Export) {
	e.Compression = m.or("compression", "zstd")
	levels := map[string]struct{ usual, most int }{"zstd": {3, 22}, "gzip": {6, 9}}
	level := levels[e.Compression]
	e.CompressionLevel = level.usual
	switch m.text("compression_profile") {
	case "none":
		e.Compression, e.CompressionLevel = "none", 0
		return
	case "fast":
		e.Compression, e.CompressionLevel = "snappy", 0
		return
	case "balanced":
		e.Compression, e.CompressionLevel = "zstd", 3
		return
	case "compact":
		e.Compression, e.CompressionLevel = "zstd", 9
		return
	}
	if v := m.get("compression_level"); v != nil {
		switch {
		case level.most == 0:
			r.fail(m.scope, v.line, "compression_level: %s has no levels", e.Compression)
		case int(v.number) > level.most:
			r.fail(m.scope, v.line, "compression_level: %s has the levels 1 to %d, not %s", e.Compression, level.most, quote(v.raw))
		default:
			e.CompressionLevel = int(v.number)
		}
	}
}

var sizeRule = regexp.MustCompile(`^([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*(B|KB|MB|GB)?$`)

// parseSize reads a number of bytes, with units of 1024 and a fraction that is
// rounded down. It is at least one byte.
func parseSize(s string) (int64, bool) {
	parts := sizeRule.FindStringSubmatch(strings.ToUpper(strings.TrimSpace(s)))
	if parts == nil {
		return 0, false
	}
	n, ok := new(big.Rat).SetString(parts[1])
	if !ok {
		return 0, false
	}
	unit := map[string]int64{"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}[parts[2]]
	n.Mul(n, new(big.Rat).SetInt64(unit))
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	if !whole.IsInt64() {
		return 1<<63 - 1, true
	}
	return whole.Int64(), whole.Sign() > 0
}
