package flow

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"supervise/fleet/taskfile"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// machine is what the workflows of a test find behind the names of activities.
type machine struct {
	mu        sync.Mutex
	iterate   func(IterateInput) (Iteration, error)
	iterated  []string // candidate and iteration
	published []Choice
	dropped   int
	ends      []Iteration
}

// environment is one in which time passes as fast as nothing happens.
func environment(t *testing.T, m *machine) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(10 * time.Minute)
	// A workflow that gets no processor for a second is not in a deadlock.
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: 10 * time.Minute})
	for name, f := range map[string]any{FleetName: Fleet, TaskName: Task, CandidateName: Candidate} {
		env.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: name})
	}
	for name, f := range map[string]any{
		PrepareName: func(_ context.Context, p Place, _ taskfile.Task) (Prepared, error) {
			return Prepared{Place: p, Loop: "loop", Pack: "base"}, nil
		},
		IterateName: func(_ context.Context, in IterateInput) (Iteration, error) {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.iterated = append(m.iterated, fmt.Sprint(in.Candidate, "/", in.Iteration))
			return m.iterate(in)
		},
		ChooseName: func(_ context.Context, in ChooseInput) (Choice, error) {
			m.ends = in.Ends
			for i, e := range in.Ends {
				if e.Reason == "criterion_met" {
					return Choice{Candidate: i + 1, Text: "it did the task", Commit: "best"}, nil
				}
			}
			return Choice{Status: 4, Text: "no candidate did the task"}, nil
		},
		PublishName: func(_ context.Context, _ Place, c Choice) error {
			m.published = append(m.published, c)
			return nil
		},
		DropName: func(context.Context, Prepared, int) error {
			m.dropped++
			return nil
		},
	} {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	env.OnSignalExternalWorkflow("default-test-namespace", FleetID("night"), "", EndedSignal, "one").Return(nil).Maybe()
	return env
}

func input(task taskfile.Task) TaskInput {
	task.ID = "one"
	return TaskInput{Fleet: "night", Task: task}
}

// done is an iteration that ends a candidate's loop.
func done(n int) Iteration { return Iteration{Number: n, Over: true, Reason: "criterion_met"} }

// TestGate waits eight hours for a person, and publishes what he approves.
func TestGate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer    string
		timeout   time.Duration
		published int
		status    int
	}{
		{answer: "approve", published: 1},
		{answer: "reject", status: 3},
		{timeout: 7 * time.Hour, status: 3},
	} {
		m := &machine{iterate: func(in IterateInput) (Iteration, error) { return done(in.Iteration), nil }}
		env := environment(t, m)
		begun := env.Now()
		env.RegisterDelayedCallback(func() {
			if len(m.published) > 0 {
				t.Error("published before the answer")
			}
			if c.answer != "" {
				env.SignalWorkflow(AnswerSignal, Answer{Choice: c.answer, By: "ada"})
			}
		}, 8*time.Hour)
		env.ExecuteWorkflow(TaskName, input(taskfile.Task{Candidates: 2, Gate: true, GateTimeout: c.timeout}))
		var res Result
		if err := env.GetWorkflowResult(&res); err != nil {
			t.Fatal(err)
		}
		waited := env.Now().Sub(begun)
		if len(m.published) != c.published || res.Status != c.status || waited < 7*time.Hour || m.dropped != 1 {
			t.Errorf("%+v: published %v, %+v after %v, dropped %d times", c, m.published, res, waited, m.dropped)
		}
	}
}

// TestEnough ends the other candidates when one has done the task.
func TestEnough(t *testing.T) {
	t.Parallel()
	m := &machine{}
	m.iterate = func(in IterateInput) (Iteration, error) {
		if in.Candidate == 2 && in.Iteration == 2 {
			return done(2), nil
		}
		return Iteration{Number: in.Iteration}, nil
	}
	env := environment(t, m)
	env.ExecuteWorkflow(TaskName, input(taskfile.Task{Candidates: 3, StopWhen: 1}))
	var res Result
	if err := env.GetWorkflowResult(&res); err != nil {
		t.Fatal(err)
	}
	if res.Candidate != 2 || m.ends[0].Reason != EndedEarly || m.ends[2].Reason != EndedEarly || len(m.published) != 1 {
		t.Errorf("%+v of %+v", res, m.ends)
	}
}

// TestBroken continues with the others when no worker can iterate one, and reports what became
// of it.
func TestBroken(t *testing.T) {
	t.Parallel()
	m := &machine{}
	m.iterate = func(in IterateInput) (Iteration, error) {
		if in.Candidate == 1 {
			return Iteration{}, temporal.NewNonRetryableApplicationError("the disk is full", "final", nil)
		}
		return done(in.Iteration), nil
	}
	env := environment(t, m)
	env.ExecuteWorkflow(TaskName, input(taskfile.Task{Candidates: 2}))
	var res Result
	if err := env.GetWorkflowResult(&res); err != nil {
		t.Fatal(err)
	}
	if res.Candidate != 2 || res.Candidates[0].Reason != WorkerFailed || !strings.Contains(res.Candidates[0].Text, "the disk is full") {
		t.Errorf("%+v", res)
	}
}

