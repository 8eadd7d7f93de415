//go:build !linux

package uring

import (
	"fmt"
	"runtime"
)

const giouringBuiltIn = false

// A Ring reads batches through io_uring; unsupported here.
type Ring struct{}

// Open is unsupported here.
func Open(Options) (*Ring, error) { return nil, unsupported() }

// Add does nothing here.
func (*Ring) Add(int64, int) {}

// Do is unsupported here.
func (*Ring) Do(func(int, []byte) error) error { return unsupported() }

// Start is unsupported here.
func (*Ring) Start() error { return unsupported() }

// Queue is unsupported here.
func (*Ring) Queue() error { return unsupported() }

// Finish is unsupported here.
func (*Ring) Finish(func(int, []byte) error) error { return unsupported() }

// WillNeedFile is unsupported here.
func (*Ring) WillNeedFile() error { return unsupported() }

// WillNeedMap is unsupported here.
func (*Ring) WillNeedMap([]byte) error { return unsupported() }

// Counts is zero here.
func (*Ring) Counts() Counts { return Counts{} }

// Err is unsupported here.
func (*Ring) Err() error { return unsupported() }

// HugePages tells nothing here.
func (*Ring) HugePages() (huge, all int64, err error) { return 0, 0, unsupported() }

func (*Ring) String() string { return "unsupported on " + runtime.GOOS }

func (*Ring) idle() bool { return false }

// Close is unsupported here.
func (*Ring) Close() error { return unsupported() }

func unsupported() error { return fmt.Errorf("%w on %s", ErrUnsupported, runtime.GOOS) }
