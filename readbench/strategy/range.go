package strategy

// A Range is n bytes at an offset of a file.
type Range struct {
	Off int64 // byte offset, at least 0
	N   int   // bytes, at least 1; Off+N is at most the file's size
}
