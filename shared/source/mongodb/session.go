package mongodb

import (
	"context"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/lapstrake/lapstrake/shared/exportconfig"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/endpoint"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

// session is a client of the library, which makes connections as they are
// needed.
type session struct {
	cfg     exportconfig.Source
	resolve endpoint.Resolve
	monitor *event.CommandMonitor // sees what is sent; nil but in tests

	client  *mongo.Client
	target  target
	setName string // of the replica set, "" for none
	sharded bool   // a router of a sharded cluster answers
}

// oldestWire is the wire version of MongoDB 5.0: what reads a snapshot outside
// a transaction, and finds the bounds of an expression in an index.
const oldestWire = 13

// endTimeout bounds how long the end of something may take, also when the
// caller's own time is over.
const endTimeout = 2 * time.Second

// connect makes the client and asks the server who it is. After a refused
// password the secret is read once more, because it may have been rotated
// (SEC-08).
func (s *session) connect(ctx context.Context) error {
	return endpoint.SignIn(
		func() (target, error) { return targetOf(ctx, s.cfg, s.resolve) },
		func(t target) error { return s.connectTo(ctx, t) },
		func(a, b target) bool { return a.password == b.password && a.user == b.user },
		failure.Auth)
}

func (s *session) connectTo(ctx context.Context, t target) error {
	s.target = t
	if s.monitor != nil {
		t.options.SetMonitor(s.monitor)
	}
	client, err := mongo.Connect(t.options)
	if err != nil {
		return badURL("the client library refuses it")
	}
	s.client = client
	var hello struct {
		SetName string `bson:"setName"`
		Msg     string `bson:"msg"`
		Wire    int    `bson:"maxWireVersion"`
	}
	err = s.run(ctx, bson.D{{Key: "hello", Value: 1}}).Decode(&hello)
	if err == nil && hello.Wire < oldestWire {
		err = fault.New(fault.Permanent, "LAPSTRAKE_SOURCE_VERSION", "%s is older than MongoDB 5.0, which is needed", s.target)
	}
	if err != nil {
		err = s.explain(ctx, err, "connect")
		s.close(ctx)
		return err
	}
	s.setName, s.sharded = hello.SetName, hello.Msg == "isdbgrid"
	return nil
}

// run sends one command to the database.
func (s *session) run(ctx context.Context, command bson.D) *mongo.SingleResult {
	return s.client.Database(s.target.database).RunCommand(ctx, command, s.where())
}

// where sends commands to the member that the URL's read preference names.
func (s *session) where() *options.RunCmdOptionsBuilder {
	return options.RunCmd().SetReadPreference(s.target.options.ReadPreference)
}

// wake finds out whether the connection still works. One that died since it was
// last used, as it does while a function is frozen, is replaced (OPS-05): the
// library tries a ping again on another, and nothing else.
func (s *session) wake(ctx context.Context) error {
	err := s.client.Ping(ctx, s.target.options.ReadPreference)
	if err != nil && ctx.Err() == nil && mongo.IsNetworkError(err) {
		err = s.client.Ping(ctx, s.target.options.ReadPreference)
	}
	return s.explain(ctx, err, "reach the server")
}

// close ends the connections.
func (s *session) close(ctx context.Context) {
	if s.client == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	_ = s.client.Disconnect(ctx)
}

// moment is a cluster time as text, which orders nothing here.
func moment(t bson.Timestamp) string {
	return strconv.FormatUint(uint64(t.T), 10) + "." + strconv.FormatUint(uint64(t.I), 10)
}

func parseMoment(text string) (bson.Timestamp, bool) {
	seconds, increment, _ := strings.Cut(text, ".")
	t, errT := strconv.ParseUint(seconds, 10, 32)
	i, errI := strconv.ParseUint(increment, 10, 32)
	return bson.Timestamp{T: uint32(t), I: uint32(i)}, errT == nil && errI == nil
}
