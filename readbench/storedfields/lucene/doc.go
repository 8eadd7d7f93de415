// Package lucene reads and writes the stored fields of Lucene indexes: the files .fdm, .fdx and .fdt, and of the
// others (segments_N, .si, .fnm, .cfs, .cfe) what it takes to find and name them. It knows the layout of Lucene 9.0
// and later and that of 8.7 to 8.11, both with LZ4 (BEST_SPEED) and DEFLATE (BEST_COMPRESSION).
//
// Open reads everything but .fdt into memory and checks it. From there on the package does no I/O: Segment.Chunk
// says where in which file a document's chunk lies, and a Decoder says step by step which bytes of the chunk it
// needs next (its header, the dictionary, the sub-blocks that the document touches) and decodes what the caller
// gives it. So any way of reading a file can carry the reads out.
//
// A chunk is what the library's own documents call a block of documents: its header lists the lengths of up to 1024
// documents, and its data are one run of compressed bytes (several if it is "sliced"), each run a dictionary and ten
// sub-blocks, each sub-block compressed with the dictionary before it.
//
// A Writer makes such files in the 9.0 layout with LZ4, with headers, ids and checksums.
//
// The format is described in the documentation of the library's packages org.apache.lucene.codecs.lucene90 and
// org.apache.lucene.backward_codecs.lucene87; files that 8.7, 9.12 and 10.6 wrote
// are the tests. No file of another release was at hand: for those of 8.8 to 8.11 (the dirty bit of a chunk) and the field
// names of 9.0 to 9.3, and for compound files of 8.x, the code follows the documentation alone.
package lucene
