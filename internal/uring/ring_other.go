//go:build !linux

package uring

import "runtime"

const giouringBuiltIn = false

// A Ring reads batches through io_uring; unsupported here.
type Ring struct{}

// Open is unsupported here.
func Open(Options) (*Ring, error) { return nil, notHere() }

// Add does nothing here.
func (*Ring) Add(int64, int) {}

// Do is unsupported here.
func (*Ring) Do(func(int, []byte) error) error { return notHere() }

// Start is unsupported here.
func (*Ring) Start() error { return notHere() }

// Queue is unsupported here.
func (*Ring) Queue() error { return notHere() }

// Finish is unsupported here.
func (*Ring) Finish(func(int, []byte) error) error { return notHere() }

// WillNeedFile is unsupported here.
func (*Ring) WillNeedFile() error { return notHere() }

// WillNeedMap is unsupported here.
func (*Ring) WillNeedMap([]byte) error { return notHere() }

// Counts is zero here.
func (*Ring) Counts() Counts { return Counts{} }

// Err is unsupported here.
func (*Ring) Err() error { return notHere() }

// HugePages tells nothing here.
func (*Ring) HugePages() (huge, all int64, err error) { return 0, 0, notHere() }

func (*Ring) String() string { return "unsupported on " + runtime.GOOS }

func (*Ring) idle() bool { return false }

// Close is unsupported here.
func (*Ring) Close() error { return notHere() }

func notHere() error { return unsupported("io_uring is unsupported on %s", runtime.GOOS) }
