package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/commit"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/partfile"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/wiring"
)

// floor reads a table and throws it away. It returns the bytes that came.
func floor(ctx context.Context, at, table string) (int64, error) {
	if strings.HasPrefix(at, "mysql:") || strings.HasPrefix(at, "mariadb:") {
		return mariaDBFloor(ctx, at, table)
	}
	return postgresFloor(ctx, at, table)
}

// cost is what a piece of work has cost this process.
type cost struct {
	cpu           time.Duration
	bytes, allocs int64 // on the heap
}

func (c cost) minus(d cost) cost {
	return cost{max(c.cpu-d.cpu, 0), max(c.bytes-d.bytes, 0), max(c.allocs-d.allocs, 0)}
}

func costOf(do func() error) (cost, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begun := ownCPU()
	err := do()
	used := ownCPU() - begun
	runtime.ReadMemStats(&after)
	return cost{used, int64(after.TotalAlloc - before.TotalAlloc), int64(after.Mallocs - before.Mallocs)}, err
}

// pipeline is an export of one table, of which as much as is asked for is done.
type pipeline struct {
	local  *wiring.Local
	plan   chunkplan.Plan
	part   partfile.Part // the last one
	parts  int
	output int64
}

func open(ctx context.Context, config string) (*pipeline, error) {
	cfg, err := wiring.LoadConfigFile(config, nil)
	if err != nil {
		return nil, err
	}
	local, _, err := wiring.OpenLocal(ctx, cfg, wiring.LocalOptions{})
	if err != nil {
		return nil, err
	}
	plan, err := local.Preview(ctx, cfg.Exports[0])
	return &pipeline{local: local, plan: plan}, err
}

// read decodes every row and hands it to each, which may be nil.
func (p *pipeline) read(ctx context.Context, each func(partfile.Writer) error, compression string) error {
	src, err := p.local.Sources.Open(ctx, p.plan.Source)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close(context.WithoutCancel(ctx)) }()
	e := p.plan.Export
	r, err := src.Read(ctx, source.ReadSpec{
		Relation: source.Relation{Schema: p.plan.Schema, Name: p.plan.Table}, Columns: p.plan.Columns,
		Range: keyspace.Range{All: true}, BatchRows: e.BatchRows, BatchBytes: e.BatchBytes, MaxValueBytes: e.MaxValueBytes,
	})
	if err != nil {
		return err
	}
	defer func() { _ = r.Close(context.WithoutCancel(ctx)) }()
	var w partfile.Writer
	for {
		batch, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if each == nil {
			continue
		}
		if w == nil {
			if w, err = p.writer(compression); err != nil {
				return err
			}
		}
		if err := w.Append(batch); err != nil {
			return err
		}
		if w.Size() >= e.PartBytes {
			if err := each(w); err != nil {
				return err
			}
			w = nil
		}
	}
	if w == nil {
		return nil
	}
	return each(w)
}

func (p *pipeline) writer(compression string) (partfile.Writer, error) {
	e := p.plan.Export
	return p.local.Formats[e.Format].New(partfile.Options{
		Columns: p.plan.Columns, Compression: compression, Level: e.CompressionLevel, RowGroupRows: e.RowGroupRows, RowGroupBytes: e.RowGroupBytes,
		ExpectedBytes: e.PartBytes, Writer: e.ParquetWriter, Encoding: e.ParquetEncoding,
	})
}

// encode writes parts into memory and keeps the last one.
func (p *pipeline) encode(ctx context.Context, compression string) error {
	p.parts, p.output, p.part = 0, 0, partfile.Part{}
	return p.read(ctx, func(w partfile.Writer) (err error) {
		p.part, err = w.Close()
		p.parts++
		p.output += int64(len(p.part.Body))
		return err
	}, compression)
}

// seal and put do to the last part what is done to each, and return the cost of
// all.
func (p *pipeline) seal() (cost, error) {
	return p.scaled(func() error { partfile.Seal(p.part.Body, p.part.Rows); return nil })
}

func (p *pipeline) put(ctx context.Context, dir string) (cost, error) {
	folder, err := os.MkdirTemp(dir, "put")
	if err != nil {
		return cost{}, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	at, err := wiring.LocationOf(folder)
	if err != nil {
		return cost{}, err
	}
	store, err := p.local.Destinations.Open(ctx, at)
	if err != nil {
		return cost{}, err
	}
	spec := commit.PartSpec{Run: "bench", Task: contract.BaseTaskID(0), Naming: contract.PartNaming{Generation: 1, Plain: true, Ext: "parquet"}}
	return p.scaled(func() error {
		spec.Seq++
		_, err := commit.PutPart(ctx, store, spec, p.part)
		return err
	})
}

// scaled is the least of three costs of one part, for the bytes of all.
func (p *pipeline) scaled(do func() error) (cost, error) {
	var least cost
	for i := range 3 {
		c, err := costOf(do)
		if err != nil {
			return cost{}, err
		}
		if i == 0 || c.cpu < least.cpu {
			least = c
		}
	}
	if len(p.part.Body) == 0 {
		return cost{}, fmt.Errorf("there is no part")
	}
	f := float64(p.output) / float64(len(p.part.Body))
	return cost{time.Duration(float64(least.cpu) * f), int64(float64(least.bytes) * f), int64(float64(least.allocs) * f)}, nil
}
