// Package storedfields is the workload of a search engine that shows its hits: an op retrieves TOPK (10 or 100) documents
// from the stored fields of an index, at random.
//
// The index is one of the user's own (READBENCH_LUCENE_INDEX), or one that is built, in the format of a search library (see
// package lucene), from READBENCH_DOCS documents of READBENCH_DOC_SIZE bytes. A document lies in a chunk with others: it takes the
// chunk's header, its dictionary, and those of its ten sub-blocks that the document touches, the places of which only the header
// tells. So a document takes two reads that depend on each other, of some 12 of the chunk's 80 KiB.
//
// It mirrors the benchmark of stored fields that goes with the JMH suite in apache/lucene pull request 16279: Retrieve reads
// documents one after the other, PrefetchThenRead hints the chunks of 16 documents before it reads them, PrefetchOnly only hints.
// Each document is decoded, its fields are parsed, and its checksum is compared, in the measured time.
package storedfields
