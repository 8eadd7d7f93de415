package rerank

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/readbench/suite/readbench"
)

const (
	clusterSize = 1024 // vectors of a cluster that are aimed at
	latent      = 32   // numbers in which vectors of a cluster differ much: what 1-bit codes of their many dimensions can tell
	pageAlign   = 4096 // bytes
)

// spec is what vectors are made from. Any of them is made from its number alone.
//
// A vector is its cluster's centre, plus a few numbers of its own spread over all dimensions, plus noise. Cluster c has the
// vectors c, c+clusters, c+2·clusters, …: the vectors of a cluster lie far apart in the file, as they would if it were in the
// order in which documents came.
type spec struct {
	vectors  int
	dim      int
	clusters int
	align    readbench.Align
	seed     uint64
}

func newSpec(c *readbench.Config) spec {
	s := spec{vectors: c.Vectors, dim: c.Dim, align: c.Align, seed: c.Seed}
	if s.vectors == 0 {
		s.vectors = max(1, int(int64(readbench.DefaultSize)/s.stride()))
	}
	s.clusters = max(1, s.vectors/clusterSize)
	return s
}

// size is how many bytes a vector has.
func (s spec) size() int { return 4 * s.dim }

// stride is how many bytes there are from one vector to the next in the file.
func (s spec) stride() int64 {
	if s.align == readbench.AlignPage {
		return int64((s.size() + pageAlign - 1) / pageAlign * pageAlign)
	}
	return int64(s.size())
}

// fileName tells everything that decides what is in the file.
func (s spec) fileName() string {
	const version = 1
	return fmt.Sprintf("vectors-v%d-%d-of-%d-%s-seed%d.f32", version, s.vectors, s.dim, s.align, s.seed)
}

// Streams of random numbers, by what they are for.
const (
	streamCentre = iota << 60
	streamVector
	streamQuery
	streamSign
)

// unit is a number in [-1, 1) from 16 bits.
func unit(bits uint64) float32 { return float32(int16(bits)) / (1 << 15) }

// fillUnit fills v with numbers in [-1, 1).
func fillUnit(v []float32, rng *rand.PCG) {
	for i := 0; i < len(v); i += 4 {
		bits := rng.Uint64()
		for k := i; k < min(i+4, len(v)); k++ {
			v[k] = unit(bits)
			bits >>= 16
		}
	}
}

// A generator makes vectors and queries. It is not safe for concurrent use; clone it.
type generator struct {
	spec
	centres []float32 // of all clusters, one behind the other
	sign    []float32 // of each dimension
	rng     *rand.PCG
}

func newGenerator(s spec) *generator {
	g := &generator{spec: s, centres: make([]float32, s.clusters*s.dim), sign: make([]float32, s.dim), rng: rand.NewPCG(0, 0)}
	for c := range s.clusters {
		g.rng.Seed(s.seed, streamCentre+uint64(c))
		fillUnit(g.centre(c), g.rng)
	}
	g.rng.Seed(s.seed, streamSign)
	fillUnit(g.sign, g.rng)
	for i, x := range g.sign {
		g.sign[i] = float32(math.Copysign(1, float64(x)))
	}
	return g
}

func (g *generator) clone() *generator {
	c := *g
	c.rng = rand.NewPCG(0, 0)
	return &c
}

// centre is the centre of a cluster.
func (g *generator) centre(c int) []float32 { return g.centres[c*g.dim : (c+1)*g.dim] }

// vector makes vector number i.
func (g *generator) vector(v []float32, i int) {
	g.rng.Seed(g.seed, streamVector+uint64(i))
	g.near(v, i%g.clusters)
}

// query makes query number i: one more vector of cluster i modulo the number of clusters.
func (g *generator) query(v []float32, i int64) {
	g.rng.Seed(g.seed, streamQuery+uint64(i))
	g.near(v, int(i%int64(g.clusters)))
}

// near makes a vector of a cluster.
func (g *generator) near(v []float32, cluster int) {
	const noise = 0.125
	var own [latent]float32
	for i := range own {
		own[i] = (unit(g.rng.Uint64()) + unit(g.rng.Uint64())) / 2 // more often near 0 than far from it
	}
	fillUnit(v, g.rng)
	centre, sign := g.centre(cluster), g.sign
	for d := range v {
		v[d] = centre[d] + sign[d]*own[d%latent] + noise*v[d]
	}
}

// encode is the vector as it stands in the file: little-endian.
func encode(p []byte, v []float32) {
	for i, x := range v {
		binary.LittleEndian.PutUint32(p[4*i:], math.Float32bits(x))
	}
}

// mark is what a vector's bytes are checked against: a mix of its last word and of one in each 4 KiB.
func mark(p []byte) uint32 {
	const odd = 0x9e3779b1
	h := binary.LittleEndian.Uint32(p[len(p)-4:])
	for i := 0; i < len(p); i += pageAlign {
		h = h*odd + binary.LittleEndian.Uint32(p[i:])
	}
	return h
}
