// Package readtest checks that a strategy keeps the contract of strategy.Strategy, on a small real file:
//
//	func TestMine(t *testing.T) { readtest.Test(t, mine{}) }
//
// Run it with -race, too, and on the disk that you measure (TMPDIR says where). A strategy that passes can still be slow, but
// what the runner says about it is true.
//
// Some rules ask the kernel: which system calls this process made, what a device delivered to it, which pages are resident.
// Where it does not tell (no Linux, tmpfs, a file system that does not count, no /proc/self/io), the rule is skipped with the cause;
// a skipped rule says nothing about the strategy. The same goes for rules on abilities that are optional: without a
// strategy.Counter nothing shows by which calls a strategy reads and hints.
//
// A strategy must not serve what it kept from earlier reads: what was evicted has to come from the device, each time, even if
// nobody has called Forget. Not seen is memory that is dropped whenever Settle is called, or that is first used after more reads of
// a range than the rule makes (a dozen by each way and reader). Device bytes are those of this process: a test that reads another
// file at the same time can hide such a strategy, but not fail a right one.
package readtest

import (
	"errors"
	"testing"

	"github.com/readbench/suite/readbench/strategy"
)

// Test runs every rule on s as a subtest. Where s says that it is unsupported, the test is skipped with the cause.
func Test(t *testing.T, s strategy.Strategy) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			switch err := r.check(newEnv(t, s)); {
			case skips(err):
				t.Skip(err)
			case err != nil:
				t.Errorf("%s: the rule is broken: %s: %v", s.Name(), r.name, err)
			}
		})
	}
}

// skips reports whether a rule could not judge: nothing is said about the strategy then.
func skips(err error) bool {
	return errors.Is(err, strategy.ErrUnsupported) || errors.Is(err, errNotApplicable)
}
