package wiring

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/config"
	awssqs "github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/lapstrake/lapstrake/shared/clock"
	"github.com/lapstrake/lapstrake/shared/contract"
	"github.com/lapstrake/lapstrake/shared/fault"
	"github.com/lapstrake/lapstrake/shared/taskqueue"
	"github.com/lapstrake/lapstrake/shared/taskqueue/sqs"
	"github.com/lapstrake/lapstrake/shared/wire"
)

// DeadLetters are the messages that the functions of a deployment gave up.
type DeadLetters struct {
	urls   map[string]string
	client *awssqs.Client
}

// Redriven says what was done with the dead letters of one queue.
type Redriven struct {
	Queue string `json:"queue"`
	// Moved are back on the queue, Kept are still dead letters.
	Moved int `json:"moved"`
	Kept  int `json:"kept"`
	// Runs are those that the dead letters belong to, moved or not.
	Runs []RedrivenRun `json:"runs"`
}

// RedrivenRun counts the dead letters of a run at one generation.
type RedrivenRun struct {
	RunID      contract.RunID      `json:"run_id"` // "" for those of no run, such as markers
	Generation contract.Generation `json:"generation"`
	Messages   int                 `json:"messages"`
}

// OpenDeadLetters finds the queues of a deployment by LAPSTRAKE_QUEUE_URLS.
func OpenDeadLetters(ctx context.Context, lookup func(string) (string, bool)) (*DeadLetters, error) {
	urls, err := queueURLs(lookup)
	if err != nil {
		return nil, err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, fault.Wrap(err, fault.Usage, "LAPSTRAKE_CONFIG_AWS", "read the AWS configuration")
	}
	return &DeadLetters{urls: urls, client: awssqs.NewFromConfig(cfg)}, nil
}

// Queues are the names of the queues.
func (d *DeadLetters) Queues() []string { return slices.Sorted(maps.Keys(d.urls)) }

// Redrive moves the dead letters of a queue that wanted asks for back to it.
// What it did is returned also with an error.
func (d *DeadLetters) Redrive(ctx context.Context, queue string, wanted func(run contract.RunID) bool) (Redriven, error) {
	done := Redriven{Queue: queue, Runs: []RedrivenRun{}}
	url, known := d.urls[queue]
	if !known {
		return done, taskqueue.UnknownQueue(queue, d.Queues())
	}
	deadURL, err := sqs.DeadLettersURL(ctx, d.client, queue, url)
	if err != nil {
		return done, err
	}
	dead := "dead letters of " + queue
	both := sqs.New(d.client, sqs.Options{
		URLs: map[string]string{queue: url, dead: deadURL}, Clock: clock.System{}, Random: IDs{}.Jitter,
	})
	of := make(map[RedrivenRun]int)
	counts, err := taskqueue.Redrive(ctx, both, dead, queue, func(l taskqueue.Delivery) bool {
		ref := runOf(l.Body)
		of[RedrivenRun{RunID: ref.RunID, Generation: ref.Generation}]++
		return wanted(ref.RunID)
	})
	done.Moved, done.Kept = counts.Moved, counts.Kept
	for r, n := range of {
		r.Messages = n
		done.Runs = append(done.Runs, r)
	}
	slices.SortFunc(done.Runs, func(a, b RedrivenRun) int {
		return cmp.Or(cmp.Compare(a.RunID, b.RunID), cmp.Compare(a.Generation, b.Generation))
	})
	return done, err
}

// runOf reads whose message a body is. It is lenient where the functions are
// strict: a message that no function can read is a dead letter as well.
func runOf(body []byte) wire.RunRef {
	var m struct {
		Run wire.RunRef `json:"run"`
	}
	if json.Unmarshal(body, &m) != nil {
		return wire.RunRef{}
	}
	return m.Run
}
