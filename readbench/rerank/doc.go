// Package rerank is the second stage of a vector search: a query has a shortlist of vectors (READBENCH_SHORTLIST, 350), which lie
// scattered over a file that does not fit into memory; all are read, scored exactly, and the best 100 kept.
//
// The first stage is there too, so that shortlists are what they are in practice: 1-bit codes of all vectors, in memory, of which
// a query scans those of the nearest clusters. Both stages are in the measured time; the first one reads nothing.
//
// It mirrors the benchmark in ad-freiburg/qlever and in the discussions of vector search over io_uring that docs/published.md
// names: backends that read one vector after the other, by a pool of threads, by io_uring, or from a mapping with prefetch, side by
// side, in a closed loop (BenchmarkQuery: each thread has its next query when the last one is answered) and in an open one
// (BenchmarkOpenLoop: queries come when they come), and the rate of queries that a service level allows (BenchmarkSLA).
package rerank
