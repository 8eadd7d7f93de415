package uring

import (
	"errors"
	"fmt"
	"io"

	"golang.org/x/sys/unix"
)

// refillShare: while a batch does not fit the ring, a wait ends when the refillShare-th part of the depth has been
// completed, and new reads take their place.
const refillShare = 8

// Add adds the n bytes at offset off to the batch that the next Do or Start takes. What is wrong with them, those say.
func (r *Ring) Add(off int64, n int) {
	b := r.batch(r.next)
	b.reads = append(b.reads, read{off, n})
}

// Do reads the batch that was added. It calls each exactly once for every read, on this goroutine, in the order in which reads
// complete, so in any order: i is the read's number in order of Add, from 0, and p its bytes, valid until each returns. It returns the
// first error of a read or of each, and nothing is in flight then. A batch of up to Depth reads is one
// io_uring_enter, if no read is short and nothing interrupts it. Batches that were started are to be finished before.
func (r *Ring) Do(each func(i int, p []byte) error) error {
	if r.first != r.next {
		return r.fail(fmt.Errorf("io_uring: Do while %d started batches are not finished", r.next-r.first))
	}
	if err := r.take(); err != nil {
		return err
	}
	return r.Finish(each)
}

// Start takes the batch that was added, and submits as much of it as Depth leaves room for, without waiting. The rest
// is submitted by Finish, of earlier batches too. Up to Options.Batches batches may be started and not finished.
func (r *Ring) Start() error {
	if err := r.take(); err != nil {
		return err
	}
	if err := r.submit(); err != nil {
		return r.fail(err)
	}
	return nil
}

// Queue takes the batch that was added as Start does, but leaves submitting it to the next Start or Finish: for batches
// so small that a system call for each would be too many.
func (r *Ring) Queue() error { return r.take() }

// take makes the batch that was added one that is started.
func (r *Ring) take() error {
	if r.err != nil {
		return r.err
	}
	if r.next-r.first == uint(r.opts.Batches) {
		return r.fail(fmt.Errorf("io_uring: Start while %d batches are not finished, and Options.Batches is that", r.opts.Batches))
	}
	b := r.batch(r.next)
	for i, rd := range b.reads {
		if rd.off < 0 || rd.n < 1 || rd.n > r.opts.MaxRange {
			return r.fail(fmt.Errorf("io_uring: read %d of a batch is of %d bytes at %d: offsets start at 0, and this ring reads 1 to %d bytes at a time", i, rd.n, rd.off, r.opts.MaxRange))
		}
	}
	b.pushed, b.left, b.done = 0, len(b.reads), b.done[:0]
	r.next++
	return nil
}

// Finish waits for the reads of the batch that was started first, and hands them over as Do does. Reads of later
// batches go on meanwhile, and what Depth did not leave room for is submitted as reads complete.
func (r *Ring) Finish(each func(i int, p []byte) error) error {
	if r.err != nil {
		return r.err
	}
	if r.first == r.next || r.busy {
		return r.fail(errors.New("io_uring: Do or Finish without a batch that was started, or while one of them has not returned"))
	}
	r.busy = true
	b := r.batch(r.first)
	for b.left > 0 {
		if len(r.free) == 0 && r.more() { // no buffer to go on with
			if err := r.deliver(b, each); err != nil {
				return r.fail(err)
			}
		}
		if err := r.step(b); err != nil {
			return r.fail(err)
		}
	}
	// The device has something to do before anything is done with what it delivered.
	r.first++
	if err := r.submit(); err != nil {
		return r.fail(err)
	}
	if err := r.deliver(b, each); err != nil {
		return r.fail(err)
	}
	b.reads = b.reads[:0]
	r.busy = false
	return nil
}

// submit submits what there is room for, and does not wait.
func (r *Ring) submit() error {
	if err := r.fill(); err != nil {
		return err
	}
	if r.eng.pushed() == 0 {
		return nil
	}
	_, err := r.enter(0)
	return err
}

