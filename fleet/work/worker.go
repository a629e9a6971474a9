// Package work is what a worker of a fleet does on its machine: it keeps trees and states in
// its own folder, has supervise run the iterations, and moves their results by git.
package work

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"supervise/fleet/bucket"
	"supervise/fleet/filelock"
	"supervise/fleet/flow"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// Worker has the activities.
type Worker struct {
	Dir       string // for trees and states; absolute, without links
	Supervise string // the program
	Name      string // of this worker, for people
	Client    client.Client
	Every     time.Duration // between two reports
	Queue     string        // of this worker alone; "" for none
	Slots     chan struct{} // as many activities at a time as it holds; nil: no limit

	mu      sync.Mutex
	held    map[string]chan struct{}  // folders in use
	buckets map[string]*bucket.Bucket // that are open
}

// The reasons for which an activity ends before it is done.
var (
	errCancelled = errors.New("cancelled")
	errReplaced  = errors.New("another worker does it meanwhile")
	errShutdown  = errors.New("the worker is shutting down")
)

// reporting returns a context that ends when the activity is cancelled, and a function that
// reports progress. The activity's own context is not used: it also ends when the server
// cannot be reached for a second, and the work continues then.
func (w *Worker) reporting(ctx context.Context) (out context.Context, onProgress func(flow.Progress), done func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r := &reporter{Worker: w, token: activity.GetInfo(ctx).TaskToken, current: flow.Progress{Phase: "start", Worker: w.Name, Since: time.Now()}}
	stop, over := activity.GetWorkerStopChannel(ctx), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		ticker := time.NewTicker(min(w.Every, time.Second))
		defer ticker.Stop()
		for {
			if cause := r.send(out); cause != nil {
				cancel(cause)
			}
			select {
			case <-over:
				return
			case <-stop:
				cancel(errShutdown)
				return
			case <-ticker.C:
			}
		}
	})
	return out, r.update, func() {
		close(over)
		all.Wait()
		cancel(nil)
	}
}

// reporter reports to the server what an activity does: changes within a second, and the same
// progress again as often as the worker is set to.
type reporter struct {
	*Worker
	token []byte

	mu         sync.Mutex
	current    flow.Progress
	reported   flow.Progress
	reportedAt time.Time // the time of that report
}

func (r *reporter) update(p flow.Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current, r.current.Worker = p, r.Name
}

// send reports progress to the server if it is due, and returns why the activity should end.
func (r *reporter) send(ctx context.Context) error {
	r.mu.Lock()
	p := r.current
	due := p != r.reported || time.Since(r.reportedAt) >= r.Every
	r.mu.Unlock()
	if !due || ctx.Err() != nil {
		return nil
	}
	ctx, end := context.WithTimeout(ctx, 10*time.Second)
	defer end()
	err := r.Client.RecordActivityHeartbeat(ctx, r.token, p)
	switch {
	case temporal.IsCanceledError(err):
		return errCancelled
	case isAbandoned(err):
		return errReplaced
	case err == nil:
		r.reported, r.reportedAt = p, time.Now()
	}
	return nil
}

// slot waits for a free slot of the worker. Activities of its queue and of the shared one
// count together.
func (w *Worker) slot(ctx context.Context) (leave func(), err error) {
	if w.Slots == nil {
		return func() {}, nil
	}
	select {
	case w.Slots <- struct{}{}:
		return func() { <-w.Slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// isAbandoned reports whether the server says that the activity is no longer waited for.
func isAbandoned(err error) bool {
	_, is := errors.AsType[*serviceerror.NotFound](err)
	return is
}

// temporalError turns the error of an activity into that of Temporal.
func temporalError(err error) error {
	switch {
	case errors.Is(err, errCancelled):
		return temporal.NewCanceledError()
	case errors.Is(err, errFinal):
		return temporal.NewNonRetryableApplicationError(err.Error(), "final", nil)
	}
	return err
}

// errFinal is wrapped by errors that would be the same on another worker.
var errFinal = errors.New("the task cannot be started")

// place is the folder of a task, or of a candidate of it, on this machine.
type place struct {
	dir, tree, trees string
	home             string // of the loops
}

// fleets is the folder with those of fleets; next to it are the copies of repositories.
const fleets = "fleets"

func (w *Worker) place(p flow.Place, name string) place {
	dir := filepath.Join(w.Dir, fleets, p.Fleet, p.Task, name)
	return place{dir: dir, tree: filepath.Join(dir, "tree"), trees: filepath.Join(dir, "trees"), home: filepath.Join(dir, "state")}
}

// remote opens the copy of a task's repository, and where its refs are.
func (w *Worker) remote(ctx context.Context, p flow.Place) (*remote, error) {
	sum := sha256.Sum256([]byte(p.Repository))
	dir := filepath.Join(w.Dir, "repositories", hex.EncodeToString(sum[:8])+".git")
	leave, err := w.lockFolder(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer leave()
	o, err := openObjects(ctx, dir, p.Repository)
	if err != nil {
		return nil, err
	}
	r := &remote{objects: o, refs: gitRefs{o, p.Repository}, url: p.Repository}
	if p.Store != "" {
		b, err := w.bucket(ctx, p.Store)
		if err != nil {
			return nil, err
		}
		r.refs = bucketRefs{o, b}
	}
	return r, nil
}

// bucket opens one once.
func (w *Worker) bucket(ctx context.Context, address string) (*bucket.Bucket, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b := w.buckets[address]; b != nil {
		return b, nil
	}
	b, err := bucket.Open(context.WithoutCancel(ctx), address) // which may need its context later
	if err == nil {
		if w.buckets == nil {
			w.buckets = map[string]*bucket.Bucket{}
		}
		w.buckets[address] = b
	}
	return b, err
}

// lockFolder waits until no other activity of this worker, and no other worker, uses a folder.
func (w *Worker) lockFolder(ctx context.Context, dir string) (leave func(), err error) {
	w.mu.Lock()
	if w.held == nil {
		w.held = map[string]chan struct{}{}
	}
	ch := w.held[dir]
	if ch == nil {
		ch = make(chan struct{}, 1)
		w.held[dir] = ch
	}
	w.mu.Unlock()
	select {
	case ch <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		<-ch
		return nil, err
	}
	unlock, err := filelock.Lock(ctx, dir+".lock")
	if err != nil {
		<-ch
		return nil, err
	}
	return func() {
		unlock()
		<-ch
	}, nil
}

// ref is the name of what is kept of a task.
func ref(p flow.Place, name string) string { return p.Fleet + "/" + p.Task + "/" + name }

// refOf is that of a candidate.
func refOf(p flow.Place, candidate int) string { return ref(p, "candidate-"+strconv.Itoa(candidate)) }

// supervise runs the program in a place.
func (w *Worker) supervise(ctx context.Context, at place, onProgress func(flow.Progress), args ...string) (ending, error) {
	return w.in(ctx, at, process{program: w.Supervise, onProgress: onProgress}, args...)
}

func (w *Worker) in(ctx context.Context, at place, p process, args ...string) (ending, error) {
	return p.run(ctx, at.tree, append([]string{"--state-dir", at.home, "-C", at.tree}, args...)...)
}

// failed is the error of supervise where it did not do what it was asked for.
func failed(what string, end ending, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: supervise ended with status %d: %s", what, end.status, end.said)
}
