package strategies

import "unsafe"

// alignedBuffer returns n bytes that start at a multiple of align, a power of two. The garbage collector does
// not move them.
func alignedBuffer(n, align int) []byte {
	raw := make([]byte, n+align-1)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(raw))) & uintptr(align-1))
	return raw[skip : skip+n : skip+n]
}
