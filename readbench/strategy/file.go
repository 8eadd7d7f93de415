package strategy

import "os"

// A File is what a strategy opens: a regular file or a block device, of which the first Size bytes are read. It never changes
// and is safe for concurrent use.
type File struct {
	path string
	size int64
	page int
	open func(flags int) (*os.File, error)
}

// NewFile describes the first size bytes of the file or block device at path. It opens nothing. open is what Open calls; nil is
// os.OpenFile, which does not know whether the file was replaced meanwhile.
func NewFile(path string, size int64, open func(flags int) (*os.File, error)) *File {
	if open == nil {
		open = func(flags int) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|flags, 0) }
	}
	return &File{path, size, os.Getpagesize(), open}
}

// Path is the file's path.
func (f *File) Path() string { return f.path }

// Size is how many bytes, from the start, are read.
func (f *File) Size() int64 { return f.size }

// PageSize is the system's page size in bytes, to which strategies round hints.
func (f *File) PageSize() int { return f.page }

// Open opens the file for reading, with further flags of open(2). Each call gives a descriptor with advice and read-ahead
// state of its own, which the caller closes. It is an error if there is another file at the path than the one that is measured.
func (f *File) Open(flags int) (*os.File, error) { return f.open(flags) }
