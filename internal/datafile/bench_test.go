package datafile

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// The two ways of making a file of one size. The content comes on top for Create, dd only writes zeros.
const benchSize = 256 << 20

func BenchmarkCreate(b *testing.B) {
	path := filepath.Join(b.TempDir(), "data")
	b.SetBytes(benchSize)
	seed := uint64(0)
	for b.Loop() {
		seed++ // or the file would be there
		if made, err := Create(b.Context(), Spec{Path: path, Size: benchSize, Seed: seed}); err != nil || !made {
			b.Fatalf("made %v, error %v", made, err)
		}
	}
}

func BenchmarkDD(b *testing.B) {
	dd, err := exec.LookPath("dd")
	if err != nil {
		b.Skipf("there is no dd to compare with: %v", err)
	}
	path := filepath.Join(b.TempDir(), "data")
	b.SetBytes(benchSize)
	for b.Loop() {
		cmd := exec.Command(dd, "if=/dev/zero", "of="+path, "oflag=direct", "conv=fsync", "bs=4M", "count="+strconv.Itoa(benchSize/(4<<20)))
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Skipf("dd: %v: %s", err, out)
		}
	}
}

func BenchmarkFill(b *testing.B) {
	p := make([]byte, 1<<20)
	c := New(1)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		c.Fill(p, 0)
	}
}

// BenchmarkCheckStrides is what checking a word in every page costs a read of 16 KiB.
func BenchmarkCheckStrides(b *testing.B) {
	const n, off = 16 << 10, 3
	p := filled(1, off, n)
	c := New(1)
	for b.Loop() {
		if !c.CheckStrides(p, off, 4096) {
			b.Fatal("good content is refused")
		}
	}
}
