package lucene

// Check is how much Open checks of the data files (.fdt); all others are always read and checked as a whole.
type Check int

// The degrees of checking.
const (
	CheckEnds Check = iota // header, footer and length
	CheckFull              // the checksum too, which reads all of every .fdt
)
