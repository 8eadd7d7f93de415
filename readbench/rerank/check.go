package rerank

import (
	"encoding/binary"

	"github.com/readbench/suite/readbench/config"
)

// A summer makes a number of a vector's bytes, for comparing what was read with what should have been.
type summer func(p []byte) uint64

// summerOf is what READBENCH_VERIFY asks for.
func summerOf(v config.Verify) summer {
	if v == config.VerifyFull {
		return sumAll
	}
	return sumPages
}

const sumMul = 0xbf58476d1ce4e5b9 // odd: multiplying loses nothing

// sumPages takes the first number, one in every further block, and the last: it touches each page that a vector has, and
// tells any two vectors apart, but for one in 2^32 or so.
func sumPages(p []byte) uint64 {
	if len(p) < 4 {
		return 0
	}
	sum := uint64(binary.LittleEndian.Uint32(p[len(p)-4:]))
	for at := 0; at+4 <= len(p); at += blockSize {
		sum = (sum + uint64(binary.LittleEndian.Uint32(p[at:]))<<32) * sumMul
	}
	return sum ^ sum>>32
}

// sumAll takes all numbers: any that changes alone changes the sum. Four sums, since one would wait for itself.
func sumAll(p []byte) uint64 {
	var s0, s1, s2, s3 uint64
	for ; len(p) >= 32; p = p[32:] {
		s0 = (s0 + binary.LittleEndian.Uint64(p)) * sumMul
		s1 = (s1 + binary.LittleEndian.Uint64(p[8:])) * sumMul
		s2 = (s2 + binary.LittleEndian.Uint64(p[16:])) * sumMul
		s3 = (s3 + binary.LittleEndian.Uint64(p[24:])) * sumMul
	}
	for ; len(p) >= 4; p = p[4:] {
		s0 = (s0 + uint64(binary.LittleEndian.Uint32(p))) * sumMul
	}
	return ((s0*sumMul+s1)*sumMul+s2)*sumMul + s3
}
