package taskqueue

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lapstrake/lapstrake/shared/fault"
)

// Limits of a message. They are those of the strictest queue, so that what one
// driver takes every driver takes.
const (
	BodyMostBytes    = 256 << 10
	DelayMostSeconds = 900
)

// Codes of what a driver refuses or reports.
const (
	CodeUnknownQueue  fault.Code = "LAPSTRAKE_RUN_QUEUE_UNKNOWN"
	CodeUnavailable   fault.Code = "LAPSTRAKE_RUN_QUEUE_UNAVAILABLE"
	CodeDenied        fault.Code = "LAPSTRAKE_RUN_QUEUE_DENIED"
	CodeTooLarge      fault.Code = "LAPSTRAKE_RUN_MESSAGE_TOO_LARGE"
	CodeInvalid       fault.Code = "LAPSTRAKE_RUN_MESSAGE_INVALID"
	CodeNoDeadLetters fault.Code = "LAPSTRAKE_RUN_QUEUE_NO_DEAD_LETTERS"
)

// Check refuses messages that no driver may store, naming the first (QUE-13).
// Every driver calls it before it stores anything.
func Check(queue string, messages []Message) error {
	for i, m := range messages {
		switch {
		case len(m.Body) > BodyMostBytes:
			return fault.New(fault.Permanent, CodeTooLarge,
				"message %d of %d for queue %q (export %q) has %d bytes, a queue takes at most %d: nothing was sent; put what is large into an object and send its key",
				i+1, len(messages), queue, m.Group, len(m.Body), BodyMostBytes)
		case len(m.Body) == 0 || !utf8.Valid(m.Body) || strings.IndexFunc(string(m.Body), unsendable) >= 0:
			return fault.New(fault.Bug, CodeInvalid,
				"message %d of %d for queue %q (export %q) is empty or has characters that a queue refuses: nothing was sent",
				i+1, len(messages), queue, m.Group)
		case m.DelaySeconds < 0 || m.DelaySeconds > DelayMostSeconds:
			return fault.New(fault.Bug, CodeInvalid,
				"message %d of %d for queue %q (export %q) has a delay of %d s, a queue takes 0 to %d: nothing was sent",
				i+1, len(messages), queue, m.Group, m.DelaySeconds, DelayMostSeconds)
		}
	}
	return nil
}

// unsendable reports the characters that are not of XML, which SQS refuses.
func unsendable(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
}

// UnknownQueue is the error for a queue that is not among the known ones.
func UnknownQueue(queue string, known []string) error {
	known = slices.Sorted(slices.Values(known))
	if len(known) == 0 {
		return fault.New(fault.Permanent, CodeUnknownQueue, "queue %q is not known: no queues are configured (LAPSTRAKE_QUEUE_URLS)", queue)
	}
	return fault.New(fault.Permanent, CodeUnknownQueue, "queue %q is not known, only %s: nothing was sent or received", queue, strings.Join(known, ", "))
}
