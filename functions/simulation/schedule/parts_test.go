package schedule

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// rowsOf reads a part as a loader does.
func rowsOf(key string, body []byte) ([]row, error) {
	if strings.HasSuffix(key, ".parquet") {
		return rowsOfParquet(body)
	}
	var rows []row
	for i, line := range strings.Split(strings.TrimSuffix(string(body), "\n"), "\n") {
		if i == 0 {
			continue
		}
		id, version, ok := strings.Cut(line, ",")
		if !ok {
			return nil, fmt.Errorf("line %q", line)
		}
		x := row{null: id == ""}
		var err error
		if !x.null {
			if x.key, err = strconv.ParseInt(id, 10, 64); err != nil {
				return nil, err
			}
		}
		if x.version, err = strconv.ParseInt(version, 10, 64); err != nil {
			return nil, err
		}
		rows = append(rows, x)
	}
	return rows, nil
}

func rowsOfParquet(body []byte) ([]row, error) {
	f, err := file.NewParquetReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	t, err := r.ReadTable(context.Background())
	if err != nil {
		return nil, err
	}
	defer t.Release()
	var rows []row
	for c := range t.NumCols() {
		at := 0
		for _, chunk := range t.Column(int(c)).Data().Chunks() {
			values := chunk.(*array.Int64)
			for i := range values.Len() {
				if c == 0 {
					rows = append(rows, row{null: values.IsNull(i)})
				}
				switch {
				case c == 0 && !values.IsNull(i):
					rows[at].key = values.Value(i)
				case c == 1:
					rows[at].version = values.Value(i)
				}
				at++
			}
		}
	}
	return rows, nil
}
