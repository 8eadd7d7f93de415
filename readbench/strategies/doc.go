// Package strategies has the built-in ways of reading a file: copying from a mapping (with advice, with hints, by a prefetch
// policy), pread, os.File.ReadAt, reads past the page cache, and io_uring. They are plug-ins like any other: they implement package
// strategy, use no part of the measuring side, and nothing but workloads and tests names them.
package strategies