// TestWaiting holds a candidate until a person has answered, and gives the answer to the
// iteration that asked.
func TestWaiting(t *testing.T) {
	t.Parallel()
	m := &machine{}
	m.iterate = func(in IterateInput) (Iteration, error) {
		switch {
		case in.Iteration == 1:
			return Iteration{Number: 1}, nil
		case in.Answer == nil:
			return Iteration{Number: 2, Waiting: "a test was deleted"}, nil
		case in.Answer.Choice != "reject":
			return Iteration{}, errors.New("another answer")
		}
		return done(2), nil
	}
	env := environment(t, m)
	env.RegisterDelayedCallback(func() { env.SignalWorkflow(AnswerSignal, Answer{Choice: "reject"}) }, 30*time.Hour)
	env.ExecuteWorkflow(CandidateName, CandidateInput{Candidate: 1, Next: 1})
	var it Iteration
	if err := env.GetWorkflowResult(&it); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(m.iterated, " "); got != "1/1 1/2 1/2" || it.Number != 2 || !it.Over {
		t.Errorf("%s, %+v", got, it)
	}
}

// TestSameWorker continues on the worker of the last iteration, and on another one when that
// does not start.
func TestSameWorker(t *testing.T) {
	t.Parallel()
	m := &machine{}
	m.iterate = func(in IterateInput) (Iteration, error) {
		if in.Iteration == 3 {
			return done(3), nil
		}
		return Iteration{Number: in.Iteration, Queue: fmt.Sprint("worker", in.Iteration)}, nil
	}
	env := environment(t, m)
	var queues []string
	env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		queues = append(queues, info.TaskQueue)
	})
	env.ExecuteWorkflow(CandidateName, CandidateInput{Candidate: 1, Next: 1})
	if err := env.GetWorkflowError(); err != nil || len(queues) != 3 || queues[1] != "worker1" || queues[2] != "worker2" || queues[0] == "worker1" {
		t.Errorf("%v, %q", err, queues)
	}
	m.iterated = nil
	env = environment(t, m)
	late := temporal.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
	env.OnActivity(IterateName, mock.Anything, mock.MatchedBy(func(in IterateInput) bool { return in.Iteration == 2 })).Return(Iteration{}, late).Once()
	env.OnActivity(IterateName, mock.Anything, mock.Anything).Return(func(_ context.Context, in IterateInput) (Iteration, error) {
		m.iterated = append(m.iterated, fmt.Sprint(in.Iteration))
		return m.iterate(in)
	})
	env.ExecuteWorkflow(CandidateName, CandidateInput{Candidate: 1, Next: 1})
	if err := env.GetWorkflowError(); err != nil || strings.Join(m.iterated, " ") != "1 2 3" {
		t.Errorf("%v, %q", err, m.iterated)
	}
}

// TestContinueAsNew starts a new history after some iterations, with all that it has to know.
func TestContinueAsNew(t *testing.T) {
	t.Parallel()
	m := &machine{iterate: func(in IterateInput) (Iteration, error) {
		return Iteration{Number: in.Iteration, Amount: Amount{Tokens: int64(in.Iteration)}}, nil
	}}
	env := environment(t, m)
	env.ExecuteWorkflow(CandidateName, CandidateInput{Candidate: 1, Next: 1})
	restart, ok := errors.AsType[*workflow.ContinueAsNewError](env.GetWorkflowError())
	if !ok || restart.WorkflowType.Name != CandidateName || len(m.iterated) != iterationsPerRun {
		t.Errorf("%v after %d iterations", env.GetWorkflowError(), len(m.iterated))
	}
}

// TestBudget has workers that iterate at random, and some that are cut off: what is spent
// exceeds the limit by no more than one iteration a worker, and what could be spent is.
func TestBudget(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 23)) //nolint:gosec // it has to be repeatable
		l := &Ledger{Reserved: map[string]Amount{}}
		limit := Amount{CostUSD: 1 + 9*r.Float64()}
		workers, most, spent := 1+r.IntN(8), 0.0, 0.0
		running, over := map[int]bool{}, map[int]bool{}
		for len(over) < workers {
			n := r.IntN(workers)
			who := fmt.Sprint("w", n)
			switch {
			case over[n]:
			case running[n]:
				used := r.Float64()
				most, spent = max(most, used), spent+used
				if cut := r.IntN(10) == 0; !cut { // else it starts again, unsettled
					l.settle(Settle{Who: who, Amount: Amount{CostUSD: used}})
				}
				delete(running, n)
			default:
				g := l.reserve(who, limit)
				running[n], over[n] = g.OK, !g.OK && !g.Later
				if !running[n] {
					delete(running, n)
				}
				if !over[n] {
					delete(over, n)
				}
			}
		}
		if l.Spent.CostUSD < limit.CostUSD || l.Lost == 0 && l.Spent.CostUSD > limit.CostUSD+float64(workers)*most {
			t.Fatalf("seed %d: the budget says %+v of %.2f with %d workers, the largest iteration %.2f, really spent %.2f", seed, l, limit.CostUSD, workers, most, spent)
		}
	}
}
