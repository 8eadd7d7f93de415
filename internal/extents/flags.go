package extents

// Flags of an extent (linux/fiemap.h).
const (
	flagLast      = 0x1
	flagEncoded   = 0x8
	flagEncrypted = 0x80
	flagInline    = 0x200
	flagUnwritten = 0x800
)
