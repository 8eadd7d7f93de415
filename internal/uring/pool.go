package uring

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// A Pool is a bounded number of rings that goroutines take in turn. Its methods are safe for concurrent use.
type Pool struct {
	open  func() (*Ring, error)
	turns chan struct{} // holds one for each ring that is out

	mu     sync.Mutex
	idle   []*Ring // the one used last, whose buffers are in the processor's cache, is the last
	counts Counts  // of rings that were closed
	closed bool
}

// NewPool makes a pool of up to n rings. It opens the first at once, so that what io_uring is refused for shows here; the
// others are opened when they are needed.
func NewPool(o Options, n int) (*Pool, error) {
	if o.OneThread {
		return nil, errors.New("io_uring: a ring of one thread (Options.OneThread) cannot be in a pool")
	}
	return newPool(func() (*Ring, error) { return Open(o) }, n)
}

func newPool(open func() (*Ring, error), n int) (*Pool, error) {
	if n < 1 {
		return nil, fmt.Errorf("io_uring: a pool of %d rings", n)
	}
	first, err := open()
	if err != nil {
		return nil, err
	}
	return &Pool{open: open, turns: make(chan struct{}, n), idle: append(make([]*Ring, 0, n), first)}, nil
}

// Get returns a ring that nobody else has; it is given back by Put. If all are out it waits, until ctx ends.
func (p *Pool) Get(ctx context.Context) (*Ring, error) {
	if err := ctx.Err(); err != nil { // a turn may be free, too: select would choose at random
		return nil, fmt.Errorf("io_uring: waiting for one of %d rings: %w", cap(p.turns), err)
	}
	select {
	case p.turns <- struct{}{}:
	default:
		select {
		case p.turns <- struct{}{}:
		case <-ctx.Done():
			return nil, fmt.Errorf("io_uring: waiting for one of %d rings: %w", cap(p.turns), ctx.Err())
		}
	}
	r, err := p.take()
	if err != nil {
		<-p.turns
	}
	return r, err
}

// take returns an idle ring or opens one. The caller has a turn.
func (p *Pool) take() (*Ring, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return r, nil
	}
	p.mu.Unlock()
	return p.open()
}

// Put gives back what Get returned. A ring that failed, or whose user gave up in the middle of a batch, is closed instead of
// being handed out again: Put waits for what it has in flight. An error is one of closing it.
func (p *Pool) Put(r *Ring) error {
	defer func() { <-p.turns }()
	p.mu.Lock()
	if r.idle() && !p.closed {
		p.idle = append(p.idle, r)
		p.mu.Unlock()
		return nil
	}
	p.mu.Unlock()
	err := r.Close()
	p.mu.Lock()
	p.counts.Add(r.Counts())
	p.mu.Unlock()
	return err
}

// Counts is what the pool's rings did, without those that are out.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counts
	for _, r := range p.idle {
		c.Add(r.Counts())
	}
	return c
}

// Close closes the pool's rings; those that are out are closed when they are put back.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.closed = true
	var errs []error
	for _, r := range p.idle {
		errs = append(errs, r.Close())
		p.counts.Add(r.Counts())
	}
	p.idle = nil
	return errors.Join(errs...)
}
