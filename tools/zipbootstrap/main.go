// Command zipbootstrap packs one binary as a Lambda zip.
//
//	zipbootstrap BINARY OUT.zip
//
// The zip holds the binary as `bootstrap` with mode 0755 and a fixed time, so
// that equal binaries give equal zips and a deployment tool that compares
// hashes sees no change where there is none.
package main

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: zipbootstrap BINARY OUT.zip")
		os.Exit(2)
	}
	if err := pack(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "zipbootstrap:", err)
		os.Exit(1)
	}
}

// pack replaces out only by a complete zip.
func pack(binary, out string) (err error) {
	in, err := os.Open(binary)
	if err != nil {
		return err
	}
	defer in.Close()

	partial := out + ".partial"
	f, err := os.Create(partial)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(partial)
		}
	}()
	if err := writeZip(f, in); err != nil {
		return fmt.Errorf("pack %s: %w", binary, err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(partial, out)
}

func writeZip(w io.Writer, binary io.Reader) error {
	z := zip.NewWriter(w)
	header := &zip.FileHeader{
		Name:     "bootstrap",
		Method:   zip.Deflate,
		Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), // the earliest that a zip can say
	}
	header.SetMode(0o755)
	entry, err := z.CreateHeader(header)
	if err != nil {
		return err
	}
	if _, err := io.Copy(entry, binary); err != nil {
		return err
	}
	return z.Close()
}
