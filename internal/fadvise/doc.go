// Package fadvise gives the kernel advice on descriptors (posix_fadvise).
package fadvise
