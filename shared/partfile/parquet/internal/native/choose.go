package native

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/codec"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/encoding"
)

// choice is how the values of a column chunk are encoded.
type choice int

const (
	undecided     choice = iota // until the first page with values
	viaDictionary               // until it no longer pays, or grows too large
	noDictionary
)

const (
	// A dictionary that has grown beyond this gets no more values.
	dictionaryBytes = 1 << 20
	// Values that are longer on average have none: it would hold few of them,
	// and memory for each of them twice.
	dictionaryValue = 4 << 10
	// A page of byte arrays that has as much as the least of these chooses the
	// codec of its column, by as much of it as the other.
	leastSample = 16 << 10
	mostSample  = 128 << 10
	// The thorough codec has to save one byte in so many.
	codecSaving = 16
)

// encode appends the values of a page in the encoding that takes fewer bytes,
// and returns which it is. Only the values of the chunk decide.
func (c *column) encode(s *scratch, dst []byte, v *values, last bool) ([]byte, int32, error) {
	switch {
	case v.n == 0 && c.choice == viaDictionary:
		return append(dst, 1), dictionaryNumbers, nil // the width of no numbers
	case v.n == 0:
		return dst, plain, nil // some readers trip over delta encodings of nothing
	case c.choice == undecided:
		if err := c.decide(s, v, last); err != nil {
			return dst, 0, err
		}
	case c.choice == viaDictionary:
		c.grow(s, v)
	}
	if c.choice == noDictionary {
		return c.appendDirect(s, dst, v), c.direct, nil
	}
	if c.numbers.bytes() > dictionaryBytes {
		c.choice = noDictionary // from the next page on
	}
	return c.appendNumbers(s, dst), dictionaryNumbers, nil
}

// decide chooses by the first page. A few distinct values have a dictionary,
// values of which most are distinct have none; in between the page is
// compressed both ways. What later pages will add to the dictionary is judged
// by what the second half of this one does.
func (c *column) decide(s *scratch, v *values, last bool) error {
	if c.form == formBytes && encoding.PlainBytes(v.offsets) > dictionaryValue*v.n {
		c.choice = noDictionary
		return nil
	}
	half := v.n / 2
	s.numbers = c.numbers.lookup(s.numbers[:0], v, 0, half)
	before := c.numbers.len()
	if half > 1000 && 4*before > 3*half {
		c.drop()
		return nil
	}
	s.numbers = c.numbers.lookup(s.numbers, v, half, v.n)
	c.choice = viaDictionary
	if 16*c.numbers.len() <= v.n {
		return nil
	}
	s.trial = c.appendDirect(s, s.trial[:0], v)
	with, err := c.codecOf(s, s.trial, c.direct)
	if err != nil {
		return err
	}
	without, err := s.compressed(with, s.trial)
	if err != nil {
		return err
	}
	s.trial = c.appendNumbers(s, s.trial[:0])
	numbered, err := s.compressed(s.light, s.trial)
	if err != nil {
		return err
	}
	share := 2
	if last { // all of the dictionary is for this page
		before, share = 0, 1
	}
	s.trial = c.numbers.appendPlain(s.trial[:0], before)
	more, err := s.compressed(with, s.trial)
	if err != nil {
		return err
	}
	if numbered+share*more >= without {
		c.drop()
	}
	return nil
}

// codecOf returns the codec of a page. Byte arrays have one for the whole part,
// which the first page of some size decides: the thorough one where it saves
// enough. In hashes, numbers and documents of them it takes several times as long
// for about as few bytes.
func (c *column) codecOf(s *scratch, body []byte, encoding int32) (codec.Codec, error) {
	if c.form != formBytes || encoding == dictionaryNumbers || s.text == s.light {
		return s.light, nil
	}
	if c.codec == nil && len(body) >= leastSample {
		sample := body[:min(len(body), mostSample)]
		thorough, err := s.compressed(s.text, sample)
		if err != nil {
			return nil, err
		}
		light, err := s.compressed(s.light, sample)
		if err != nil {
			return nil, err
		}
		c.codec = s.light
		if codecSaving*thorough <= (codecSaving-1)*light {
			c.codec = s.text
		}
	}
	return cmp.Or(c.codec, s.light), nil
}

func (c *column) drop() {
	c.numbers.truncate(0)
	c.choice = noDictionary
}

// grow looks a page up, and takes back what it added to the dictionary if the
// page takes more bytes with it than without.
func (c *column) grow(s *scratch, v *values) {
	n, size := c.numbers.len(), c.numbers.bytes()
	s.numbers = c.numbers.lookup(s.numbers[:0], v, 0, v.n)
	if added := c.numbers.bytes() - size; added > 0 && added+v.n*c.width()/8 > c.directBytes(v) {
		c.numbers.truncate(n)
		c.choice = noDictionary
	}
}

// width is that of a number of the dictionary as it is now.
func (c *column) width() int { return encoding.Width(uint32(c.numbers.len() - 1)) }

func (c *column) appendNumbers(s *scratch, dst []byte) []byte {
	return encoding.AppendHybrid(append(dst, byte(c.width())), s.numbers, c.width())
}

// directBytes estimates how long the values are without a dictionary.
func (c *column) directBytes(v *values) int {
	switch {
	case c.form == formBytes:
		return encoding.PlainBytes(v.offsets)
	case c.form == formFixed:
		return v.n * c.length
	case c.form == form32 && c.direct == deltaBinaryPacked:
		return v.n * (bits.Len32(uint32(slices.Max(v.i32)-slices.Min(v.i32))) + 1) / 8
	case c.form == form64 && c.direct == deltaBinaryPacked:
		return v.n * (bits.Len64(uint64(slices.Max(v.i64)-slices.Min(v.i64))) + 1) / 8
	case c.form == form32:
		return 4 * v.n
	}
	return 8 * v.n
}

// grow returns s with n elements.
func grow[T any](s []T, n int) []T { return slices.Grow(s, n)[:n] }
