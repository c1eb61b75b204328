package native

import (
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/thrift"
)

// page is where a data page stands and what is in it.
type page struct {
	at       int64 // from the first data page of its chunk; in the file, once it is there
	size     int32 // with its header
	firstRow int64 // in the row group
	nulls    int64
	empty    bool // of values that are not NULL

	low, high [2]int // its bounds in pageIndex.values
}

// pageIndex gathers pages and their bounds in two slices, whatever their
// number.
type pageIndex struct {
	pages  []page
	values []byte
}

func (x *pageIndex) reset() { x.pages, x.values = x.pages[:0], x.values[:0] }

func (x *pageIndex) add(p page, b *bounds) {
	if b.known {
		p.low = x.keep(b.low.value)
		p.high = x.keep(b.high.value)
	}
	x.pages = append(x.pages, p)
}

func (x *pageIndex) keep(value []byte) [2]int {
	start := len(x.values)
	x.values = append(x.values, value...)
	return [2]int{start, len(x.values)}
}

func (x *pageIndex) value(at [2]int) []byte { return x.values[at[0]:at[1]] }

// take moves the pages of a chunk into x, the first of them at offset in the
// file, and returns which they are there.
func (x *pageIndex) take(from *pageIndex, offset int64) (first, last int) {
	first, shift := len(x.pages), len(x.values)
	x.values = append(x.values, from.values...)
	for _, p := range from.pages {
		p.at += offset
		for _, at := range []*[2]int{&p.low, &p.high} {
			at[0] += shift
			at[1] += shift
		}
		x.pages = append(x.pages, p)
	}
	return first, len(x.pages)
}

// writeColumnIndex writes what is in the pages of a chunk.
func (x *pageIndex) writeColumnIndex(w *thrift.Writer, s storage, pages []page) {
	w.Begin()
	w.Bools(1, len(pages), func(i int) bool { return pages[i].empty })
	w.List(2, thrift.Binary, len(pages))
	for i := range pages {
		w.BytesElement(x.value(pages[i].low))
	}
	w.List(3, thrift.Binary, len(pages))
	for i := range pages {
		w.BytesElement(x.value(pages[i].high))
	}
	w.Int32(4, x.boundaryOrder(s, pages))
	w.List(5, thrift.I64, len(pages))
	for i := range pages {
		w.IntElement(pages[i].nulls)
	}
	w.End()
}

// writeOffsetIndex writes where the pages of a chunk are.
func writeOffsetIndex(w *thrift.Writer, pages []page) {
	w.Begin()
	w.List(1, thrift.Struct, len(pages))
	for i := range pages {
		w.Begin()
		w.Int64(1, pages[i].at)
		w.Int32(2, pages[i].size)
		w.Int64(3, pages[i].firstRow)
		w.End()
	}
	w.End()
}

// boundaryOrder tells a reader whether it can search the pages by halves: 1 if
// neither bound ever falls from page to page, 2 if none rises, 0 otherwise.
// Pages without values do not count.
func (x *pageIndex) boundaryOrder(s storage, pages []page) int32 {
	rises, falls := true, true
	var last *page
	for i := range pages {
		p := &pages[i]
		if p.empty {
			continue
		}
		if last != nil {
			low := s.compare(x.value(last.low), x.value(p.low))
			high := s.compare(x.value(last.high), x.value(p.high))
			rises = rises && low <= 0 && high <= 0
			falls = falls && low >= 0 && high >= 0
		}
		last = p
	}
	switch {
	case rises:
		return 1
	case falls:
		return 2
	}
	return 0
}
