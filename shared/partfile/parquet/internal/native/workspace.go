package native

import (
	"reflect"
	"slices"

	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/codec"
	"github.com/lapstrake/lapstrake/shared/partfile/parquet/internal/layout"
	"github.com/lapstrake/lapstrake/shared/rowtype"
)

// workspace is what a part takes beside its bytes: the schema, the codecs, open
// pages, dictionaries and the pages of a row group. The next part of the task has
// it, too.
type workspace struct {
	kind        kind
	schema      *schema.Schema
	arrowSchema string
	columns     []*column
	scratch     scratch
}

// kind is what the parts have in common that can have one workspace.
type kind struct {
	columns     []rowtype.Column
	encoding    string
	compression string
	level       int
}

// newWorkspace returns that of an earlier part, in which nothing is left but
// memory, or a new one.
func newWorkspace(o partfile.Options, level int) (*workspace, error) {
	k := kind{slices.Clone(o.Columns), o.Encoding, o.Compression, level}
	if o.Memory != nil {
		if earlier, ok := o.Memory.Workspace.(*workspace); ok && reflect.DeepEqual(earlier.kind, k) {
			o.Memory.Workspace = nil
			earlier.restart()
			return earlier, nil
		}
		o.Memory.Release()
	}
	root, err := layout.Schema(o.Columns)
	if err != nil {
		return nil, err
	}
	s := &workspace{kind: k, schema: schema.NewSchema(root)}
	if s.arrowSchema, err = layout.ArrowSchema(o.Columns); err != nil {
		return nil, err
	}
	if s.scratch.text, s.scratch.light, err = codec.Pair(o.Compression, level); err != nil {
		return nil, err
	}
	for i, c := range o.Columns {
		s.columns = append(s.columns, newColumn(c, s.schema.Column(i).TypeLength(), o.Encoding == partfile.CompactEncoding))
	}
	return s, nil
}

// restart makes the workspace that of a new part.
func (s *workspace) restart() {
	s.scratch.arena.reset()
	for _, c := range s.columns {
		c.restart()
	}
}

// leave hands the workspace to the next part of the task, if there may be one.
func (s *workspace) leave(to *partfile.Memory) {
	if to != nil {
		to.Workspace = s
		return
	}
	s.Release()
}

// Release gives the codecs to the parts of other tasks.
func (s *workspace) Release() {
	s.scratch.text.Release()
	s.scratch.light.Release()
}
