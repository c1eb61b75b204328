package destination

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what every store keeps: S3's, the narrowest.
const (
	MaxKeyBytes  = 1024
	MaxUserBytes = 2048 // names and values of Meta.User together
)

// CheckKey returns an ErrInvalid that says why key cannot name an object, or
// nil. Drivers check with it, so that a key that works in one store works in
// all: 1 to 1,024 bytes of UTF-8 without control characters, in elements
// between slashes none of which is empty, "." or ".." (DST-12). Such a key is
// stored as it is, without an encoding of ours.
func CheckKey(key string) error {
	if key == "" {
		return fmt.Errorf("%w: the key is empty", ErrInvalid)
	}
	if err := checkText(key); err != nil {
		return err
	}
	for element := range strings.SplitSeq(key, "/") {
		if element == "" || element == "." || element == ".." {
			return fmt.Errorf("%w: the key %.80q has the element %q", ErrInvalid, key, element)
		}
	}
	return nil
}

// CheckPrefix is CheckKey for the prefix of a listing, which may be empty and
// may end anywhere in a key.
func CheckPrefix(prefix string) error {
	if prefix == "" {
		return nil
	}
	if err := checkText(prefix); err != nil {
		return err
	}
	folders, _ := cutLast(prefix)
	if folders == "" && strings.HasPrefix(prefix, "/") {
		return fmt.Errorf("%w: the prefix %.80q starts with a slash", ErrInvalid, prefix)
	}
	if folders == "" {
		return nil
	}
	return CheckKey(folders)
}

// cutLast splits at the last slash; without one, all of s is the rest.
func cutLast(s string) (folders, rest string) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return "", s
	}
	return s[:i], s[i+1:]
}

func checkText(key string) error {
	switch {
	case len(key) > MaxKeyBytes:
		return fmt.Errorf("%w: the key %.80q… has %d bytes, more than %d", ErrInvalid, key, len(key), MaxKeyBytes)
	case !utf8.ValidString(key):
		return fmt.Errorf("%w: the key %.80q is not UTF-8", ErrInvalid, key)
	case strings.ContainsFunc(key, unicode.IsControl):
		return fmt.Errorf("%w: the key %.80q has a control character", ErrInvalid, key)
	}
	return nil
}

// Check returns an ErrInvalid if m cannot be sent to every store, or nil.
func (m Meta) Check() error {
	size := 0
	for name, value := range m.User {
		size += len(name) + len(value)
		if !strings.HasPrefix(name, "lapstrake-") || strings.ContainsFunc(name, notInName) {
			return fmt.Errorf("%w: metadata is named %.80q, not lapstrake- and lower-case letters, digits or dashes", ErrInvalid, name)
		}
		if strings.ContainsFunc(value, notPrintable) || strings.TrimSpace(value) != value {
			return fmt.Errorf("%w: metadata %s is %.80q, which is not plain ASCII text", ErrInvalid, name, value)
		}
	}
	if size > MaxUserBytes {
		return fmt.Errorf("%w: the metadata has %d bytes, more than %d", ErrInvalid, size, MaxUserBytes)
	}
	return nil
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
}

func notPrintable(r rune) bool { return r < ' ' || r > '~' }
