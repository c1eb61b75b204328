package chunk

import (
	"log/slog"

	"github.com/lapstrake/lapstrake/functions/dispatch"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/telemetry"
)

// observe counts what a completed chunk has delivered, once for the attempt that
// recorded it.
func (h *handler) observe(c runstate.Chunk) {
	h.count(telemetry.RowsRead, c.Rows)
	h.count(telemetry.PartBytes, c.Bytes)
	if !c.StartedAt.IsZero() {
		telemetry.Or(h.Observer).Duration(telemetry.ChunkSeconds, h.Clock.Now().Sub(c.StartedAt), h.export())
	}
	if c.SplitInto == "" {
		return
	}
	h.count(telemetry.Splits, 1)
	if c.SplitInto.SplitDepth() >= dispatch.MaxSplitDepth {
		h.count(telemetry.HandOffs, 1)
	}
}

func (h *handler) count(m telemetry.Metric, n int64) {
	telemetry.Or(h.Observer).Count(m, n, h.export())
}

func (h *handler) export() slog.Attr {
	return slog.String(telemetry.AttrExport, string(h.task.Run.Export))
}
