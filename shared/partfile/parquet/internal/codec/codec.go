// Package codec compresses the pages of Parquet files. Layer: L2 (execution).
package codec

import (
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Codec compresses with memory that it reuses. It is used by one goroutine.
type Codec interface {
	// ID is the codec's number in a file.
	ID() int32
	// Append appends src, which is not empty, in compressed form.
	Append(dst, src []byte) ([]byte, error)
	// Release gives the memory to the next codec of the kind. The codec is of
	// no use afterwards.
	Release()
}

// Pair returns two codecs for a file, by the name that they have in a config:
// zstd, snappy, gzip, lz4 or none. level is one of those that the name has. The
// first is as thorough as the level says; light is zstd's faster matcher if the
// level is the usual one, and the same codec otherwise. On numbers it takes half
// of the time for about as few bytes, and on some text too.
func Pair(name string, level int) (text, light Codec, err error) {
	if text, err = newCodec(name, level); err != nil {
		return nil, nil, err
	}
	if z, ok := text.(*zstdCodec); ok && z.level == zstd.SpeedDefault {
		light, err = newZstd(zstd.SpeedFastest)
		return text, light, err
	}
	return text, text, nil
}

func newCodec(name string, level int) (Codec, error) {
	switch name {
	case "none":
		return none{}, nil
	case "snappy":
		return snappy{}, nil
	case "lz4":
		return &lz4Raw{}, nil
	case "gzip":
		z := &gzipCodec{}
		var err error
		z.w, err = gzip.NewWriterLevel(&z.out, level)
		return z, err
	case "zstd":
		return newZstd(zstd.EncoderLevelFromZstd(level))
	}
	return nil, fmt.Errorf("no codec is called %q", name)
}

type none struct{}

func (none) ID() int32                              { return 0 }
func (none) Append(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }
func (none) Release()                               {}

type snappy struct{}

func (snappy) ID() int32 { return 1 }

func (snappy) Append(dst, src []byte) ([]byte, error) {
	n := len(dst)
	dst = slices.Grow(dst, s2.MaxEncodedLen(len(src)))
	return dst[:n+len(s2.EncodeSnappy(dst[n:cap(dst)], src))], nil
}

func (snappy) Release() {}

// lz4Raw is the block format, not the framed one that few readers know
// (WRT-18).
type lz4Raw struct{ c lz4.Compressor }

func (*lz4Raw) ID() int32 { return 7 }

func (z *lz4Raw) Append(dst, src []byte) ([]byte, error) {
	n := len(dst)
	dst = slices.Grow(dst, lz4.CompressBlockBound(len(src)))
	size, err := z.c.CompressBlock(src, dst[n:cap(dst)])
	return dst[:n+size], err
}

func (*lz4Raw) Release() {}

type gzipCodec struct {
	w   *gzip.Writer
	out appender
}

type appender struct{ buf []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.buf = append(a.buf, p...)
	return len(p), nil
}

func (*gzipCodec) ID() int32 { return 2 }

func (z *gzipCodec) Append(dst, src []byte) ([]byte, error) {
	z.out.buf = dst
	z.w.Reset(&z.out)
	if _, err := z.w.Write(src); err != nil {
		return dst, err
	}
	err := z.w.Close()
	dst, z.out.buf = z.out.buf, nil
	return dst, err
}

func (*gzipCodec) Release() {}

// window bounds an encoder's memory. Pages are rarely larger.
const window = 1 << 20

// encoders keeps idle encoders by level: making one costs more than a page.
var encoders [zstd.SpeedBestCompression + 1]sync.Pool

type zstdCodec struct {
	level zstd.EncoderLevel
	enc   *zstd.Encoder
}

// newZstd has literals without a match entropy coded at every level: hashes as
// text and small numbers have no matches and are half as long then.
func newZstd(level zstd.EncoderLevel) (Codec, error) {
	if enc, ok := encoders[level].Get().(*zstd.Encoder); ok {
		return &zstdCodec{level, enc}, nil
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(window), zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true), zstd.WithAllLitEntropyCompression(true))
	return &zstdCodec{level, enc}, err
}

func (*zstdCodec) ID() int32 { return 6 }

func (z *zstdCodec) Append(dst, src []byte) ([]byte, error) { return z.enc.EncodeAll(src, dst), nil }

func (z *zstdCodec) Release() {
	if z.enc != nil {
		encoders[z.level].Put(z.enc)
		z.enc = nil
	}
}
