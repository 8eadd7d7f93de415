// Package memlimit puts this process into a memory-limited control group made for it, and takes it out again.
//
// A page of a file is charged to the group of the process that reads it into the page cache, and stays charged
// there, whoever uses it later. So only this order makes a file larger than its memory:
//
//	evict   the file leaves the page cache: what stays is charged elsewhere, and no limit here touches it
//	join    Find, Join: from now on what this process reads is charged to the group
//	limit   Limit
//	read    the kernel reclaims the group's own pages, and nobody else's
//
// The same holds for the process's own memory: what it had before Join stays charged to its old group, what it
// allocates later, or frees and takes again, is the new group's. A limit has to have room for all of it
// (Controller.Least).
//
// Groups are made by both versions of control groups; which one carries memory is found out:
//
//   - version 1: a child of the group that this process is in.
//   - version 2: a sibling of the group that this process is in, because a group that divides its memory among
//     children may hold no process itself; a child only of the root, which may.
//
// # What is left behind
//
// Close undoes everything. It does not run when a process ends otherwise: a panic, os.Exit, the test timeout (a
// panic), a signal. Handlers for these would cover some ways to die, and change what signals do to a test
// binary; so none is installed. Instead Join starts a janitor: a shell in a session of its own, outside of the
// group, that waits for the end of a pipe whose other end only this process holds. The kernel closes it in
// whatever way the process ends, SIGKILL included, and the janitor removes the group a moment later. It also
// says on standard error if the kernel killed for lack of memory in the group, which a killed process cannot
// say itself. As it shares standard error, whoever reads that to its end ("go test", a pipeline) sees the group
// gone.
//
// Who kills the janitor, too (a container that stops, a job that ends), or pulls the plug, leaves an empty group,
// which limits nobody. Sweep, at the start of the next run, removes it.
package memlimit

import "fmt"

// A LimitError says that this machine does not let the group have the limit that was asked for. It names cause and remedy, and
// wraps ErrUnsupported. Other than with any other error that does, there is a group, and this process is in it, without
// a limit of its own or with the one from before: who wants to try something else closes it first.
type LimitError struct {
	Limit int64 // bytes that were asked for
	cause error
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("a memory limit of %d bytes: %v", e.Limit, e.cause)
}

// Unwrap lets errors.Is find ErrUnsupported and the cause.
func (e *LimitError) Unwrap() []error { return []error{ErrUnsupported, e.cause} }

// A TooSmallError says that a limit leaves no room for what the process needs itself.
type TooSmallError struct {
	Limit int64 // bytes that were asked for
	Own   int64 // bytes that the process holds and cannot give up
	Least int64 // the smallest limit that is accepted now, in bytes
}

func (e *TooSmallError) Error() string {
	return fmt.Sprintf("a memory limit of %d bytes: this process itself holds %d, and headroom is %d: at least %d would work",
		e.Limit, e.Own, int64(Headroom), e.Least)
}

// Headroom is what a limit leaves to the process beyond the memory that it holds already, in bytes: garbage that
// is not collected yet, stacks, page tables of pages to come, the kernel's own records.
const Headroom = 64 << 20

// Unknown stands for a number that this kernel or this version of control groups does not tell.
const Unknown = -1

// Unlimited is the Limit of a group without one.
const Unlimited = 1<<63 - 1

// Usage is what the kernel says of a group. Totals since the group was made are in Events.
type Usage struct {
	Limit       int64 // bytes, or Unlimited
	Current     int64 // bytes charged now
	Peak        int64 // the most that Current ever was; Unknown with version 2 before Linux 5.19
	File        int64 // bytes of page cache, shared memory included
	Reclaimable int64 // of these, on the lists that reclaim takes from: no shared memory, nothing locked
	Anon        int64 // bytes of the processes' own memory
	Events      Events
}

// Events are running totals, each Unknown where the kernel does not tell it.
type Events struct {
	Refaults int64 // pages of files read again after they had been reclaimed
	Scanned  int64 // pages looked at by reclaim (version 2, Linux 5.18 and later)
	Stolen   int64 // pages reclaimed (the same)
	AtLimit  int64 // how often the limit was met, and reclaim had to make room
	OOMKills int64 // processes of the group that the kernel killed because it found no room
}

// Sub returns e − f; what is Unknown in one of them is in the result.
func (e Events) Sub(f Events) Events {
	sub := func(a, b int64) int64 {
		if a == Unknown || b == Unknown {
			return Unknown
		}
		return a - b
	}
	return Events{
		Refaults: sub(e.Refaults, f.Refaults),
		Scanned:  sub(e.Scanned, f.Scanned),
		Stolen:   sub(e.Stolen, f.Stolen),
		AtLimit:  sub(e.AtLimit, f.AtLimit),
		OOMKills: sub(e.OOMKills, f.OOMKills),
	}
}
