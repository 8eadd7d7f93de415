package readbench

import (
	"errors"
	"strconv"
	"testing"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/readbench/strategy"
)

// Run measures a row as a sub-benchmark of b. It skips what cannot run here, with the cause, and fails the row
// if a read went wrong or what was measured contradicts the row's name.
func (s *Suite) Run(b *testing.B, row Row) {
	name, err := row.name(s.config.Procs)
	if err := errors.Join(err, s.Setting("depth", strconv.Itoa(row.depth(s.config)))); err != nil {
		b.Fatal(err)
	}
	if s.contestant != nil {
		b.Run(name, func(b *testing.B) { s.contest(b, row) })
		return
	}
	var r *running // opened by the first call; the testing package makes several
	b.Run(name, func(b *testing.B) {
		var err error
		first := r == nil
		if first {
			r, err = s.open(row)
		}
		if first && err == nil {
			compared.add(b.Name())
		}
		if err == nil {
			err = r.call(b)
		}
		if first && errors.Is(err, strategy.ErrUnsupported) { // a later call must not skip: the testing package would print a result
			skip(b, err)
		}
		if err != nil {
			b.Fatal(err)
		}
		notice.Hold() // from here on, half a result line may be on the output
	})
	notice.Release()
	if r != nil {
		if err := r.close(); err != nil {
			b.Error(err)
		}
	}
}
