package uring

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// FuzzBatches reads any ranges in any number of batches, by rings of any shape, with faults, and compares with pread.
func FuzzBatches(f *testing.F) {
	f.Add(uint8(1), uint8(1), uint8(0), uint64(1), []byte{0, 0, 0, 0, 1, 0})
	f.Add(uint8(4), uint8(2), uint8(0xff), uint64(2), []byte{0xff, 0xff, 0x0f, 0, 0xff, 0x3f, 1, 2, 3, 0, 4, 5, 1, 2, 3, 0, 4, 5})
	f.Add(uint8(16), uint8(3), uint8(0x15), uint64(3), make([]byte, 600))
	file := content(f)
	direct, err := os.OpenFile(file.Name(), os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		f.Skip(err)
	}
	f.Cleanup(func() { direct.Close() })
	all := engines(f)
	f.Fuzz(func(t *testing.T, depth, batches, how uint8, seed uint64, ranges []byte) {
		has := func(bit int) bool { return how>>bit&1 != 0 }
		o := Options{
			File: file, Depth: int(depth%32) + 1, MaxRange: 1 << 14, Batches: int(batches%4) + 1, Batch: int(batches / 4),
			FixedBuffers: has(0), FixedFile: has(1), OneThread: has(2), Engine: all[int(how>>3&1)%len(all)],
		}
		if has(4) {
			o.File, o.Align = direct, 4096
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		var started []*checker
		r := openTest(t, o)
		if has(5) {
			inject(r, &faults{
				shuffle: rng, atMost: 1 + rng.IntN(4), err: every(2+rng.IntN(5), unix.EINTR),
				shorten: func(q *request) uint32 { return shorter(q, rng) },
				result:  func(*request) (int32, bool) { return negative(unix.EAGAIN), rng.IntN(4) == 0 },
			})
		}
		finish := func() error {
			c := started[0]
			started = started[1:]
			err := r.Finish(c.each)
			if err == nil {
				c.done()
			}
			return err
		}
		bad := error(nil) // what must fail
		for len(ranges) >= 6 && bad == nil {
			var reads []read
			for n := rng.IntN(3 * o.Depth); len(reads) < n && len(ranges) >= 6; ranges = ranges[6:] {
				rd := read{int64(binary.LittleEndian.Uint32(ranges) % (testSize + 100)), int(binary.LittleEndian.Uint16(ranges[4:])) % (o.MaxRange + 1)}
				if rd.n == 0 {
					rd.n = 1
				}
				if rd.off+int64(rd.n) > testSize {
					bad = io.ErrUnexpectedEOF
				}
				reads = append(reads, rd)
			}
			if len(started) == o.Batches {
				if err := finish(); err != nil {
					t.Fatal(err)
				}
			}
			add(r, reads)
			if err := r.Start(); err != nil {
				t.Fatal(err)
			}
			c := newChecker(t, file, reads)
			if bad != nil {
				started = append(started, c)
				break
			}
			started = append(started, c)
		}
		for len(started) > 0 {
			last := len(started) == 1
			err := finish()
			if bad != nil && errors.Is(err, bad) {
				break // possibly in an earlier batch, while the bad one goes on beside it
			}
			if err != nil || last && bad != nil {
				t.Fatalf("%v, want %v", err, bad)
			}
		}
		if err := r.Close(); err != nil || r.flying != 0 {
			t.Fatal(err, r.flying)
		}
	})
}
