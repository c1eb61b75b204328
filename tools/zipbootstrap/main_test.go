package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestEqualBinariesGiveEqualZips(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "chunk")
	var zips [2][]byte
	for i := range zips {
		if err := os.WriteFile(binary, []byte("#!/bin/true\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		// Neither the file's time nor its mode may show.
		if err := os.Chtimes(binary, time.Time{}, time.Unix(int64(1e9*(i+1)), 0)); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(dir, "chunk.zip")
		if err := pack(binary, out); err != nil {
			t.Fatal(err)
		}
		var err error
		if zips[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(zips[0], zips[1]) {
		t.Error("the two zips differ")
	}

	z, err := zip.NewReader(bytes.NewReader(zips[0]), int64(len(zips[0])))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 1 || z.File[0].Name != "bootstrap" || z.File[0].Mode() != 0o755 {
		t.Fatalf("zip holds %d files, the first %s with mode %v; want one bootstrap with mode 0755",
			len(z.File), z.File[0].Name, z.File[0].Mode())
	}
	entry, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(entry)
	if err != nil || string(got) != "#!/bin/true\n" {
		t.Errorf("bootstrap holds %q, error %v", got, err)
	}
}

func TestAFailedPackLeavesTheOldZip(t *testing.T) {
	out := filepath.Join(t.TempDir(), "chunk.zip")
	if err := os.WriteFile(out, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := pack(filepath.Dir(out), out); err == nil { // a folder cannot be read as a file
		t.Fatal("packing a folder succeeded")
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != "old" {
		t.Errorf("zip holds %q, error %v; want the old one", got, err)
	}
	if _, err := os.Stat(out + ".partial"); !os.IsNotExist(err) {
		t.Errorf("a partial zip is left: %v", err)
	}
}
