package embedded

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/lapstrake/lapstrake/shared/runstate"
)

// expireLeases takes the time from every lease: an absent one has run out. The
// tokens stay.
func expireLeases(tx *bbolt.Tx) error {
	i := items{tx: tx}
	var runs []runstate.Run
	err := scan(tx, runBucket, nil, func(key, value []byte) error {
		r, err := decode[runstate.Run](key, value)
		if err == nil && !r.Status.Terminal() && !r.LeaseUntil.IsZero() {
			runs = append(runs, *r)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range runs {
		r.LeaseUntil = time.Time{}
		if err := i.PutRun(r); err != nil {
			return err
		}
	}
	var chunks []runstate.Chunk
	err = scan(tx, chunkBucket, nil, func(key, value []byte) error {
		// Most chunks are completed: a look at the bytes saves decoding them.
		if !bytes.Contains(value, []byte(runstate.ChunkRunning)) {
			return nil
		}
		c, err := decode[runstate.Chunk](key, value)
		if err == nil && c.Status == runstate.ChunkRunning {
			chunks = append(chunks, *c)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range chunks {
		c.LeaseUntil = time.Time{}
		if err := i.PutChunk(c); err != nil {
			return err
		}
	}
	return nil
}

// forget deletes the runs that ended before the given time, with all that
// belongs to them, so that the file does not grow for ever.
func forget(tx *bbolt.Tx, before time.Time) error {
	var old []runstate.Run
	err := scan(tx, runBucket, nil, func(key, value []byte) error {
		r, err := decode[runstate.Run](key, value)
		if err == nil && r.Status.Terminal() && r.FinishedAt.Before(before) {
			old = append(old, *r)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range old {
		err := errors.Join(
			deleteUnder(tx, chunkBucket, under(string(r.RunID))),
			deleteUnder(tx, faninBucket, under(string(r.RunID))),
			tx.Bucket(exportBucket).Delete(exportKey(r.Export, r.RunID)),
			tx.Bucket(activeBucket).Delete([]byte(r.RunID)),
			tx.Bucket(runBucket).Delete([]byte(r.RunID)),
		)
		if err != nil {
			return err
		}
	}
	return nil
}

func deleteUnder(tx *bbolt.Tx, bucket, prefix []byte) error {
	var keys [][]byte // a cursor must not delete while it moves
	err := scan(tx, bucket, prefix, func(key, _ []byte) error {
		keys = append(keys, slices.Clone(key))
		return nil
	})
	for _, key := range keys {
		err = errors.Join(err, tx.Bucket(bucket).Delete(key))
	}
	return err
}
