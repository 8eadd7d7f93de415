package readbench

import (
	"errors"
	"runtime"
	"runtime/debug"
)

// A thread is a goroutine that lives as long as a row and runs what it is given, one thing after the other. It knows nothing
// of what that is.
type thread struct {
	tasks   chan func()
	gone    chan struct{}    // closed when the goroutine has ended
	onFault func(err *error) // deferred around each task: makes an error of a memory fault
}

func newThread(onFault func(err *error)) thread {
	t := thread{tasks: make(chan func()), gone: make(chan struct{}), onFault: onFault}
	go func() {
		defer close(t.gone)
		defer runtime.UnlockOSThread() // in case that a task locked it
		debug.SetPanicOnFault(true)
		for task := range t.tasks {
			task()
		}
	}()
	return t
}

// errGone is what is left of a thread whose goroutine was ended by what it called.
var errGone = errors.New("a reader or an op has ended its goroutine (b.Fatal, t.FailNow or runtime.Goexit); it must return an error instead")

// do runs f on the goroutine and waits for it. A memory fault in f becomes an error.
func (t *thread) do(f func() error) error {
	done := make(chan error, 1)
	task := func() {
		err := errGone
		defer func() { done <- err }()
		defer t.onFault(&err)
		err = f()
	}
	select {
	case t.tasks <- task:
		return <-done
	case <-t.gone:
		return errGone
	}
}

// end ends the goroutine. Nothing is done any more.
func (t *thread) end() { close(t.tasks) }
