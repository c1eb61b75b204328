package taskqueuetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lapstrake/lapstrake/shared/taskqueue"
)

func sendMany(b *bench) {
	d := b.open(longVisibility)
	const n = 25 // more than two requests of ten
	want := map[string]bool{}
	var messages []taskqueue.Message
	for i := range n {
		body := fmt.Sprintf(`{"version":1,"task":"%06d","text":"é <&> \" \\ 漢 🙂"}`, i)
		want[body] = true
		messages = append(messages, message(body))
	}
	b.send(d, messages...)
	seen := map[string]bool{}
	for start := b.clock.Now(); len(seen) < n; {
		b.soon(start, patience, "the last message")
		for _, got := range b.receive(d, queueName, taskqueue.ReceiveMost, time.Second) {
			if !want[string(got.Body)] {
				b.Fatalf("received %q, which was not sent", got.Body)
			}
			if got.Queue != queueName || got.ID == "" || got.Receipt == "" || got.Receives < 1 {
				b.Fatalf("delivery is incomplete: %+v", got)
			}
			seen[string(got.Body)] = true
			b.ack(d, got)
		}
	}
	b.none(d, queueName, "all are dealt with")
}

func sendNothing(b *bench) {
	d := b.open(longVisibility)
	b.send(d)
	b.none(d, queueName, "nothing was sent")
}

func ackDeletes(b *bench) {
	d := b.open(visibility)
	b.send(d, message("1"))
	b.ack(d, b.next(d))
	if got := b.receive(d, queueName, 1, 2*visibility); len(got) > 0 {
		b.Fatalf("message came back: %+v", got[0])
	}
}

func redelivery(b *bench) {
	d := b.open(visibility)
	b.send(d, message("1"))
	start := b.clock.Now()
	first := b.next(d)
	b.none(d, queueName, "the only message is hidden")
	second := b.next(d)
	b.notBefore(start, visibility, "the message")
	b.soon(start, visibility+slack, "the message")
	if second.ID != first.ID || string(second.Body) != "1" || first.Receives != 1 || second.Receives != 2 {
		b.Fatalf("first delivery %+v, second %+v", first, second)
	}
	if second.Receipt == first.Receipt {
		b.Fatal("both deliveries have the same receipt")
	}
}

func delay(b *bench) {
	d := b.open(longVisibility)
	start := b.clock.Now()
	late := message("late")
	late.DelaySeconds = 2
	b.send(d, late, message("now"))
	if got := b.next(d); string(got.Body) != "now" {
		b.Fatalf("received %q first", got.Body)
	}
	if got := b.next(d); string(got.Body) != "late" {
		b.Fatalf("received %q, want the delayed message", got.Body)
	}
	b.notBefore(start, 2*time.Second, "the delayed message")
	b.soon(start, 2*time.Second+slack, "the delayed message")
}

func nackShorter(b *bench) {
	d := b.open(longVisibility)
	b.send(d, message("1"))
	got := b.next(d)
	start := b.clock.Now()
	b.nack(d, got, 2*time.Second)
	b.none(d, queueName, "the message is hidden for two seconds more")
	got = b.next(d)
	b.notBefore(start, 2*time.Second, "the message")
	b.soon(start, 2*time.Second+slack, "the message")
	start = b.clock.Now()
	b.nack(d, got, 0)
	if got = b.next(d); got.Receives != 3 {
		b.Errorf("third delivery counts %d", got.Receives)
	}
	b.soon(start, slack, "a message handed back for at once")
}

func nackLonger(b *bench) {
	d := b.open(visibility)
	b.send(d, message("1"))
	got := b.next(d)
	start := b.clock.Now()
	b.nack(d, got, 2*visibility)
	if second := b.next(d); second.ID != got.ID {
		b.Fatalf("received %+v", second)
	}
	b.notBefore(start, 2*visibility, "the message")
	b.soon(start, 2*visibility+slack, "the message")
}

func lateSettling(b *bench) {
	d := b.open(visibility)
	b.send(d, message("1"))
	first := b.next(d)
	second := b.next(d) // the first delivery's visibility time is over
	b.nack(d, first, visibility)
	b.ack(d, first)
	b.ack(d, second)
	b.ack(d, second)
	b.nack(d, second, 0)
	if got := b.receive(d, queueName, 1, 2*visibility); len(got) > 0 {
		b.Fatalf("message came back after its last delivery was acknowledged: %+v", got[0])
	}
}

func wakesUp(b *bench) {
	d := b.open(longVisibility)
	started := make(chan struct{})
	received := make(chan taskqueue.Delivery, 1)
	go func() {
		close(started)
		for b.Context().Err() == nil {
			got, err := d.Receive(b.Context(), queueName, 1, patience)
			if err != nil {
				b.Error(err)
				return
			}
			if len(got) > 0 {
				received <- got[0]
				return
			}
		}
	}()
	<-started
	<-b.clock.After(500 * time.Millisecond) // the receiver waits by now
	start := b.clock.Now()
	b.send(d, message("1"))
	if got := <-received; string(got.Body) != "1" {
		b.Fatalf("received %q", got.Body)
	}
	b.soon(start, slack, "the message")
}

func stops(b *bench) {
	d := b.open(longVisibility)
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() {
		_, err := d.Receive(ctx, queueName, 1, patience)
		done <- err
	}()
	<-b.clock.After(100 * time.Millisecond)
	start := b.clock.Now()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		b.Errorf("error %v, want the context's", err)
	}
	b.soon(start, slack, "the end")
}

func manyReceivers(b *bench) {
	d := b.open(longVisibility)
	const n = 60
	var messages []taskqueue.Message
	for i := range n {
		messages = append(messages, message(fmt.Sprint(i)))
	}
	b.send(d, messages...)
	var mu sync.Mutex
	seen := map[string]int{}
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	start := b.clock.Now()
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil && b.clock.Now().Sub(start) < patience {
				got, err := d.Receive(ctx, queueName, 3, 5*time.Second)
				if err != nil && ctx.Err() == nil {
					b.Error(err)
					cancel()
				}
				for _, one := range got {
					if err := d.Ack(b.Context(), one); err != nil {
						b.Error(err)
						cancel()
					}
					mu.Lock()
					if seen[string(one.Body)]++; len(seen) == n {
						cancel()
					}
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	cancel()
	if len(seen) != n {
		b.Fatalf("%d of %d messages received", len(seen), n)
	}
	for body, times := range seen {
		if times > 1 {
			b.Logf("message %s was delivered %d times: allowed, yet unexpected here", body, times)
		}
	}
}
