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
// Each document is decoded, its fields are parsed, and its checksum is compared, in the measured time. (An index of one's own
// has no checksums of documents; with READBENCH_VERIFY=full they are taken by reading all of it first.)
//
// In the cases hot and pressureN documents are drawn with replacement, uniformly or as READBENCH_SKEW says; in cold each chunk is
// drawn once between two evictions, and one document of it. prefetch=block hints whole chunks, except the last 16 that were
// hinted, as the library does; prefetch=span hints what the decoders want next, just before it is read: for 16 documents first
// headers and dictionaries, then the sub-blocks.
//
// Beside the core's metrics each row has, per document: used-B/doc, the bytes of the file that it took (of a sub-block that did not
// compress, as far as it goes); dev-B/doc, what the device delivered; reads/doc, headers/doc and blocks/doc, the ranges read,
// headers parsed and sub-blocks decoded; and docs/s. READBENCH_METRICS=all adds decompress-%, the share of the workers' time that
// goes into parsing and decompressing: the clock is read around every 16th document or window of them, after its pages were
// touched. Without it no clock is read.
package storedfields