// step submits what there is room for, waits for completions, and takes them.
func (r *Ring) step(b *batch) error {
	if err := r.fill(); err != nil {
		return err
	}
	// While there is more to push, room for it is what is waited for. After that, so many completions as b has
	// reads left: perhaps of other batches, but fewer would not do.
	wait := min(b.left, r.flying)
	if r.more() {
		wait = min(r.refill, r.flying)
	}
	if wait == 0 {
		return fmt.Errorf("io_uring: %d reads left and none in flight: %w", b.left, errBug)
	}
	entered, err := r.enter(wait)
	if err != nil {
		return err
	}
	n := r.eng.reap(r.cqes)
	if entered && n < wait {
		r.counts.Retried++
	}
	// All of them are looked at before anything is done about an error: what was reaped is not in flight.
	for _, c := range r.cqes[:n] {
		if failed := r.complete(c); err == nil {
			err = failed
		}
	}
	return err
}

// more reports whether reads wait for being pushed. It moves pushing to their batch.
func (r *Ring) more() bool {
	for ; r.pushing != r.next; r.pushing++ {
		if b := r.batch(r.pushing); b.pushed < len(b.reads) {
			return true
		}
	}
	return false
}

// fill pushes reads as long as there is room for them.
func (r *Ring) fill() error {
	for r.flying < r.opts.Depth && len(r.free) > 0 && r.more() {
		b := r.batch(r.pushing)
		i := r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
		rd, s := b.reads[b.pushed], &r.slots[i]
		s.batch, s.index = b, b.pushed
		s.start = rd.off &^ (r.align - 1)
		s.skip = int(rd.off - s.start)
		s.want = s.skip + rd.n
		s.span = int((int64(s.want) + r.align - 1) &^ (r.align - 1))
		s.got = 0
		b.pushed++
		if err := r.push(i); err != nil {
			return err
		}
	}
	return nil
}

// push pushes a request for what slot i lacks.
func (r *Ring) push(i uint32) error {
	s := &r.slots[i]
	s.from = s.got &^ int(r.align-1) // a direct read goes on at a multiple
	r.req = request{
		op:        r.readOp,
		fixedFile: r.opts.FixedFile,
		fd:        r.fd,
		n:         uint32(s.span - s.from),
		off:       uint64(s.start) + uint64(s.from),
		addr:      r.address(i, s.from),
	}
	return r.launch(i)
}

// complete takes one completion.
func (r *Ring) complete(c completion) error {
	i, err := r.land(c)
	if err != nil {
		return err
	}
	s := &r.slots[i]
	switch res := int(c.res); {
	case res == -int(unix.EINTR), res == -int(unix.EAGAIN):
		r.counts.Retried++
		return r.push(i)
	case res < 0:
		return r.readError(s, unix.Errno(-res))
	case s.from+res > s.span:
		return fmt.Errorf("io_uring: read of %d bytes returned %d: %w", s.span-s.from, res, errBug)
	case s.from+res >= s.want:
		s.batch.left--
		s.batch.done = append(s.batch.done, i)
		return nil
	case s.from+res <= s.got: // nothing new
		return r.readError(s, fmt.Errorf("end of file after %d bytes: %w", max(0, s.got-s.skip), io.ErrUnexpectedEOF))
	default:
		r.counts.Short++
		s.got = s.from + res
		return r.push(i)
	}
}

// readError says which read failed.
func (r *Ring) readError(s *slot, err error) error {
	name := ""
	if r.opts.File != nil {
		name = " of " + r.opts.File.Name()
	}
	rd := s.batch.reads[s.index]
	return fmt.Errorf("io_uring: read of %d bytes at %d%s: %w", rd.n, rd.off, name, err)
}

// deliver hands the complete reads of b over and makes their slots free.
func (r *Ring) deliver(b *batch, each func(i int, p []byte) error) error {
	for _, i := range b.done {
		s := &r.slots[i]
		at := int(i) * r.stride
		if err := each(s.index, r.buf[at+s.skip:at+s.want:at+s.want]); err != nil {
			return err
		}
		r.free = append(r.free, i)
	}
	b.done = b.done[:0]
	return nil
}
