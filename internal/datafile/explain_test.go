package datafile

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Every damaged byte, wherever it is, is found by Check and named exactly by Explain: offset, block, what is
// there, what should be. Nothing is said about where it belongs: one wrong byte belongs nowhere, and the word
// after it is where it should be.
func TestEveryDamagedByteIsNamed(t *testing.T) {
	c := New(1)
	for _, off := range []int64{0, 1, 3, 7, 8, 4090, 4095, 4096, 1<<40 + 5} {
		var all []int
		for n := 1; n <= 40; n++ {
			all = append(all, n)
		}
		if off == 4090 { // three blocks' bytes
			all = append(all, BlockSize+9)
		}
		for _, n := range all {
			p := filled(1, off, n)
			for i := range p {
				good := p[i]
				p[i] ^= 1 << (i % 8)
				at := off + int64(i)
				if c.Check(p, off) {
					t.Fatalf("%d bytes at %d: Check accepts a damaged byte %d", n, off, at)
				}
				want := fmt.Sprintf("byte %d (block %d) is 0x%02x, want 0x%02x", at, at/4096, p[i], good)
				if err := c.Explain(p, off); err == nil || err.Error() != want {
					t.Fatalf("%d bytes at %d, damaged at %d: Explain says %q, want %q", n, off, at, fmt.Sprint(err), want)
				}
				p[i] = good
			}
			if !c.Check(p, off) {
				t.Fatal("the test left damage")
			}
		}
	}
}

// The first of several is named.
func TestExplainNamesTheFirst(t *testing.T) {
	p := filled(1, 0, 4*BlockSize)
	for _, i := range []int{4*BlockSize - 1, BlockSize + 100, 3 * BlockSize} {
		p[i] ^= 1
	}
	if err := New(1).Explain(p, 0); err == nil || !strings.Contains(err.Error(), "byte 4196 (block 1) is") {
		t.Errorf("damaged first at byte 4196: %v", err)
	}
}

// Explain tells where bytes belong that are in the wrong place, and tells zeros.
func TestExplainTellsWhatIsThere(t *testing.T) {
	const block = BlockSize
	for _, c := range []struct {
		rule string
		p    []byte
		off  int64
		want string // after "; ", "" if there is nothing to tell
	}{
		{"block 3 where block 1 should be", filled(1, 3*block, block), 1 * block, "what is there belongs to byte 12288 (block 3)"},
		{"block 1 where block 3 should be", filled(1, 1*block, block), 3 * block, "what is there belongs to byte 4096 (block 1)"},
		{"one word late", filled(1, block+8, block), block, "what is there belongs to byte 4104 (block 1)"},
		{"a whole tebibyte late", filled(1, 1<<40, block), 0, "what is there belongs to byte 1099511627776 (block 268435456)"},
		{"a range that begins within a word", filled(1, 3*block+5, 100), block + 5, "what is there belongs to byte 12293 (block 3)"},
		{"a range that begins within another word than it should", filled(1, 3*block+5, 100), block + 2, "what is there belongs to byte 12293 (block 3)"},
		{"blocks 2 and 3 swapped in a longer range", swapped(1, 2, 3, 5), 0, "what is there belongs to byte 12288 (block 3)"},
		{"zeros", make([]byte, block), block, "there are zeros: a hole, or never written"},
		{"zeros, the range begins within a word", make([]byte, 100), block + 3, "there are zeros: a hole, or never written"},
		{"zeros from block 2 on", append(filled(1, 0, 2*block), make([]byte, block)...), 0, "there are zeros: a hole, or never written"},
		{"of another seed", filled(2, block, block), block, ""},
		{"too short to hold a whole word", filled(1, 3*block+1, 9), block + 1, ""},
		{"shorter than a word", filled(1, 3*block, 7), block, ""},
	} {
		err := New(1).Explain(c.p, c.off)
		if err == nil {
			t.Errorf("%s: nothing is wrong, it says", c.rule)
			continue
		}
		if _, told, _ := strings.Cut(err.Error(), "; "); told != c.want {
			t.Errorf("%s: Explain says %q, want %q", c.rule, err, c.want)
		}
	}
}

func swapped(seed uint64, a, b, blocks int) []byte {
	p := filled(seed, 0, blocks*BlockSize)
	copy(p[a*BlockSize:], filled(seed, int64(b)*BlockSize, BlockSize))
	copy(p[b*BlockSize:], filled(seed, int64(a)*BlockSize, BlockSize))
	return p
}

// A first block tells its seed, whatever that is.
func TestIdentifyFindsTheSeed(t *testing.T) {
	for _, seed := range []uint64{0, 1, 42, math.MaxUint64} {
		for _, n := range []int{BlockSize, BlockSize + 1, 3 * BlockSize} {
			c, ok := Identify(filled(seed, 0, n))
			if !ok || c != New(seed) {
				t.Errorf("%d bytes of seed %d are identified as seed %d, ok %v", n, seed, c.Seed(), ok)
			}
		}
	}
}

// A later block of a data file is a first block, too: of another seed. So a file that lost its beginning is a
// wrong one, never a right one.
func TestIdentifyTakesALaterBlockForAnotherSeed(t *testing.T) {
	if c, ok := Identify(filled(1, BlockSize, BlockSize)); !ok || c.Seed() == 1 {
		t.Errorf("the second block is identified as seed %d, ok %v", c.Seed(), ok)
	}
}

// Anything else is no data file's first block.
func TestIdentifyRefusesTheRest(t *testing.T) {
	for rule, p := range map[string][]byte{
		"nothing":                           nil,
		"less than a block":                 filled(1, 0, BlockSize-1),
		"a block of zeros":                  make([]byte, BlockSize),
		"a block that begins one byte late": filled(1, 1, BlockSize),
		"half a block, then zeros":          append(filled(1, 0, BlockSize/2), make([]byte, BlockSize/2)...),
		"text":                              []byte(strings.Repeat("all work and no play", BlockSize/20+1)),
	} {
		if c, ok := Identify(p); ok {
			t.Errorf("%s is identified as seed %d", rule, c.Seed())
		}
	}
	p := filled(1, 0, BlockSize)
	for i := range p {
		p[i] ^= 1
		if c, ok := Identify(p); ok {
			t.Errorf("a block damaged at byte %d is identified as seed %d", i, c.Seed())
		}
		p[i] ^= 1
	}
}
