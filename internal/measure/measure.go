package measure

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"supervise/internal/measure/internal/codesize"
	"supervise/internal/measure/internal/command"
	"supervise/metric"
	"supervise/runner"
)

// Limits of a check that has no others.
const (
	DefaultTimeout   = command.DefaultTimeout
	DefaultMaxOutput = command.DefaultMaxOutput // bytes kept of each output
)

// Options configure a meter.
type Options struct {
	Scratch    string         // folder for the private report folders; "": that of the system
	User       *runner.User   // the user of the checks, who must have access to Scratch; nil: that of this process
	Ignore     string         // absolute path of a folder that is not part of the project
	Env        []string       // environment of the checks; nil: that of this process
	OnProgress func(Progress) // called when checks start and end, may be nil
	Watch      Watch          // may be nil
	Memory     Memory         // of an earlier meter of the same plan
	Hold       []*os.File     // see [runner.Command]
	Baseline   bool           // a loop starts at a measurement without known tests: see [metric.Set]
	// MayStartBroken says that no suite has to run at the baseline yet: its tests count as known then.
	MayStartBroken bool
	Reruns         *Reruns // how failures are confirmed; nil: [DefaultMaxTests] and [DefaultReruns]

	// BeforeStart is passed to [runner.Command]. It may be called concurrently.
	BeforeStart func(shim runner.Process) error
	MaxOutput   int64 // bytes kept of each output of a check; 0 is [DefaultMaxOutput]
}

// Progress reports that a check started, or ended with a run.
type Progress struct {
	Check Check
	Run   *Run // nil at the start
}

// Watch is called when the command of a check starts. The returned writer receives the outputs
// of the command as they are printed, and is closed when the command has ended. Several
// checks, and the two outputs of one check, may be written concurrently.
type Watch func(Check) io.WriteCloser

// Result is a measurement and its runs.
type Result struct {
	Set metric.Set
	// Reported are the tests as they were read, before the comparison with the known tests:
	// nil if nothing was read, without a case if no suite could run.
	Reported *metric.Tests
	Runs     []Run
	Parts    []Part // if the plan has checks in several folders
}

// Part is the result of one of several projects.
type Part struct {
	Dir string
	Set metric.Set
}

// Meter measures trees by one plan. It caches the size of files, so that measuring again costs
// only what changed. It is not safe for concurrent use.
type Meter struct {
	plan   Plan
	opts   Options
	memory *Memory
	code   codesize.Cache
	links  *sync.Map // by check: linked; nil: everything runs uncached
	inCopy bool      // it measures a copy: only the results of tests count
}

// New returns a meter for the plan.
func New(plan Plan, o Options) *Meter {
	if o.OnProgress == nil {
		o.OnProgress = func(Progress) {}
	}
	return &Meter{plan: plan, opts: o, memory: o.Memory.Clone(), code: codesize.Cache{}, links: &sync.Map{}}
}

// Memory returns what the meter has learnt so far.
func (m *Meter) Memory() Memory { return *m.memory.Clone() }

// Run measures the tree without using any cache. known are the tests of the tree that the
// agent started from, nil at the baseline; the results of a suite that could not run are
// copied from them. The error is that of ctx, or a failure of the machine. A failing check is
// part of the result, not an error.
func (m *Meter) Run(ctx context.Context, known *metric.Tests) (Result, error) {
	uncached := m.WithPlan(m.plan.Uncached())
	uncached.links = nil
	return uncached.newMeasurement().measureAll(ctx, known)
}

// RunQuick is [Meter.Run] for an iteration: tools may use their own caches for results that
// the change does not affect, and integration tests that passed and did not change do not run.
// Tests with such a result are marked as cached.
func (m *Meter) RunQuick(ctx context.Context, known *metric.Tests) (Result, error) {
	return m.WithPlan(m.deferTests(known)).newMeasurement().measureAll(ctx, known)
}

// Clone returns a meter with a copy of the memory of m, for concurrent runs in other trees. It
// reports no progress, and m does not learn from it. env is added to the environment of its
// checks.
func (m *Meter) Clone(env ...string) *Meter {
	plan := m.plan
	plan.Checks = slices.Clone(plan.Checks)
	for i, c := range plan.Checks {
		plan.Checks[i].Env = append(slices.Clone(c.Env), env...)
	}
	opts := m.opts
	opts.OnProgress, opts.Watch = func(Progress) {}, nil
	return &Meter{plan: plan, opts: opts, memory: m.memory.Clone(), code: codesize.Cache{}}
}

// WithPlan returns a meter for the same tree and another plan. Both share their memory.
func (m *Meter) WithPlan(plan Plan) *Meter {
	other := *m
	other.plan = plan
	return &other
}

// InOtherTree returns a meter for another tree, with a plan for it. It has a copy of the memory of m,
// which does not learn from it.
func (m *Meter) InOtherTree(plan Plan) *Meter {
	other := m.WithPlan(plan)
	other.memory, other.code = m.memory.Clone(), codesize.Cache{}
	return other
}

// Plan returns the plan of the meter.
func (m *Meter) Plan() Plan { return m.plan }

// Environ returns the environment of the checks.
func (m *Meter) Environ() []string { return m.commandRunner().Environ() }

// Getenv returns the value of a variable in the environment of the checks.
func (m *Meter) Getenv(name string) string {
	for _, kv := range slices.Backward(m.commandRunner().Environ()) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return ""
}

// Environ returns an environment as the checks see it, see [command.Environ].
func Environ(env []string) []string { return command.Environ(env) }

// commandRunner returns a runner of commands in the tree, configured by the options.
func (m *Meter) commandRunner() *command.Runner {
	o := m.opts
	return &command.Runner{Root: m.plan.Root, Scratch: o.Scratch, User: o.User, Env: o.Env, Watch: o.Watch, Hold: o.Hold, BeforeStart: o.BeforeStart, MaxOutput: o.MaxOutput}
}
