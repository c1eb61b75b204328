package mongodb

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// fake is a server that a test plays itself, for answers that the stand-in does
// not give: documents that it does not store, and servers that it is not.
type fake struct {
	hello     bson.D // what it adds to its greeting
	options   bson.D // of its one collection
	kind      string // of its one collection; "" is a collection
	documents []bson.Raw

	mu  sync.Mutex
	saw []bson.Raw // the commands that are no greetings
}

// start listens until the test ends, and returns a server whose collection
// "docs" is the fake's.
func (f *fake) start(t *testing.T) *server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	var open sync.Map
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Store(conn, true)
			running.Go(func() {
				defer conn.Close()
				for f.answer(conn) == nil { //nolint:revive // until the client leaves
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		open.Range(func(conn, _ any) bool { _ = conn.(net.Conn).Close(); return true })
		running.Wait()
	})
	return &server{url: mustURL(t, "mongodb://"+listener.Addr().String()+"/shop?directConnection=true")}
}

const (
	opMessage = 2013
	opQuery   = 2004 // of a first greeting
	opReply   = 1
)

// answer reads one message and answers it.
func (f *fake) answer(conn net.Conn) error {
	var header [16]byte
	if _, err := io.ReadFull(conn, header[:]); err != nil {
		return err
	}
	body := make([]byte, binary.LittleEndian.Uint32(header[:])-16)
	if _, err := io.ReadFull(conn, body); err != nil {
		return err
	}
	id, code := binary.LittleEndian.Uint32(header[4:]), binary.LittleEndian.Uint32(header[12:])
	var reply, answer []byte
	switch code {
	case opMessage: // flags, a section of kind 0, the command
		answer = f.reply(bson.Raw(body[5:]))
		reply = append(make([]byte, 5), answer...)
	case opQuery:
		answer = f.reply(nil)
		reply = binary.LittleEndian.AppendUint32(make([]byte, 16), 1)
		reply = append(reply, answer...)
	default:
		return errors.New("not a message that is known")
	}
	out := binary.LittleEndian.AppendUint32(nil, uint32(16+len(reply)))
	out = binary.LittleEndian.AppendUint32(out, 1)
	out = binary.LittleEndian.AppendUint32(out, id)
	if code == opQuery {
		out = binary.LittleEndian.AppendUint32(out, opReply)
	} else {
		out = binary.LittleEndian.AppendUint32(out, opMessage)
	}
	_, err := conn.Write(append(out, reply...))
	return err
}

// reply is the answer to a command; a nil one is a greeting.
func (f *fake) reply(command bson.Raw) []byte {
	name := "hello"
	if command != nil {
		name = command.Index(0).Key()
	}
	cursor := func(batch any) bson.D {
		return bson.D{{Key: "cursor", Value: bson.D{{Key: "id", Value: int64(0)}, {Key: "ns", Value: "shop.docs"}, {Key: "firstBatch", Value: batch}, {Key: "atClusterTime", Value: bson.Timestamp{T: 7, I: 1}}}}}
	}
	var answer bson.D
	switch name {
	case "hello", "isMaster", "ismaster":
		answer = append(bson.D{{Key: "isWritablePrimary", Value: true}, {Key: "ismaster", Value: true}, {Key: "helloOk", Value: true}, {Key: "maxBsonObjectSize", Value: 16 << 20}, {Key: "maxMessageSizeBytes", Value: 48000000},
			{Key: "maxWriteBatchSize", Value: 100000}, {Key: "logicalSessionTimeoutMinutes", Value: 30}, {Key: "minWireVersion", Value: 0}}, f.hello...)
	default:
		f.mu.Lock()
		f.saw = append(f.saw, command)
		f.mu.Unlock()
	}
	switch name {
	case "listCollections":
		kind := f.kind
		if kind == "" {
			kind = "collection"
		}
		answer = cursor(bson.A{bson.D{{Key: "name", Value: "docs"}, {Key: "type", Value: kind}, {Key: "options", Value: append(bson.D{}, f.options...)}}})
	case "find":
		answer = cursor(append([]bson.Raw{}, f.documents...))
	case "collStats":
		answer = bson.D{{Key: "count", Value: int64(len(f.documents))}, {Key: "size", Value: int64(0)}}
	}
	b, err := bson.Marshal(append(answer, bson.E{Key: "ok", Value: 1.0}))
	if err != nil {
		panic(err)
	}
	return b
}

// last is the last command that is no greeting.
func (f *fake) last() bson.Raw {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.saw[len(f.saw)-1]
}

// replicaSet and others are greetings of servers of that kind.
var (
	replicaSet = bson.D{{Key: "setName", Value: "rs0"}, {Key: "maxWireVersion", Value: 21}}
	standalone = bson.D{{Key: "maxWireVersion", Value: 21}}
	router     = bson.D{{Key: "msg", Value: "isdbgrid"}, {Key: "maxWireVersion", Value: 21}}
	older      = bson.D{{Key: "maxWireVersion", Value: 9}}
)
