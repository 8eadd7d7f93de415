package datafile

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"testing"
)

// The format of data files never changes silently: these are words of seed 1, computed by an independent program.
func TestGoldenWords(t *testing.T) {
	for _, c := range []struct {
		seed, word, want uint64
	}{
		{1, 0, 0x7ab40e090f363a7d},
		{1, 1, 0xbfef8030ddc2d772},
		{1, 2, 0x5f552ce482f2aa47},
		{1, 511, 0xfa0646762cf499ea},
		{1, 512, 0x09b90483a262a3ab},
		{1, 1 << 40, 0x94fce0ccfdf6d49e},
	} {
		off := int64(c.word * 8)
		if got := binary.LittleEndian.Uint64(filled(c.seed, off, 8)); got != c.want {
			t.Errorf("seed %d: word %d, filled, is %#016x, want %#016x", c.seed, c.word, got, c.want)
		}
		if got := New(c.seed).wordAt(off); got != c.want {
			t.Errorf("seed %d: word %d, computed, is %#016x, want %#016x", c.seed, c.word, got, c.want)
		}
	}
}

// mix is the output function of SplitMix64, as published: the first outputs of a generator of state 1234567.
func TestMixIsSplitMix64(t *testing.T) {
	state := uint64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423} {
		state += gamma
		if got := mix(state); got != want {
			t.Errorf("output %d is %d, want %d", i, got, want)
		}
	}
}

func TestUnmixInvertsMix(t *testing.T) {
	values := []uint64{0, 1, math.MaxUint64, gamma}
	for bit := range 64 {
		values = append(values, 1<<bit)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		values = append(values, rng.Uint64())
	}
	for _, v := range values {
		if got := unmix(mix(v)); got != v {
			t.Fatalf("unmix(mix(%#x)) is %#x", v, got)
		}
		if got := mix(unmix(v)); got != v {
			t.Fatalf("mix(unmix(%#x)) is %#x", v, got)
		}
	}
	if product := uint64(gamma); product*gammaInv != 1 {
		t.Errorf("γ times its inverse is %#x", product*gammaInv)
	}
}

func TestSeedIsWhatNewWasGiven(t *testing.T) {
	for _, seed := range []uint64{0, 1, 42, math.MaxUint64} {
		if got := New(seed).Seed(); got != seed {
			t.Errorf("the seed of New(%d) is %d", seed, got)
		}
	}
}

// Where a range is cut does not matter: Fill of the parts is Fill of the whole, and a shorter file begins like
// a longer one.
func TestFillOfPartsIsFillOfTheWhole(t *testing.T) {
	const size = 3 * BlockSize
	whole := filled(7, 0, size)
	for _, part := range []int{8, 24, 4096, 4104} {
		got := make([]byte, size)
		for at := 0; at < size; at += part {
			New(7).Fill(got[at:min(at+part, size)], int64(at))
		}
		if !bytes.Equal(got, whole) {
			t.Errorf("filled %d bytes at a time it is different", part)
		}
	}
}

var anyOffset = []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 4090, 4095, 4096, 4097, 8191, 1<<40 + 3, 1<<50 - 1}

func lengths() (all []int) {
	for n := range 41 {
		all = append(all, n)
	}
	return append(all, BlockSize-1, BlockSize, BlockSize+1, 3*BlockSize+5)
}

// Every check accepts the content, wherever the range begins and however long it is.
func TestChecksAcceptTheContent(t *testing.T) {
	c := New(3)
	for _, off := range anyOffset {
		for _, n := range lengths() {
			p := filled(3, off, n)
			for rule, ok := range map[string]bool{
				"CheckEnds":                 c.CheckEnds(p, off),
				"CheckStrides of 8 bytes":   c.CheckStrides(p, off, 8),
				"CheckStrides of 24 bytes":  c.CheckStrides(p, off, 24),
				"CheckStrides of one block": c.CheckStrides(p, off, BlockSize),
				"Check":                     c.Check(p, off),
				"Explain":                   c.Explain(p, off) == nil,
			} {
				if !ok {
					t.Errorf("%s refuses %d good bytes at %d", rule, n, off)
				}
			}
		}
	}
}

// Every check refuses the content of another position or another seed, from 8 bytes on: below that, chance may have it.
func TestChecksRefuseOtherContent(t *testing.T) {
	const off = 3*BlockSize + 5
	for _, n := range []int{8, 9, 100, BlockSize, 3 * BlockSize} {
		for what, p := range map[string][]byte{
			"one byte further":  filled(3, off+1, n),
			"one word further":  filled(3, off+8, n),
			"one block further": filled(3, off+BlockSize, n),
			"of another seed":   filled(4, off, n),
			"zero":              make([]byte, n),
		} {
			c := New(3)
			for rule, ok := range map[string]bool{
				"CheckEnds":    c.CheckEnds(p, off),
				"CheckStrides": c.CheckStrides(p, off, BlockSize),
				"Check":        c.Check(p, off),
				"Explain":      c.Explain(p, off) == nil,
			} {
				if ok {
					t.Errorf("%s accepts %d bytes that are %s", rule, n, what)
				}
			}
		}
	}
}

// What the cheap checks look at, byte by byte, in 100 bytes at 4090: CheckEnds the first and the last word,
// CheckStrides of 32 bytes the aligned words at 4120 and 4152 (the one at 4184 does not fit), too.
func TestWhatTheCheapChecksSee(t *testing.T) {
	const off, n = 4090, 100
	in := func(i, from int) bool { return from <= i && i < from+8 }
	for i := range n {
		p := filled(3, off, n)
		p[i] ^= 0x10
		ends := in(i, 0) || in(i, n-8)
		if got := New(3).CheckEnds(p, off); got == ends {
			t.Errorf("byte %d damaged: CheckEnds says %v", i, got)
		}
		strides := ends || in(i, 4120-off) || in(i, 4152-off)
		if got := New(3).CheckStrides(p, off, 32); got == strides {
			t.Errorf("byte %d damaged: CheckStrides says %v", i, got)
		}
	}
}

// Data that compresses would be read faster by a file system or a device that compresses.
func TestContentIsIncompressible(t *testing.T) {
	for _, seed := range []uint64{0, 1} {
		p := filled(seed, 0, 1<<20)
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(p); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if packed.Len() < len(p) {
			t.Errorf("seed %d: %d bytes are %d compressed", seed, len(p), packed.Len())
		}
	}
}

// Blocks that are equal would be stored once by a file system or a device that deduplicates.
func TestBlocksAreAllDifferent(t *testing.T) {
	const blocks = 4096
	seen := map[uint64]string{}
	hash := maphash.MakeSeed()
	for _, seed := range []uint64{1, 2} {
		p := filled(seed, 0, blocks*BlockSize)
		for i := range blocks {
			h := maphash.Bytes(hash, p[i*BlockSize:(i+1)*BlockSize])
			at := fmt.Sprintf("block %d of seed %d", i, seed)
			if before, ok := seen[h]; ok {
				t.Fatalf("%s is %s again", at, before)
			}
			seen[h] = at
		}
	}
}
