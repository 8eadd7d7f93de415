//go:build !linux

package datafile

import "os"

func allocate(f *os.File, size int64) error { return f.Truncate(size) } // every block is written afterwards

func openDirect(path string) (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) }
