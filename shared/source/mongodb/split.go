package mongodb

import (
	"context"
	"encoding/binary"
	"errors"
	"math/big"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/lapstrake/lapstrake/shared/keyspace"
	"github.com/lapstrake/lapstrake/shared/source"
)

const (
	// samplesPerRange makes the ranges about equal, and mostSamples bounds what
	// is sorted for it.
	samplesPerRange = 20
	mostSamples     = 50_000
)

// SplitPoints implements [source.Source]: the server draws documents at random
// and puts their ids in order. From a server that cannot, the ends of the
// collection are asked for, and what lies between two ids of one kind that has
// a middle is cut into equal parts.
func (s *Source) SplitPoints(ctx context.Context, rel source.Relation, key []keyspace.Column, w *keyspace.Window, n int) ([]keyspace.Key, error) {
	if err := s.idle(); err != nil {
		return nil, err
	}
	if w != nil {
		return nil, s.notHere("a window")
	}
	if n < 2 || len(key) != 1 || key[0].Name != idColumn {
		return nil, nil
	}
	err := s.session.wake(ctx)
	if err != nil {
		return nil, err
	}
	collection := s.session.client.Database(s.session.target.database).Collection(label(rel))
	ids, err := sample(ctx, collection, n)
	var refused mongo.CommandError
	if errors.As(err, &refused) && cannotSample[refused.Code] {
		ids, err = between(ctx, collection, n)
	}
	if err != nil {
		return nil, s.session.explain(ctx, err, "look for split points in collection "+label(rel))
	}
	return cuts(ids, n), nil
}

// cannotSample are the answers of servers that do not draw: no such command or
// stage, no room to sort, no end in time, only the same documents again.
var cannotSample = map[int32]bool{59: true, 115: true, 40324: true, 292: true, 50: true, 28799: true, 303: true}

// sample returns distinct ids in the server's order.
func sample(ctx context.Context, c *mongo.Collection, n int) ([]bson.RawValue, error) {
	size := min(int64(n)*samplesPerRange, mostSamples)
	cursor, err := c.Aggregate(ctx, bson.A{
		bson.D{{Key: "$sample", Value: bson.D{{Key: "size", Value: size}}}},
		bson.D{{Key: "$project", Value: bson.D{{Key: idColumn, Value: 1}}}},
		bson.D{{Key: "$sort", Value: bson.D{{Key: idColumn, Value: 1}}}},
	}, options.Aggregate().SetAllowDiskUse(true))
	if err != nil {
		return nil, err
	}
	var documents []bson.Raw
	if err := cursor.All(ctx, &documents); err != nil {
		return nil, err
	}
	var ids []bson.RawValue
	for _, d := range documents {
		id := d.Lookup(idColumn)
		if len(ids) == 0 || !id.Equal(ids[len(ids)-1]) { // a document can be drawn twice
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// between returns ids that cut the way from the least to the greatest into n
// parts; none if those are not both integers or both ObjectIds.
func between(ctx context.Context, c *mongo.Collection, n int) ([]bson.RawValue, error) {
	var ends [2]bson.RawValue
	for i, direction := range []int{1, -1} {
		d, err := c.FindOne(ctx, bson.D{}, options.FindOne().SetSort(bson.D{{Key: idColumn, Value: direction}}).SetHint(bson.D{{Key: idColumn, Value: 1}}).SetProjection(bson.D{{Key: idColumn, Value: 1}})).Raw()
		if errors.Is(err, mongo.ErrNoDocuments) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		ends[i] = d.Lookup(idColumn)
	}
	low, high := place(ends[0]), place(ends[1])
	if low == nil || high == nil || (ends[0].Type == bson.TypeObjectID) != (ends[1].Type == bson.TypeObjectID) {
		return nil, nil
	}
	var ids []bson.RawValue
	span, last := new(big.Int).Sub(high, low), low
	for i := 1; i < n; i++ {
		at := new(big.Int).Mul(span, big.NewInt(int64(i)))
		at.Add(low, at.Quo(at, big.NewInt(int64(n))))
		if at.Cmp(last) == 0 || at.Cmp(high) >= 0 {
			continue
		}
		ids, last = append(ids, at12or8(at, ends[0].Type == bson.TypeObjectID)), at
	}
	return ids, nil
}

// place is an id as a number in the order of its kind, nil for other kinds.
func place(id bson.RawValue) *big.Int {
	switch id.Type {
	case bson.TypeObjectID:
		return new(big.Int).SetBytes(id.Value)
	case bson.TypeInt32, bson.TypeInt64:
		return big.NewInt(id.AsInt64())
	}
	return nil
}

// at12or8 is the ObjectId or 64-bit integer at a place.
func at12or8(at *big.Int, objectID bool) bson.RawValue {
	if objectID {
		return bson.RawValue{Type: bson.TypeObjectID, Value: at.FillBytes(make([]byte, 12))}
	}
	return bson.RawValue{Type: bson.TypeInt64, Value: binary.LittleEndian.AppendUint64(nil, uint64(at.Int64()))}
}

// cuts are at most n-1 keys among ids, at equal distances.
func cuts(ids []bson.RawValue, n int) []keyspace.Key {
	var keys []keyspace.Key
	if len(ids) < n { // every one of them is a cut
		n = len(ids) + 1
	}
	for i := 1; i < n; i++ {
		at := i * len(ids) / n
		if len(ids) == n-1 {
			at = i - 1
		}
		if text, ok := keyOf(ids[at]); ok && !slices.ContainsFunc(keys, func(k keyspace.Key) bool { return k[0] == text }) {
			keys = append(keys, keyspace.Key{text})
		}
	}
	return keys
}
