package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/rowbatch"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/mysql/packet"
	"github.com/lapstrake/lapstrake/shared/source/rowkey"
)

// explain says what ended the rows.
func (r *reader) explain(ctx context.Context, err error) error {
	var overlong *packet.TooLongError
	if errors.As(err, &overlong) {
		return fault.New(fault.Refused, failure.TooLarge, "%s: row %d of the range has more bytes than tuning.max_value_mb, %d bytes a value, lets it have: "+
			"nothing of the range was delivered. Raise tuning.max_value_mb with the function's memory, or leave the widest column out with a query:", r.relation, r.read+1, r.limit)
	}
	return r.source.session.explain(ctx, err, "read "+r.relation.String())
}

// refused names the value that ended the read. Its row is the last one of the
// batch, with NULL in the place of what was not delivered.
func (r *reader) refused(i int, err error) error {
	c := r.columns[i]
	place := fmt.Sprintf("%s, column %s (%s as %s), %s", r.relation, quoted(c.Name), c.Native, c.Type, r.place())
	find := func(where string) string {
		if where == "" {
			return ""
		}
		return " Find such rows with: where " + where + "."
	}
	var value *valueError
	switch {
	case errors.Is(err, errTooLarge):
		return fault.New(fault.Refused, failure.TooLarge, "%s: the value has more than the %d bytes that tuning.max_value_mb allows: "+
			"nothing of the range was delivered.%s Raise it with the function's memory, or leave the column out with a query:",
			place, r.limit, find(fmt.Sprintf("octet_length(%s) > %d", quoted(c.Name), r.limit)))
	case errors.As(err, &value):
		where := ""
		if value.where != "" {
			where = fmt.Sprintf(value.where, quoted(c.Name))
		}
		ways := "Correct the rows, leave them out with a query:, or set the column to text under columns:"
		if c.Type.IsText() || value.noText {
			ways = "Correct the rows, or leave them out with a query:"
		}
		return fault.New(fault.Refused, failure.Value, "%s: %s; it is not changed to fit, and nothing of the range was delivered.%s %s", place, value.why, find(where), ways)
	case errors.Is(err, rowbatch.ErrDecimalPrecision), errors.Is(err, rowbatch.ErrDecimalScale):
		return fault.New(fault.Refused, failure.Value, "%s: %v; it is not changed to fit, and nothing of the range was delivered. Set the column to a decimal(p,s) that holds it under columns:", place, err)
	}
	return fault.New(fault.Retryable, failure.Stream, "%s: %v", place, err)
}

// place is where the row at hand is: its number, and its key where the read has
// one.
func (r *reader) place() string {
	row := r.batch.Rows - 1
	place := fmt.Sprintf("row %d of the range", r.read)
	if len(r.key.Slots) == 0 {
		return place
	}
	values := r.key.At(rowkey.Rows{Batch: r.batch, Hidden: r.hidden}, row, valueText)
	parts := make([]string, len(values))
	for i, text := range values {
		const enough = 100
		if len(text) > enough {
			text = text[:enough] + "…"
		}
		parts[i] = fmt.Sprintf("%s = %q", quoted(r.spec.Key[i].Name), text)
	}
	return place + " (" + strings.Join(parts, ", ") + ")"
}
