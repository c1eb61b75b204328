package chunk

import (
	"sync"

	"github.com/lapstrake/lapstrake/shared/chunkplan"
	"github.com/lapstrake/lapstrake/shared/contract"
)

// Plans keeps the last plan that a process has read, so that a worker that does
// many chunks of a run reads and decodes it once: the plan of a run of 10,000
// tasks is half a megabyte. A plan never changes, and its fingerprint names it,
// so one that is kept is as good as one that is read. A nil *Plans keeps
// nothing. It is safe for concurrent use.
type Plans struct {
	mu          sync.Mutex
	fingerprint contract.Fingerprint
	plan        chunkplan.Plan
}

// get returns the plan with that fingerprint, if it is the one that is kept.
func (p *Plans) get(f contract.Fingerprint) (chunkplan.Plan, bool) {
	if p == nil || f == "" {
		return chunkplan.Plan{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.plan, p.fingerprint == f
}

func (p *Plans) put(f contract.Fingerprint, plan chunkplan.Plan) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fingerprint, p.plan = f, plan
}
