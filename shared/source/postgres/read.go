package postgres

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/rowtype"
	"github.com/lapstrake/lapstrake/shared/source"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
)

// Read implements [source.Source]. ctx bounds the opening only; afterwards the
// context of each Next does.
//
// Both ends of the hand-over to the reader hold one batch, so at most two are
// in memory. While the caller does not come for the next one, the server waits
// (OPS-02); tuning.statement_timeout_s counts that time too.
func (s *Source) Read(ctx context.Context, spec source.ReadSpec) (source.Reader, error) {
	if err := s.idle(); err != nil {
		return nil, err
	}
	what := "read " + label(spec.Relation)
	wanted := reached{from: spec.NotBefore}
	for attempt := 1; ; attempt++ {
		if err := s.session.begin(ctx); err != nil {
			return nil, err
		}
		r, err := s.prepare(ctx, spec, &wanted)
		if err == nil {
			s.reading = r
			r.start(ctx)
			return r, nil
		}
		s.session.end(ctx)
		if err != errMoved {
			return nil, s.session.explain(ctx, err, what)
		}
		if attempt == movedAttempts {
			return nil, movedTooOften(what)
		}
	}
}

// idle refuses a call while a reader has the connection.
func (s *Source) idle() error {
	if s.reading != nil && !s.reading.closed {
		return fault.New(fault.Bug, "LAPSTRAKE_INTERNAL_SOURCE_BUSY", "the source is asked for something while a reader of it is open")
	}
	return nil
}

// prepare does everything before the first row, in the transaction whose
// snapshot the rows are read under.
func (s *Source) prepare(ctx context.Context, spec source.ReadSpec, wanted *reached) (*reader, error) {
	position, err := s.session.position(ctx)
	if err != nil {
		return nil, err
	}
	if err := wanted.by(position); err != nil {
		return nil, err
	}
	r, err := s.session.find(ctx, spec.Relation)
	if err != nil {
		return nil, err
	}
	columns, err := s.session.columns(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := driftFrom(spec.Columns, r, columns); err != nil {
		return nil, err
	}
	key, err := keyOf(r, spec.Key, columns)
	if err != nil {
		return nil, err
	}
	if err := s.session.hold(ctx, r, columns); err != nil {
		return nil, err
	}
	plan := planKey(key, columns)
	within, err := windowOf(spec.Window, r, columns)
	if err != nil {
		return nil, err
	}
	predicate, err := where(spec.Range, key, within)
	if err != nil {
		return nil, err
	}
	list := make([]string, 0, len(columns)+len(plan.Hidden))
	for _, c := range columns {
		list = append(list, c.selected())
	}
	marks := within.marks()
	list = append(append(list, plan.Hidden...), marks...)
	statement := "select " + strings.Join(list, ", ") + " from " + r.from() + predicate
	if spec.Ordered && len(key) > 0 {
		statement += orderBy(key)
	}
	if err := s.session.settle(ctx, r, statement); err != nil {
		return nil, err
	}
	rd := newReader(s, r, spec, columns, plan, len(marks), statement, position.String())
	rd.atTo = within != nil && len(within.key) > 0
	return rd, nil
}

// newReader makes a reader of statement whose stream has not been asked for.
func newReader(s *Source, r relation, spec source.ReadSpec, columns []column, plan rowkey.Plan, marks int, statement, position string) *reader {
	rd := &reader{
		source: s, relation: r, columns: columns, key: plan, position: position,
		statement: "copy (" + statement + ") to stdout (format binary)",
		cuttable:  plan.Cuttable(spec), spec: spec, marks: marks,
		filled: make(chan *buffer), free: make(chan *buffer, 2), stopped: make(chan struct{}),
	}
	hidden := slices.Repeat([]rowtype.Column{{Type: rowtype.Type{Kind: rowtype.Text}}}, len(plan.Hidden)+marks)
	for range 2 {
		rd.free <- newBuffer(spec.Columns, hidden)
	}
	rd.decoder = decoder{layout: layoutOf(columns, len(hidden), spec.MaxValueBytes), full: rd.handOver}
	rd.decoder.batchRows, rd.decoder.batchSize = spec.Batch()
	return rd
}

// layoutOf is how the selected columns come over the wire; hidden key columns
// follow them, as text.
func layoutOf(columns []column, hidden int, limit int64) layout {
	if limit <= 0 {
		limit = math.MaxInt64
	}
	l := layout{limit: limit}
	add := func(w wire, elem arrayLayout, t rowtype.Type) {
		l.wires, l.elems = append(l.wires, w), append(l.elems, elem)
		l.fixed += rowbatch.FixedSize(t)
	}
	for _, c := range columns {
		w, elem := wireOf(c.postgres, c.sent(), c.Type), arrayLayout{}
		if w == wireArray {
			elem = arrayLayout{wire: wireOf(*c.postgres.Elem, "", *c.Type.Elem), oid: c.elem}
		}
		add(w, elem, c.Type)
	}
	for range hidden {
		add(wireText, arrayLayout{}, rowtype.Type{Kind: rowtype.Text})
	}
	return l
}

// maxMessage is the longest row that the client library may take into memory:
// a row of several values at the limit passes, one of many does not.
func (r *reader) maxMessage() int {
	const most = 1<<31 - 1
	limit := r.decoder.limit
	if limit > most/4 {
		return 0
	}
	varying := int64(0)
	for _, w := range r.decoder.wires {
		if w <= lastVarying {
			varying++
		}
	}
	return int(min(most, min(max(varying, 1), 4)*limit+64<<10+64*int64(len(r.decoder.wires))))
}
