package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// readManifest reads what a loader would: the committed parts of the manifest
// whose fingerprint the marker states, and no other file.
func readManifest(ctx context.Context, dir string) (s sums, parts int, err error) {
	body, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		return s, 0, err
	}
	var m struct {
		Status string `json:"status"`
		Parts  []struct {
			Path   string `json:"path"`
			Status string `json:"status"`
		} `json:"parts"`
	}
	if err := json.Unmarshal(body, &m); err != nil || m.Status != "success" {
		return s, 0, fmt.Errorf("manifest with status %q: %w", m.Status, err)
	}
	for _, p := range m.Parts {
		if p.Status != "committed" {
			continue
		}
		parts++
		if err := s.add(ctx, filepath.Join(dir, p.Path)); err != nil {
			return s, parts, fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	return s, parts, nil
}

func (s *sums) add(ctx context.Context, path string) error {
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	table, err := r.ReadTable(ctx)
	if err != nil {
		return err
	}
	defer table.Release()
	s.Rows += table.NumRows()
	for i := range int(table.NumCols()) {
		column := table.Column(i)
		for _, chunk := range column.Data().Chunks() {
			s.addColumn(column.Name(), chunk)
		}
	}
	return nil
}

func (s *sums) addColumn(name string, values arrow.Array) {
	for i := range values.Len() {
		if values.IsNull(i) {
			continue
		}
		switch v := values.(type) {
		case *array.Int64:
			if name == "id" {
				s.IDs += v.Value(i)
			}
		case *array.Decimal128:
			if name == "amount" {
				s.Cents += v.Value(i).BigInt().Int64()
			}
		case *array.String:
			if name == "status" {
				s.Notes += int64(len(v.Value(i)))
			}
		}
	}
}
