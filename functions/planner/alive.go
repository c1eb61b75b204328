package planner

import (
	"context"
	"sync"

	"github.com/lapstrake/lapstrake/shared/runstate"
)

// stayAlive extends the run's lease again and again while its planning goes on,
// where the settings ask for it, and ends with stop. A lease can be short then,
// and a planner that was killed is soon known to be dead. Liveness only: what
// may be written is decided by generations.
func (p *planner) stayAlive(ctx context.Context) (stop func()) {
	if p.Settings.Heartbeat <= 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	id, trigger := p.run.RunID, p.run.TriggerID
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-p.Clock.After(p.Settings.Heartbeat):
			}
			run, err := p.State.GetRun(ctx, id)
			if err == nil && (run.Status.Terminal() || run.TriggerID != trigger) {
				return // it has ended, or a resume has it
			}
			if err == nil {
				until := p.Clock.Now().Add(p.Settings.PlannerTimeout)
				_, err = p.State.NoteRun(ctx, id, runstate.Note{LeaseUntil: &until})
			}
			if err != nil && ctx.Err() == nil {
				p.log.Warn("the lease of the planning could not be extended; another planner may start", "error", err)
			}
		}
	})
	return func() { cancel(); wg.Wait() }
}
