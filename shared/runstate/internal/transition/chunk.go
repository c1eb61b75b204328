package transition

import (
	"time"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/runstate"
)

// NewChunk returns c as T3 stores it: pending, and nothing done.
func NewChunk(c runstate.Chunk) runstate.Chunk {
	created := Milli(c.CreatedAt)
	return runstate.Chunk{
		RunID: c.RunID, ID: c.ID, Status: runstate.ChunkPending, Gen: c.Gen, Range: c.Range, MaxAttempts: c.MaxAttempts,
		SplitOf: c.SplitOf, RepairOf: c.RepairOf, CreatedAt: created, ChangedAt: created,
	}
}

// PutChunk is T3.
func PutChunk(found *runstate.Chunk, c runstate.Chunk) (runstate.Chunk, error) {
	if found != nil {
		return chunkRefused(OpPutChunk, found)
	}
	return NewChunk(c), nil
}

// Claim is T6.
func Claim(found *runstate.Chunk, r runstate.ClaimRequest) (runstate.Chunk, error) {
	if found == nil || found.Gen != r.Gen || found.Attempts >= found.MaxAttempts || !claimable(*found, r.Now) {
		return chunkRefused(OpClaim, found)
	}
	c := *found
	c.Status, c.Attempts = runstate.ChunkRunning, c.Attempts+1
	c.LeaseToken, c.LeaseUntil, c.Worker = r.Token, Milli(r.LeaseUntil), r.Worker
	c.ChangedAt = Milli(r.Now)
	return c, nil
}

func claimable(c runstate.Chunk, now time.Time) bool {
	switch c.Status {
	case runstate.ChunkPending, runstate.ChunkFailed:
		return true
	case runstate.ChunkRunning:
		return expired(c.LeaseUntil, now)
	}
	return false
}

// held reports whether the attempt with the token works on the chunk.
func held(c *runstate.Chunk, token string) bool {
	return c != nil && c.Status == runstate.ChunkRunning && c.LeaseToken == token
}

// Heartbeat is T7.
func Heartbeat(found *runstate.Chunk, token string, until time.Time) (runstate.Chunk, error) {
	if !held(found, token) {
		return chunkRefused(OpHeartbeat, found)
	}
	c := *found
	c.LeaseUntil = Milli(until)
	return c, nil
}

// Complete is T8.
func Complete(found *runstate.Chunk, token string, result runstate.Result, now time.Time) (runstate.Chunk, error) {
	if !held(found, token) {
		return chunkRefused(OpComplete, found)
	}
	return completed(*found, result, now), nil
}

func completed(c runstate.Chunk, result runstate.Result, now time.Time) runstate.Chunk {
	result.StartedAt = Milli(result.StartedAt)
	c.Status, c.Result, c.Error, c.ChangedAt = runstate.ChunkCompleted, result, nil, Milli(now)
	return c
}

// Fail is T10.
func Fail(found *runstate.Chunk, token string, f fault.Failure, permanent bool, now time.Time) (runstate.Chunk, error) {
	if !held(found, token) {
		return chunkRefused(OpFail, found)
	}
	c := failed(*found, f, now)
	if permanent {
		c.Attempts = max(c.Attempts, c.MaxAttempts)
	}
	return c, nil
}

// Expire is T10b.
func Expire(found *runstate.Chunk, now time.Time) (runstate.Chunk, error) {
	if found == nil || found.Status != runstate.ChunkRunning || !expired(found.LeaseUntil, now) || found.Attempts < found.MaxAttempts {
		return chunkRefused(OpExpire, found)
	}
	return failed(*found, LeaseExpired(), now), nil
}

func failed(c runstate.Chunk, f fault.Failure, now time.Time) runstate.Chunk {
	c.Status, c.Error, c.ChangedAt = runstate.ChunkFailed, &f, Milli(now)
	return c
}

// ResumeChunk is T17c.
func ResumeChunk(found *runstate.Chunk, g contract.Generation, budget int, now time.Time) (runstate.Chunk, error) {
	if found == nil || found.Status == runstate.ChunkCompleted || found.Gen >= g {
		return chunkRefused(OpResumeChunk, found)
	}
	c := *found
	if c.Status == runstate.ChunkRunning {
		c.Status = runstate.ChunkFailed
	}
	c.Gen, c.MaxAttempts, c.ChangedAt = g, c.Attempts+budget, Milli(now)
	c.LeaseToken, c.LeaseUntil = "", time.Time{}
	return c, nil
}
