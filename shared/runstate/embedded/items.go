package embedded

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/runstate"
	"github.com/lapstrake/lapstrake/shared/runstate/internal/transacted"
)

// Buckets and their keys. A NUL ends a name inside a key; an item is JSON.
var (
	metaBucket   = []byte("meta")
	runBucket    = []byte("runs")    // run
	exportBucket = []byte("exports") // export NUL run, no value
	activeBucket = []byte("active")  // run
	chunkBucket  = []byte("chunks")  // run NUL index of the planned task, task
	faninBucket  = []byte("fanin")   // run NUL shard

	buckets = [][]byte{metaBucket, runBucket, exportBucket, activeBucket, chunkBucket, faninBucket}
)

// under is the start of every key below name.
func under(name string) []byte { return append([]byte(name), 0) }

func exportKey(export contract.ExportName, run contract.RunID) []byte {
	return append(under(string(export)), run...)
}

// chunkKey sorts tasks by shard, whatever its size, and by id within one.
func chunkKey(run contract.RunID, task contract.TaskID) []byte {
	base, _ := task.Base()
	return append(baseKey(run, base), task...)
}

func baseKey(run contract.RunID, base int) []byte {
	return binary.BigEndian.AppendUint64(under(string(run)), uint64(base))
}

func faninKey(run contract.RunID, shard int) []byte {
	return binary.BigEndian.AppendUint64(under(string(run)), uint64(shard-runstate.RootShard))
}

// store is a transacted.Store over the file.
type store struct {
	db *bbolt.DB
	k  int
}

func (s store) View(fn func(transacted.Items) error) error {
	return s.db.View(func(tx *bbolt.Tx) error { return fn(items{tx, s.k}) })
}

func (s store) Update(fn func(transacted.Items) error) error {
	return s.db.Update(func(tx *bbolt.Tx) error { return fn(items{tx, s.k}) })
}

// items is one transaction.
type items struct {
	tx *bbolt.Tx
	k  int
}

func (i items) Run(id contract.RunID) (*runstate.Run, error) {
	return get[runstate.Run](i.tx, runBucket, []byte(id))
}

func (i items) PutRun(r runstate.Run) error {
	key := exportKey(r.Export, r.RunID)
	if i.tx.Bucket(exportBucket).Get(key) == nil {
		if err := i.tx.Bucket(exportBucket).Put(key, []byte{}); err != nil {
			return err
		}
	}
	return put(i.tx, runBucket, []byte(r.RunID), r)
}

func (i items) Runs(export contract.ExportName) ([]runstate.Run, error) {
	var list []runstate.Run
	prefix := under(string(export))
	err := scan(i.tx, exportBucket, prefix, func(key, _ []byte) error {
		r, err := i.Run(contract.RunID(key[len(prefix):]))
		if err == nil && r != nil {
			list = append(list, *r)
		}
		return err
	})
	return list, err
}

func (i items) Chunk(run contract.RunID, task contract.TaskID) (*runstate.Chunk, error) {
	return get[runstate.Chunk](i.tx, chunkBucket, chunkKey(run, task))
}

func (i items) PutChunk(c runstate.Chunk) error {
	return put(i.tx, chunkBucket, chunkKey(c.RunID, c.ID), c)
}

func (i items) Chunks(run contract.RunID, shard int) ([]runstate.Chunk, error) {
	list := []runstate.Chunk{}
	end := baseKey(run, (shard+1)*i.k)
	cursor := i.tx.Bucket(chunkBucket).Cursor()
	for key, value := cursor.Seek(baseKey(run, shard*i.k)); key != nil && bytes.Compare(key, end) < 0; key, value = cursor.Next() {
		c, err := decode[runstate.Chunk](key, value)
		if err != nil {
			return nil, err
		}
		list = append(list, *c)
	}
	return list, nil
}

func (i items) Fanin(run contract.RunID, shard int) (*runstate.Fanin, error) {
	return get[runstate.Fanin](i.tx, faninBucket, faninKey(run, shard))
}

func (i items) PutFanin(f runstate.Fanin) error {
	return put(i.tx, faninBucket, faninKey(f.RunID, f.Shard), f)
}

func (i items) Actives() ([]runstate.Active, error) {
	var list []runstate.Active
	err := scan(i.tx, activeBucket, nil, func(key, value []byte) error {
		a, err := decode[runstate.Active](key, value)
		if err == nil {
			list = append(list, *a)
		}
		return err
	})
	return list, err
}

func (i items) PutActive(a runstate.Active) error {
	return put(i.tx, activeBucket, []byte(a.RunID), a)
}

func (i items) DropActive(run contract.RunID) error {
	return i.tx.Bucket(activeBucket).Delete([]byte(run))
}

func get[Item any](tx *bbolt.Tx, bucket, key []byte) (*Item, error) {
	value := tx.Bucket(bucket).Get(key)
	if value == nil {
		return nil, nil
	}
	return decode[Item](key, value)
}

func decode[Item any](key, value []byte) (*Item, error) {
	item := new(Item)
	if err := json.Unmarshal(value, item); err != nil {
		return nil, fmt.Errorf("item %q of the state file: %w", key, err)
	}
	return item, nil
}

func put(tx *bbolt.Tx, bucket, key []byte, item any) error {
	value, err := json.Marshal(item)
	if err != nil {
		return err
	}
	return tx.Bucket(bucket).Put(key, value)
}

// scan calls fn for every key that starts with prefix, in order.
func scan(tx *bbolt.Tx, bucket, prefix []byte, fn func(key, value []byte) error) error {
	cursor := tx.Bucket(bucket).Cursor()
	for key, value := cursor.Seek(prefix); key != nil && bytes.HasPrefix(key, prefix); key, value = cursor.Next() {
		if err := fn(key, value); err != nil {
			return err
		}
	}
	return nil
}
