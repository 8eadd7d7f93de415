package rerank

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

const (
	blockSize   = 4096    // what READBENCH_ALIGN=page aligns to, whatever the system's page is
	defaultSize = 1 << 30 // bytes of the file, unless READBENCH_VECTORS says how many vectors
	mostDefault = 1 << 22 // vectors that the default has at the most: of small ones a smaller file
	mostVectors = math.MaxInt32
	fileVersion = 1 // of what vectors hold; a file of another one is made anew
)

// layout is where vectors lie in their file.
type layout struct {
	dim, vectors int
	align        config.Align
	stride       int64 // bytes from one vector to the next
}

func newLayout(c *config.Config) (layout, error) {
	l := layout{dim: c.Dim, vectors: c.Vectors, align: c.Align}
	l.stride = int64(l.bytes())
	if l.align == config.AlignPage {
		l.stride = roundUp(l.stride)
	}
	if l.vectors == 0 {
		l.vectors = int(min(max(1, defaultSize/l.stride), mostDefault))
	}
	if l.vectors > mostVectors {
		return l, c.Blame(fmt.Errorf("a file has %d vectors at the most", mostVectors), "VECTORS")
	}
	return l, nil
}

func roundUp(n int64) int64 { return (n + blockSize - 1) / blockSize * blockSize }

// bytes is how many a vector has.
func (l layout) bytes() int { return 4 * l.dim }

// size is that of the file: whole blocks, with zeros behind the last vector.
func (l layout) size() int64 { return roundUp(int64(l.vectors) * l.stride) }

// place is where vector n lies.
func (l layout) place(n int32) strategy.Range {
	return strategy.Range{Off: int64(n) * l.stride, N: l.bytes()}
}

// path is that of the file: in the user's cache directory, under a name that says all that its content depends on.
func (l layout) path(seed uint64) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no directory for the file of vectors: %w; set XDG_CACHE_HOME", err)
	}
	return filepath.Join(dir, "readbench", fmt.Sprintf("vectors-v%d-%dx%d-%s-seed%d.bin", fileVersion, l.vectors, l.dim, l.align, seed)), nil
}

// floats are the numbers that p holds, in the machine's byte order: a file of vectors is made where it is read.
func floats(p []byte) ([]float32, bool) {
	at := unsafe.Pointer(unsafe.SliceData(p))
	if uintptr(at)%unsafe.Alignof(float32(0)) != 0 {
		return nil, false
	}
	return unsafe.Slice((*float32)(at), len(p)/4), true
}

// asBytes are the bytes of v.
func asBytes(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}
