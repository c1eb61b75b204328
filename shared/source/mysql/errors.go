package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	mysqldriver "github.com/go-sql-driver/mysql"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/source/failure"
	"github.com/lapstrake/lapstrake/shared/source/mysql/packet"
)

// explain turns a failure of the client library or the server into one with a
// class and a code. A failure that has a code already is left as it is.
func (s *session) explain(ctx context.Context, err error, what string) error {
	scene := s.scene(what)
	if explained, known := scene.Known(ctx, err); known {
		return explained
	}
	if number, message, answered := answerOf(err); answered {
		return scene.Answered(classify(number), message, fmt.Sprintf("error %d", number))
	}
	var broken packet.BrokenError
	if errors.As(err, &broken) {
		return fault.New(fault.Retryable, failure.Stream, "%s on %s: %s; nothing of the range counts", what, s.target, broken)
	}
	for _, plugin := range []error{mysqldriver.ErrCleartextPassword, mysqldriver.ErrOldPassword, mysqldriver.ErrNativePassword, mysqldriver.ErrUnknownPlugin} {
		if errors.Is(err, plugin) {
			return fault.New(fault.Permanent, failure.Auth, "%s: the user of %s signs in by a plugin that is not supported: use caching_sha2_password, mysql_native_password or ed25519", what, s.target)
		}
	}
	reason := ""
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysqldriver.ErrInvalidConn) {
		reason = "it was broken"
	}
	return scene.Connection(err, errors.Is(err, packet.ErrNoTLS), reason)
}

// answerOf is an error that the server answered, whoever read it.
func answerOf(err error) (number uint16, message string, answered bool) {
	var toLibrary *mysqldriver.MySQLError
	var toRead *packet.ServerError
	switch {
	case errors.As(err, &toLibrary):
		return toLibrary.Number, toLibrary.Message, true
	case errors.As(err, &toRead):
		return toRead.Number, toRead.Message, true
	}
	return 0, "", false
}

func (s *session) scene(what string) failure.Scene {
	return failure.Scene{What: what, Target: s.target, Password: s.target.password}
}

const changedAdvice = "It was changed while it was read: the same read sees it as it is now"

