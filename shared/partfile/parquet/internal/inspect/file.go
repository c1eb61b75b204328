package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
)

// footerOf returns the footer and where it is.
func footerOf(body []byte) (footer object, at int, err error) {
	n := len(body)
	if n < 12 || string(body[:4]) != "PAR1" || string(body[n-4:]) != "PAR1" {
		return nil, 0, errors.New("no magic")
	}
	at = n - 8 - int(binary.LittleEndian.Uint32(body[n-8:]))
	if at < 4 {
		return nil, 0, errors.New("the footer is longer than the file")
	}
	footer, size, err := decodeObject(body[at : n-8])
	if err != nil || size != n-8-at {
		return nil, 0, fmt.Errorf("footer: %d of %d bytes, %w", size, n-8-at, err)
	}
	return footer, at, nil
}

// Schema returns all that a file says of its schema, in a form that
// reflect.DeepEqual compares.
func Schema(body []byte) (any, error) {
	footer, _, err := footerOf(body)
	return footer.list(2), err
}

// Check returns what is wrong with a file of these rows: any byte that nothing
// points to, a page that is not where its index says, a count, a size or a
// checksum that does not hold, a bound that a value is beyond, or that is called
// exact and is not.
func Check(body []byte, rows *rowbatch.Batch) error {
	footer, at, err := footerOf(body)
	if err != nil {
		return err
	}
	f := file{body: body, rows: rows, next: 4}
	if footer.int(3) != int64(rows.Rows) {
		return fmt.Errorf("%d rows in the footer, %d were written", footer.int(3), rows.Rows)
	}
	if orders := len(footer.list(7)); orders != len(rows.Columns) {
		return fmt.Errorf("%d column orders for %d columns", orders, len(rows.Columns))
	}
	groups := footer.list(4)
	for i, g := range groups {
		if err := f.group(g.(object), i); err != nil {
			return fmt.Errorf("row group %d: %w", i, err)
		}
	}
	if f.firstRow != int64(rows.Rows) {
		return fmt.Errorf("%d rows in row groups, %d were written", f.firstRow, rows.Rows)
	}
	for _, index := range []struct{ at, size int16 }{{6, 7}, {4, 5}} { // all column indexes, then all offset indexes
		for _, g := range groups {
			for _, c := range g.(object).list(1) {
				if size := c.(object).int(index.size); size > 0 {
					if c.(object).int(index.at) != f.next {
						return fmt.Errorf("an index is at %d, not at %d", c.(object).int(index.at), f.next)
					}
					f.next += size
				}
			}
		}
	}
	if f.next != int64(at) {
		return fmt.Errorf("%d bytes before the footer belong to nothing", int64(at)-f.next)
	}
	return nil
}

type file struct {
	body     []byte
	rows     *rowbatch.Batch
	next     int64 // byte that nothing has claimed yet
	firstRow int64 // of the next row group
}

func (f *file) group(g object, ordinal int) error {
	chunks := g.list(1)
	if len(chunks) != len(f.rows.Columns) {
		return fmt.Errorf("%d columns", len(chunks))
	}
	start, uncompressed := f.next, int64(0)
	for i, c := range chunks {
		if err := f.chunk(c.(object), &f.rows.Columns[i], g.int(3)); err != nil {
			return fmt.Errorf("column %d, %s: %w", i, f.rows.Columns[i].Type, err)
		}
		uncompressed += c.(object).object(3).int(6)
	}
	switch {
	case g.int(2) != uncompressed || g.int(6) != f.next-start:
		return fmt.Errorf("%d and %d bytes, its columns have %d and %d", g.int(2), g.int(6), uncompressed, f.next-start)
	case g.int(5) != start || g.int(7) != int64(ordinal):
		return fmt.Errorf("is at %d as number %d, not at %d as number %d", g.int(5), g.int(7), start, ordinal)
	}
	f.firstRow += g.int(3)
	return nil
}

// chunk checks a column chunk of these rows of v.
func (f *file) chunk(c object, v *rowbatch.Vector, rows int64) error {
	m := c.object(3)
	start := m.int(9)
	dictionary := m.int(11) >= 0
	if dictionary {
		start = m.int(11)
	}
	if start != f.next {
		return fmt.Errorf("starts at %d, not at %d", start, f.next)
	}
	pages, err := f.pages(m, f.next, f.next+m.int(7))
	if err != nil {
		return err
	}
	f.next += m.int(7)

	var uncompressed int64
	used, kinds := map[int64]bool{3: true}, map[[2]int64]int64{}
	for i, p := range pages {
		uncompressed += int64(p.header) + int64(p.uncompressed)
		used[p.encoding] = true
		kinds[[2]int64{p.kind, p.encoding}]++
		if (p.kind == 2) != (i == 0 && dictionary) {
			return fmt.Errorf("page %d is of kind %d", i, p.kind)
		}
	}
	if uncompressed != m.int(6) {
		return fmt.Errorf("%d bytes uncompressed, its pages have %d", m.int(6), uncompressed)
	}
	listed := map[int64]bool{}
	for _, e := range m.list(2) {
		listed[e.(int64)] = true
	}
	counted := map[[2]int64]int64{}
	for _, e := range m.list(13) {
		counted[[2]int64{e.(object).int(1), e.(object).int(2)}] = e.(object).int(3)
	}
	if !maps.Equal(used, listed) || !maps.Equal(kinds, counted) {
		return fmt.Errorf("encodings %v %v, its pages have %v %v", listed, counted, used, kinds)
	}
	if dictionary {
		if m.int(9) != pages[1].at {
			return fmt.Errorf("data at %d, not at %d", m.int(9), pages[1].at)
		}
		pages = pages[1:]
	}
	return f.indexes(c, pages, v, rows)
}

type page struct {
	at             int64
	header, size   int // the size is with the header
	kind, encoding int64
	values         int64
	uncompressed   int
}

// pages reads the headers of the pages that fill the file from at to end.
func (f *file) pages(m object, at, end int64) ([]page, error) {
	var out []page
	codec, err := compress.GetCodec(compress.Compression(m.int(4)))
	if err != nil {
		return nil, err
	}
	for at < end {
		h, n, err := decodeObject(f.body[at:end])
		if err != nil {
			return nil, fmt.Errorf("page header at %d: %w", at, err)
		}
		p := page{at: at, header: n, kind: h.int(1), uncompressed: int(h.int(2)), size: n + int(h.int(3))}
		detail := h.object(5)
		if p.kind == 2 {
			detail = h.object(7)
		} else if detail.int(3) != 3 || detail.int(4) != 3 {
			return nil, fmt.Errorf("page at %d has levels of encodings %d and %d", at, detail.int(3), detail.int(4))
		}
		p.values, p.encoding = detail.int(1), detail.int(2)
		if at+int64(p.size) > end || p.size <= n {
			return nil, fmt.Errorf("page at %d of %d bytes does not fit", at, p.size)
		}
		data := f.body[at+int64(n) : at+int64(p.size)]
		if sum, _ := h[4].(int64); int32(crc32.ChecksumIEEE(data)) != int32(sum) {
			return nil, fmt.Errorf("page at %d has another checksum", at)
		}
		plain := codec.Decode(make([]byte, p.uncompressed), slices.Clone(data))
		if len(plain) != p.uncompressed {
			return nil, fmt.Errorf("page at %d has %d bytes uncompressed, not %d", at, len(plain), p.uncompressed)
		}
		out = append(out, p)
		at += int64(p.size)
	}
	return out, nil
}
