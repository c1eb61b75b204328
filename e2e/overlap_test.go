package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/lapstrake/lapstrake/shared/fault"
)

var (
	killSeed   = flag.Uint64("kill-seed", 1, "the seed of the random kills")
	killRounds = flag.Int("kill-rounds", 20, "how many rounds of random kills there are")
)

// Two processes run one export at the same moment. The one that comes second is
// told so, and a reader finds one of them, whole.
func TestTwoRunsOfOneExportAtTheSameMoment(t *testing.T) {
	c := needContest(t)
	for _, round := range []int{1, 2, 3} {
		t.Run(fmt.Sprintf("reject, round %d", round), func(t *testing.T) {
			t.Parallel()
			x := contest(t, c, fmt.Sprintf("reject %d", round))
			both := x.together(t, "run")
			refused, delivered := both[0], both[1]
			if refused.code == 0 {
				refused, delivered = delivered, refused
			}
			if delivered.code != 0 || refused.code != fault.ExitRetryable || !strings.Contains(refused.stderr, "LAPSTRAKE_RUN_ACTIVE") {
				t.Errorf("want one that is refused and one that delivers: %s\n%s", refused, delivered)
			}
			if x.wantNewest(t); len(x.sidecars(t)) != 1 {
				t.Errorf("sidecars %q", x.sidecars(t))
			}
		})
		t.Run(fmt.Sprintf("supersede, round %d", round), func(t *testing.T) {
			t.Parallel()
			x := contest(t, c, fmt.Sprintf("supersede %d", round))
			both := x.together(t, "run", "--supersede")
			m, committed := x.judge(t)
			if m == nil || m.Generation != 2 {
				t.Fatalf("published is %+v", m)
			}
			x.wantNewest(t)
			for _, o := range both {
				if o.code != 0 && (o.code != fault.ExitRefused || len(committed) != 1) {
					t.Errorf("%d runs have committed, and one ends with %s", len(committed), o)
				}
			}
		})
	}
}

// together starts a command in two processes at the same moment. Neither
// commits before the other has ended or is about to commit too: one that loses
// the fence looks at it again, and what it finds then must not be a run that is
// already over.
func (x *contested) together(t *testing.T, verb ...string) [2]outcome {
	t.Helper()
	var processes [2]*process
	commits, ended := [2]chan struct{}{make(chan struct{}), make(chan struct{})}, [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	for i := range processes {
		store, _ := x.proxies(t)
		committing := false
		store.decide(func(r request) fate {
			if r.what != "PUT sidecar" || committing {
				return nil
			}
			committing = true
			return func(send func() *answer) *answer {
				close(commits[i])
				select {
				case <-commits[1-i]:
				case <-ended[1-i]:
				}
				return send()
			}
		})
		p := x.desk(t, store, nil).start(t, nil, x.command(verb...)...)
		go func() {
			<-p.done
			close(ended[i])
		}()
		processes[i] = p
	}
	both := [2]outcome{processes[0].wait(t), processes[1].wait(t)}
	select {
	case <-commits[0]:
	case <-commits[1]:
	default:
		t.Errorf("none came to its commit: %s\n%s", both[0], both[1])
	}
	return both
}

// Processes that run, take over and resume one export, one or two at a time, are
// killed or put to sleep in requests that a seed chooses; sleepers wake up some
// rounds later. A reader is never deceived, and in the end a run that is left
// alone delivers the table.
func TestProcessesAreKilledAndStoppedAtRandom(t *testing.T) {
	c := needContest(t)
	for i, mode := range append([]string{wholeTable}, newRows...) {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			x := contest(t, c, fmt.Sprintf("random %d", i))
			x.mode = mode
			x.killAndStop(t)
		})
	}
}

func (x *contested) killAndStop(t *testing.T) {
	rng := rand.New(rand.NewPCG(*killSeed, 0))
	killed, slept := 0, 0
	var asleep []*doomed
	for round := range *killRounds {
		if x.mode != wholeTable {
			x.grow(t, 1+rng.IntN(100))
		}
		var awake []*doomed
		if len(asleep) > 0 && rng.IntN(2) == 0 {
			i := rng.IntN(len(asleep))
			asleep[i].wakeUp()
			awake = append(awake, asleep[i])
			asleep = slices.Delete(asleep, i, i+1)
		}
		for range 1 + rng.IntN(2) {
			awake = append(awake, x.doom(t, rng))
		}
		for _, d := range awake {
			if d.fallsAsleep() {
				slept++
				asleep = append(asleep, d)
				continue
			}
			switch o := d.process.wait(t); o.code {
			case 0, fault.ExitGeneric, fault.ExitRetryable, fault.ExitRefused:
			case 128 + int(syscall.SIGKILL):
				killed++
			default:
				t.Errorf("seed %d, round %d: %s", *killSeed, round, o)
			}
		}
		x.judge(t)
	}
	if killed < *killRounds/5 || slept < *killRounds/8 {
		t.Errorf("%d processes were killed and %d slept in %d rounds: the test no longer tests anything", killed, slept, *killRounds)
	}
	for _, d := range asleep {
		d.wakeUp()
		d.process.wait(t)
		x.judge(t)
	}
	d := x.desk(t, nil, nil)
	d.must(t, x.command("run", "--supersede")...)
	x.wantNewest(t)
	d.must(t, "validate")
}

// doomed is a process that is killed or falls asleep in a request, if it comes
// to it.
type doomed struct {
	process *process
	sleep   *held // nil when it is to be killed, or has woken up
}

// doom starts a command on the export, and chooses its end.
func (x *contested) doom(t *testing.T, rng *rand.Rand) *doomed {
	t.Helper()
	verb := [][]string{{"run"}, {"run", "--supersede"}, {"run", "--supersede"}, {"resume"}}[rng.IntN(4)]
	store, table := x.proxies(t)
	at, limit := store, 55 // requests of a run
	if rng.IntN(2) == 0 {
		at, limit = table, 90
	}
	request, landed := countdown(1+rng.IntN(limit)), rng.IntN(2) == 0
	d := x.desk(t, store, table)
	// So short that a resume need not wait, and a slow worker loses its task.
	d.env["LAPSTRAKE_LEASE"], d.env["LAPSTRAKE_HEARTBEAT"], d.env["LAPSTRAKE_SWEEP"] = "600ms", "200ms", "200ms"
	if rng.IntN(3) == 0 {
		h := at.hold(request)
		return &doomed{process: d.start(t, nil, x.command(verb...)...), sleep: h}
	}
	victim := at.kill(request, landed)
	p := d.start(t, nil, x.command(verb...)...)
	victim <- p
	return &doomed{process: p}
}

// fallsAsleep returns when the process sleeps, or false when it is not to.
func (d *doomed) fallsAsleep() bool {
	if d.sleep == nil {
		return false
	}
	select {
	case <-d.sleep.arrived:
		_ = d.process.cmd.Process.Signal(syscall.SIGSTOP)
		return true
	case <-d.process.done:
		return false
	}
}

// wakeUp lets the request that the process fell asleep in come to the server,
// and the process see what became of the world.
func (d *doomed) wakeUp() {
	d.sleep.release()
	d.sleep = nil
	_ = d.process.cmd.Process.Signal(syscall.SIGCONT)
}

// countdown matches the n-th request, counting from 1.
func countdown(n int) func(request) bool {
	return func(request) bool {
		n--
		return n == 0
	}
}
