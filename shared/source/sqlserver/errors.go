package sqlserver

import (
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/failure"
)

// explain turns a failure of the client library or the server into one with a
// class and a code. A failure that has a code already is left as it is.
func (s *session) explain(ctx context.Context, err error, what string) error {
	scene := s.scene(what)
	if explained, known := scene.Known(ctx, err); known {
		return explained
	}
	var refused mssql.Error
	if errors.As(err, &refused) {
		refused = telling(refused)
		return s.answered(what, refused.Number, refused.Message)
	}
	if _, why, found := strings.Cut(err.Error(), "failed to verify certificate: "); found { // the client library keeps the text alone
		err = &tls.CertificateVerificationError{Err: errors.New(why)}
	}
	reason := ""
	var stream mssql.StreamError
	switch {
	case errors.Is(err, driver.ErrBadConn):
		reason = "it was broken"
	case errors.As(err, &stream):
		reason = "its answer was cut off or garbled"
	}
	return scene.Connection(err, strings.Contains(err.Error(), "server does not support encryption"), reason)
}

// answered is an error of the server's own, by its number.
func (s *session) answered(what string, number int32, message string) error {
	return s.scene(what).Answered(classify(number), message, fmt.Sprintf("error %d", number))
}

// telling is the first of several errors that one statement had, of which the
// last often says only that something went wrong before.
func telling(e mssql.Error) mssql.Error {
	i := slices.IndexFunc(e.All, func(one mssql.Error) bool { _, known := causes[one.Number]; return known })
	if i >= 0 {
		return e.All[i]
	}
	return e
}

func (s *session) scene(what string) failure.Scene {
	return failure.Scene{What: what, Target: s.target, Password: s.target.password}
}

// is reports whether err is an answer of the server with one of these causes.
func is(err error, codes ...fault.Code) bool {
	var refused mssql.Error
	return errors.As(err, &refused) && slices.Contains(codes, classify(telling(refused).Number).Code)
}

var (
	overloaded  = failure.Cause{Class: fault.Retryable, Code: failure.Overloaded}
	unreachable = failure.Cause{Class: fault.Retryable, Code: failure.Unreachable}
	corrupted   = failure.Cause{Class: fault.Permanent, Code: failure.Corrupted}
	denied      = failure.Cause{Class: fault.Permanent, Code: failure.Permission, Advice: "The source's user needs SELECT on every column that is read; a query: can list those that it may read"}
	expired     = failure.Cause{Class: fault.Permanent, Code: failure.Auth, Advice: "The password has expired or has to be changed"}
	statement   = failure.Cause{Class: fault.Permanent, Code: failure.Query}
	conversion  = failure.Cause{Class: fault.Permanent, Code: failure.Query, HideText: true}
	changed     = failure.Cause{Class: fault.Retryable, Code: failure.Conflict, Advice: "It was changed while it was read: the same read sees it as it is now"}
)

// causes are by the server's error number.
var causes = map[int32]failure.Cause{
	701: overloaded, 802: overloaded, 1101: overloaded, 1105: overloaded, 3958: overloaded, 3966: overloaded, 3967: overloaded, 8645: overloaded, 8651: overloaded, 9002: overloaded,
	10928: overloaded, 10929: overloaded, 10936: overloaded, 17300: overloaded, 17809: overloaded, 40501: overloaded, 40544: overloaded, 49918: overloaded, 49919: overloaded, 49920: overloaded,
	596: unreachable, 904: unreachable, 922: unreachable, 976: unreachable, 983: unreachable, 3980: unreachable, 6002: unreachable, 6005: unreachable, 17142: unreachable, 17147: unreachable, 18401: unreachable,
	40143: unreachable, 40197: unreachable, 40540: unreachable, 40613: unreachable, 42108: unreachable, 42109: unreachable,
	601: changed, 1205: {Class: fault.Retryable, Code: failure.Conflict, Advice: "It gave way in a deadlock"}, 3960: changed, 3961: changed, 3957: changed,
	1222:  {Class: fault.Retryable, Code: failure.LockTimeout},
	3952:  {Class: fault.Permanent, Code: failure.Query, Advice: "It reads another database, which does not allow SNAPSHOT isolation: allow it there, or export from that database"},
	18456: {Class: fault.Permanent, Code: failure.Auth, Advice: "Check user and password"}, 18452: {Class: fault.Permanent, Code: failure.Auth},
	18470: {Class: fault.Permanent, Code: failure.Auth, Advice: "The account is disabled"}, 18486: {Class: fault.Permanent, Code: failure.Auth, Advice: "The account is locked"},
	18487: expired, 18488: expired,
	911: {Class: fault.Permanent, Code: failure.Database}, 4060: {Class: fault.Permanent, Code: failure.Database, Advice: "It is not there, or the user may not open it"},
	916: {Class: fault.Permanent, Code: failure.Permission}, 229: denied, 230: denied, 297: denied, 300: denied, 371: denied, 15562: denied,
	208: {Class: fault.Permanent, Code: failure.TableMissing}, 2812: statement, 207: {Class: fault.Permanent, Code: failure.ColumnMissing}, 4104: {Class: fault.Permanent, Code: failure.ColumnMissing},
	3906: {Class: fault.Permanent, Code: failure.Writes, Advice: "An export reads only: nothing was changed"},
	605:  corrupted, 823: corrupted, 824: corrupted, 825: corrupted, 829: corrupted, 5180: corrupted, 7105: corrupted,
	8155: {Class: fault.Permanent, Code: failure.Query, Advice: "A column of the query has no name: give it one with AS"},
	8156: {Class: fault.Permanent, Code: failure.Query, Advice: "Two columns of the query have one name: give one of them another with AS"},
	1033: {Class: fault.Permanent, Code: failure.Query, Advice: "ORDER BY has no meaning in a query that is read as a table: leave it out"},
	156:  {Class: fault.Permanent, Code: failure.Query, Advice: "The query is read as a table, in which WITH cannot stand: make a view of it"},
	102:  statement, 105: statement, 130: statement, 137: statement, 147: statement, 174: statement, 189: statement, 195: statement, 205: statement, 206: statement, 209: statement, 319: statement,
	402: statement, 468: statement, 457: statement, 512: statement, 529: statement, 8120: statement, 8117: statement, 11501: statement, 11509: statement, 11513: statement, 11514: statement, 11529: statement,
	220: conversion, 232: conversion, 235: conversion, 241: conversion, 242: conversion, 245: conversion, 248: conversion, 295: conversion, 517: conversion, 2628: conversion, 8114: conversion, 8115: conversion,
	8134: conversion, 8152: conversion, 8169: conversion, 9420: conversion, 13609: conversion,
}

func classify(number int32) failure.Cause {
	if c, ok := causes[number]; ok {
		return c
	}
	return failure.Cause{Class: fault.Retryable, Code: failure.Server}
}
