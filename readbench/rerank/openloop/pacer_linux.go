package openloop

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A pacer waits for points in time. Go's own timers are a millisecond late and more: they are served by threads that wait for
// a file descriptor, in milliseconds, and by processors that have other work. This one has a thread of its own that sleeps in the
// kernel without slack.
//
// Sleeping in an ordinary system call gives the goroutine's processor away, and getting one again may take long when others are
// busy. So the last part of a sleep keeps the processor. It is short, because the garbage collector would wait for it.
type pacer struct{}

const (
	lastSleep = time.Millisecond      // of what is slept, with the processor kept
	spin      = 30 * time.Microsecond // of what is left then: less than it takes to fall asleep and be woken
)

// newPacer makes a pacer for this goroutine, which it locks to its thread until done is called.
func newPacer() (p *pacer, done func()) {
	runtime.LockOSThread()
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	if err != nil { // then it is as late as the kernel's slack, usually 50 µs, which its lateness tells
		return &pacer{}, runtime.UnlockOSThread
	}
	return &pacer{}, func() {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0) // of a thread that others use afterwards
		runtime.UnlockOSThread()
	}
}

// until waits until t, and returns how much later it is.
func (p *pacer) until(t time.Time) (late time.Duration) {
	for {
		left := time.Until(t)
		switch {
		case left <= 0:
			return -left
		case left > lastSleep+spin:
			ts := unix.NsecToTimespec(int64(left - lastSleep))
			_ = unix.Nanosleep(&ts, nil) // interrupted, or refused by a filter, it goes on: then it spins, and is no later for it
		case left > spin:
			runtime.Gosched() // a goroutine that was woken just now may be waiting for this processor
			if left = time.Until(t); left <= spin {
				continue
			}
			ts := unix.NsecToTimespec(int64(left - spin))
			unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
		}
	}
}
