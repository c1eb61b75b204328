package taskqueuetest

import (
	"bytes"
	"strings"

	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

func queuesApart(b *bench) {
	d := b.open(longVisibility)
	if err := d.Send(b.Context(), otherQueue, message("other")); err != nil {
		b.Fatal(err)
	}
	b.none(d, queueName, "the message is on another queue")
	if got := b.receive(d, otherQueue, 1, patience); len(got) != 1 || string(got[0].Body) != "other" {
		b.Fatalf("received %+v", got)
	}
}

func unknownQueue(b *bench) {
	d := b.open(longVisibility)
	_, receiveErr := d.Receive(b.Context(), "chunk-typo", 1, 0)
	for what, err := range map[string]error{
		"send":         d.Send(b.Context(), "chunk-typo", message("1")),
		"send nothing": d.Send(b.Context(), "chunk-typo"),
		"receive":      receiveErr,
		"ack":          d.Ack(b.Context(), taskqueue.Delivery{Queue: "chunk-typo", ID: "1", Receipt: "1"}),
		"nack":         d.Nack(b.Context(), taskqueue.Delivery{Queue: "chunk-typo", ID: "1", Receipt: "1"}, 0),
	} {
		if fault.CodeOf(err) != taskqueue.CodeUnknownQueue || !strings.Contains(err.Error(), `"chunk-typo"`) {
			b.Errorf("%s: error %v, want one that names the queue", what, err)
		}
	}
}

func refused(b *bench) {
	d := b.open(longVisibility)
	for _, tc := range []struct {
		name    string
		message taskqueue.Message
		code    fault.Code
	}{
		{"one byte too many", taskqueue.Message{Body: bytes.Repeat([]byte("x"), taskqueue.BodyMostBytes+1)}, taskqueue.CodeTooLarge},
		{"no body", taskqueue.Message{}, taskqueue.CodeInvalid},
		{"no UTF-8", taskqueue.Message{Body: []byte("\xff")}, taskqueue.CodeInvalid},
		{"a control character", taskqueue.Message{Body: []byte("a\x00b")}, taskqueue.CodeInvalid},
		{"a character that is none", taskqueue.Message{Body: []byte("\uFFFF")}, taskqueue.CodeInvalid},
		{"a delay of more than 15 minutes", taskqueue.Message{Body: []byte("1"), DelaySeconds: 901}, taskqueue.CodeInvalid},
		{"a negative delay", taskqueue.Message{Body: []byte("1"), DelaySeconds: -1}, taskqueue.CodeInvalid},
	} {
		// The refused message stands last and in another request of ten than the
		// first ones: still none of them is sent.
		var messages []taskqueue.Message
		for range 12 {
			messages = append(messages, message("good"))
		}
		err := d.Send(b.Context(), queueName, append(messages, tc.message)...)
		if fault.CodeOf(err) != tc.code {
			b.Errorf("%s: error %v, want code %s", tc.name, err, tc.code)
		}
		b.none(d, queueName, tc.name)
	}
}

func large(b *bench) {
	d := b.open(longVisibility)
	const n = 6 // together more than one request takes
	var messages []taskqueue.Message
	for i := range n {
		messages = append(messages, taskqueue.Message{Body: bytes.Repeat([]byte{'a' + byte(i)}, taskqueue.BodyMostBytes), Group: "orders"})
	}
	b.send(d, messages...)
	seen := map[byte]bool{}
	for len(seen) < n {
		got := b.next(d)
		if !bytes.Equal(got.Body, bytes.Repeat(got.Body[:1], taskqueue.BodyMostBytes)) {
			b.Fatalf("a body of %d bytes came back as %d other ones", taskqueue.BodyMostBytes, len(got.Body))
		}
		seen[got.Body[0]] = true
		b.ack(d, got)
	}
}

func groups(b *bench) {
	d := b.open(longVisibility)
	for _, group := range []string{"", "public.orders", "größe der bestellung", strings.Repeat("long", 100)} {
		b.send(d, taskqueue.Message{Body: []byte("1"), Group: group})
		b.ack(d, b.next(d))
	}
}
