package mongodb

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

// explain turns a failure of the client library or the server into one with a
// class and a code. A failure that has a code already is left as it is.
func (s *session) explain(ctx context.Context, err error, what string) error {
	scene := failure.Scene{What: what, Target: s.target, Password: s.target.password}
	if explained, known := scene.Known(ctx, err); known {
		return explained
	}
	var refused mongo.CommandError
	if errors.As(err, &refused) && refused.Code != 0 && !refused.HasErrorLabel("NetworkError") {
		return scene.Answered(classify(refused.Code), refused.Message, fmt.Sprintf("%s, code %d", refused.Name, refused.Code))
	}
	if strings.Contains(err.Error(), "auth error") { // the library has no type for it: the server refused to sign us in
		return fault.New(fault.Permanent, failure.Auth, "%s on %s: the server does not accept user and password. Check them, and authSource, the database that the user is kept in", what, s.target)
	}
	reason := ""
	if mongo.IsTimeout(err) {
		reason = "no answer in time"
	}
	return scene.Connection(err, false, reason)
}

// causes are by the server's error code.
var causes = map[int32]failure.Cause{
	18:    {Class: fault.Permanent, Code: failure.Auth, Advice: "Check user, password and authSource, the database that the user is kept in"},
	11:    {Class: fault.Permanent, Code: failure.Auth},
	13:    {Class: fault.Permanent, Code: failure.Permission, Advice: "The source's user needs the role read on the database"},
	31:    {Class: fault.Permanent, Code: failure.Permission},
	8000:  {Class: fault.Permanent, Code: failure.Permission}, // of MongoDB Atlas
	26:    {Class: fault.Permanent, Code: failure.TableMissing},
	73:    {Class: fault.Permanent, Code: failure.TableMissing},
	43:    {Class: fault.Retryable, Code: failure.Interrupted, Advice: "The server has closed the cursor: the range is read again"},
	6:     {Class: fault.Retryable, Code: failure.Unreachable},
	7:     {Class: fault.Retryable, Code: failure.Unreachable},
	89:    {Class: fault.Retryable, Code: failure.Unreachable},
	91:    {Class: fault.Retryable, Code: failure.Unreachable},
	9001:  {Class: fault.Retryable, Code: failure.Unreachable},
	134:   {Class: fault.Retryable, Code: failure.Unreachable},
	189:   {Class: fault.Retryable, Code: failure.Unreachable},
	262:   {Class: fault.Retryable, Code: failure.Timeout},
	10107: {Class: fault.Retryable, Code: failure.Unreachable},
	11600: {Class: fault.Retryable, Code: failure.Unreachable},
	11602: {Class: fault.Retryable, Code: failure.Unreachable},
	13435: {Class: fault.Retryable, Code: failure.Unreachable},
	13436: {Class: fault.Retryable, Code: failure.Unreachable},
	11601: {Class: fault.Retryable, Code: failure.Conflict}, // interrupted
	175:   {Class: fault.Retryable, Code: failure.Conflict, Advice: "The collection was dropped or renamed while it was read"},
	237:   {Class: fault.Retryable, Code: failure.Conflict}, // cursor killed
	112:   {Class: fault.Retryable, Code: failure.Conflict},
	50:    {Class: fault.Permanent, Code: failure.Timeout, Advice: "The same read would take as long again: use smaller chunks or a higher tuning.statement_timeout_s"},
	239:   {Class: fault.Permanent, Code: failure.Conflict, Advice: tooOldAdvice},
	246:   {Class: fault.Retryable, Code: failure.Conflict}, // no snapshot to read from yet
	292:   {Class: fault.Permanent, Code: failure.Query, Advice: "The server may not sort on its disk: a view is read in the order of _id"},
	146:   {Class: fault.Retryable, Code: failure.Overloaded},
	202:   {Class: fault.Retryable, Code: failure.Overloaded},
	462:   {Class: fault.Retryable, Code: failure.Overloaded},
	10334: {Class: fault.Permanent, Code: failure.TooLarge},
	17419: {Class: fault.Permanent, Code: failure.TooLarge},
	59:    {Class: fault.Permanent, Code: failure.Query},
	9:     {Class: fault.Permanent, Code: failure.Query},
	2:     {Class: fault.Permanent, Code: failure.Query, HideText: true},
	14:    {Class: fault.Permanent, Code: failure.Query, HideText: true},
	72:    {Class: fault.Permanent, Code: failure.Query},
	166:   {Class: fault.Permanent, Code: failure.Query},
}

// tooOldAdvice is for a run whose point in time the server has let go of.
const tooOldAdvice = "The server no longer has the point in time that all tasks of the run read at. Raise its parameter minSnapshotHistoryWindowInSeconds above the time that a run takes (it is 300), " +
	"or set source.mongo.read_concern: server, so that every task reads what is there when it comes; then start a new run"

func classify(code int32) failure.Cause {
	if c, ok := causes[code]; ok {
		return c
	}
	return failure.Cause{Class: fault.Retryable, Code: failure.Server}
}