// causes are by the server's error number. Numbers that MySQL and MariaDB give
// different meanings have none here.
var causes = map[uint16]failure.Cause{
	1040: {Class: fault.Retryable, Code: failure.Overloaded, Advice: "Fewer workers at a time need fewer connections"}, // too many connections
	1203: {Class: fault.Retryable, Code: failure.Overloaded, Advice: "Fewer workers at a time need fewer connections"},
	1226: {Class: fault.Retryable, Code: failure.Overloaded},
	1041: {Class: fault.Retryable, Code: failure.Overloaded}, // out of memory
	1037: {Class: fault.Retryable, Code: failure.Overloaded},
	1021: {Class: fault.Retryable, Code: failure.Overloaded},  // disk full
	1053: {Class: fault.Retryable, Code: failure.Unreachable}, // server shutdown
	1077: {Class: fault.Retryable, Code: failure.Unreachable},
	1152: {Class: fault.Retryable, Code: failure.Unreachable},
	1158: {Class: fault.Retryable, Code: failure.Unreachable}, 1159: {Class: fault.Retryable, Code: failure.Unreachable},
	1160: {Class: fault.Retryable, Code: failure.Unreachable}, 1161: {Class: fault.Retryable, Code: failure.Unreachable},
	1927: {Class: fault.Retryable, Code: failure.Unreachable}, // connection was killed
	1317: {Class: fault.Retryable, Code: failure.Conflict},    // query was interrupted
	1205: {Class: fault.Retryable, Code: failure.LockTimeout},
	1213: {Class: fault.Retryable, Code: failure.Conflict},
	1412: {Class: fault.Retryable, Code: failure.Conflict, Advice: changedAdvice},
	1969: {Class: fault.Permanent, Code: failure.Timeout, Advice: timeoutAdvice}, // max_statement_time
	3024: {Class: fault.Permanent, Code: failure.Timeout, Advice: timeoutAdvice}, // max_execution_time
	1045: {Class: fault.Permanent, Code: failure.Auth, Advice: "Check user, password and the hosts that the user may come from"},
	1130: {Class: fault.Permanent, Code: failure.Auth, Advice: "The user may not come from this host"},
	1698: {Class: fault.Permanent, Code: failure.Auth},
	1251: {Class: fault.Permanent, Code: failure.Auth},
	1820: {Class: fault.Permanent, Code: failure.Auth, Advice: "The password has expired"},
	1862: {Class: fault.Permanent, Code: failure.Auth, Advice: "The password has expired"},
	3118: {Class: fault.Permanent, Code: failure.Auth, Advice: "The account is locked"},
	4151: {Class: fault.Permanent, Code: failure.Auth, Advice: "The account is locked"},
	3159: {Class: fault.Permanent, Code: failure.TLS, Advice: "The server asks for TLS: add source.tls"},
	1044: {Class: fault.Permanent, Code: failure.Permission, Advice: "The source's user needs SELECT on what is read"},
	1142: {Class: fault.Permanent, Code: failure.Permission, Advice: "The source's user needs SELECT on every column that is read; a query: can list those that it may read"},
	1143: {Class: fault.Permanent, Code: failure.Permission, Advice: "The source's user needs SELECT on every column that is read; a query: can list those that it may read"},
	1227: {Class: fault.Permanent, Code: failure.Permission},
	1370: {Class: fault.Permanent, Code: failure.Permission},
	1345: {Class: fault.Permanent, Code: failure.Permission},
	1356: {Class: fault.Permanent, Code: failure.Permission, Advice: "A view refers to what is not there, or its definer may not read it"},
	1049: {Class: fault.Permanent, Code: failure.Database},
	1146: {Class: fault.Permanent, Code: failure.TableMissing},
	1051: {Class: fault.Permanent, Code: failure.TableMissing},
	1054: {Class: fault.Permanent, Code: failure.ColumnMissing},
	1792: {Class: fault.Permanent, Code: failure.Writes, Advice: "An export reads only: nothing was changed"},
	1290: {Class: fault.Permanent, Code: failure.Writes},
	1033: {Class: fault.Permanent, Code: failure.Corrupted}, 1034: {Class: fault.Permanent, Code: failure.Corrupted},
	1035: {Class: fault.Permanent, Code: failure.Corrupted}, 126: {Class: fault.Permanent, Code: failure.Corrupted},
	1194: {Class: fault.Permanent, Code: failure.Corrupted}, 1195: {Class: fault.Permanent, Code: failure.Corrupted},
	1712: {Class: fault.Permanent, Code: failure.Corrupted}, 1877: {Class: fault.Permanent, Code: failure.Corrupted},
	1064: {Class: fault.Permanent, Code: failure.Query},
	1052: {Class: fault.Permanent, Code: failure.Query}, 1055: {Class: fault.Permanent, Code: failure.Query}, 1056: {Class: fault.Permanent, Code: failure.Query},
	1060: {Class: fault.Permanent, Code: failure.Query, Advice: "Two columns of the query have one name: give one of them another with AS"},
	1111: {Class: fault.Permanent, Code: failure.Query}, 1140: {Class: fault.Permanent, Code: failure.Query}, 1104: {Class: fault.Permanent, Code: failure.Query},
	1222: {Class: fault.Permanent, Code: failure.Query}, 1235: {Class: fault.Permanent, Code: failure.Query}, 1248: {Class: fault.Permanent, Code: failure.Query},
	1241: {Class: fault.Permanent, Code: failure.Query}, 1242: {Class: fault.Permanent, Code: failure.Query}, 1267: {Class: fault.Permanent, Code: failure.Query},
	1271: {Class: fault.Permanent, Code: failure.Query}, 1305: {Class: fault.Permanent, Code: failure.Query}, 1318: {Class: fault.Permanent, Code: failure.Query},
	1295: {Class: fault.Permanent, Code: failure.Query, Advice: "Only a SELECT is read"},
	1365: {Class: fault.Permanent, Code: failure.Query, HideText: true}, 1690: {Class: fault.Permanent, Code: failure.Query, HideText: true},
	1292: {Class: fault.Permanent, Code: failure.Query, HideText: true}, 1366: {Class: fault.Permanent, Code: failure.Query, HideText: true},
	1525: {Class: fault.Permanent, Code: failure.Query, HideText: true}, 3141: {Class: fault.Permanent, Code: failure.Query, HideText: true},
}

const timeoutAdvice = "The same read would take as long again: use smaller chunks or a higher tuning.statement_timeout_s"

func classify(number uint16) failure.Cause {
	if c, ok := causes[number]; ok {
		return c
	}
	return failure.Cause{Class: fault.Retryable, Code: failure.Server}
}
