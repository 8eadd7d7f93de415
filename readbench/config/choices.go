package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A SizeList are the values of READBENCH_READ_SIZE; empty if it was not set.
type SizeList []Size

// UnmarshalText parses sizes with commas between them.
func (l *SizeList) UnmarshalText(text []byte) error {
	*l = nil
	for part := range strings.SplitSeq(string(text), ",") {
		var n Size
		if err := n.UnmarshalText([]byte(strings.TrimSpace(part))); err != nil {
			return err
		}
		if slices.Contains(*l, n) {
			return fmt.Errorf("%s is there twice", n)
		}
		*l = append(*l, n)
	}
	return nil
}

// Or returns the list, or a workload's own sizes if it is empty.
func (l SizeList) Or(sizes ...Size) SizeList {
	if len(l) == 0 {
		return sizes
	}
	return l
}

// A ThreadList are the values of READBENCH_THREADS; empty if it was not set.
type ThreadList []int

// Or returns the list, or a workload's own numbers of threads if it is empty.
func (l ThreadList) Or(threads ...int) ThreadList {
	if len(l) == 0 {
		return threads
	}
	return l
}

// maxThreads bounds what one value of READBENCH_THREADS may ask for.
const maxThreads = 1024

// UnmarshalText parses numbers with commas between them.
func (l *ThreadList) UnmarshalText(text []byte) error {
	*l = nil
	for part := range strings.SplitSeq(string(text), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > maxThreads {
			return fmt.Errorf("%q is not a number of threads from 1 to %d; a list is written 1,4,8,16", part, maxThreads)
		}
		if slices.Contains(*l, n) {
			return fmt.Errorf("%d is there twice", n)
		}
		*l = append(*l, n)
	}
	return nil
}

// CaseList are the values of READBENCH_CASES. What cases there are Load is told.
type CaseList []string

// UnmarshalText parses names of cases with commas between them.
func (l *CaseList) UnmarshalText(text []byte) error {
	*l = nil
	for part := range strings.SplitSeq(string(text), ",") {
		name := strings.TrimSpace(part)
		if slices.Contains(*l, name) {
			return fmt.Errorf("%q is there twice", name)
		}
		*l = append(*l, name)
	}
	return nil
}

// PolicyList are the values of READBENCH_POLICIES; empty if it was not set.
type PolicyList []string

// policyNames are those of the policies in package prefetch; package strategies, which imports both, has a test that says so.
// They are here so that a wrong name stops a run before it begins.
var policyNames = []string{"none", "always", "loaded", "backoff", "backoff-local", "slowclimb", "runlength", "bitmap", "adaptive"}

// UnmarshalText parses names of policies with commas between them.
func (l *PolicyList) UnmarshalText(text []byte) error {
	*l = nil
	for part := range strings.SplitSeq(string(text), ",") {
		name := strings.TrimSpace(part)
		if !slices.Contains(policyNames, name) {
			return fmt.Errorf("there is no prefetch policy %q; there are %s (one of your own needs no name here: pass its value to random.RunPolicies)",
				name, strings.Join(policyNames, ", "))
		}
		if slices.Contains(*l, name) {
			return fmt.Errorf("%q is there twice", name)
		}
		*l = append(*l, name)
	}
	return nil
}

// ProbeCall is the system call by which policies probe: a prefetch.ProbeKind; empty if READBENCH_PROBE was not set.
type ProbeCall string

// UnmarshalText parses one of the values.
func (p *ProbeCall) UnmarshalText(text []byte) error { return oneOf(p, text, "cachestat", "mincore") }

// HintCall is the system call by which policies hint: a prefetch.HintKind; empty if READBENCH_HINT was not set.
type HintCall string

// UnmarshalText parses one of the values.
func (h *HintCall) UnmarshalText(text []byte) error {
	return oneOf(h, text, "fadvise", "process_madvise", "madvise")
}

// A CountList is a list of numbers above 0; empty if the variable was not set.
type CountList []int

// Or returns the list, or a workload's own numbers if it is empty.
func (l CountList) Or(numbers ...int) CountList {
	if len(l) == 0 {
		return numbers
	}
	return l
}

// maxNumber bounds the numbers of a CountList.
const maxNumber = 1 << 20

// UnmarshalText parses numbers with commas between them.
func (l *CountList) UnmarshalText(text []byte) error {
	*l = nil
	for part := range strings.SplitSeq(string(text), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > maxNumber {
			return fmt.Errorf("%q is not a number from 1 to %d; a list is written 10,100", part, maxNumber)
		}
		if slices.Contains(*l, n) {
			return fmt.Errorf("%d is there twice", n)
		}
		*l = append(*l, n)
	}
	return nil
}

// LuceneCheck says what is checked of an index's data files when it is opened.
type LuceneCheck string

// The values of READBENCH_LUCENE_CHECK.
const (
	LuceneCheckEnds LuceneCheck = "ends" // header, footer and length
	LuceneCheckFull LuceneCheck = "full" // the checksum too
)

// UnmarshalText parses one of the values.
func (l *LuceneCheck) UnmarshalText(text []byte) error {
	return oneOf(l, text, LuceneCheckEnds, LuceneCheckFull)
}

// DocText says what the documents of a built index hold.
type DocText string

// The values of READBENCH_DOC_TEXT.
const (
	DocTextRandom DocText = "random" // incompressible bytes
	DocTextJSON   DocText = "json"   // log-like records
)

// UnmarshalText parses one of the values.
func (d *DocText) UnmarshalText(text []byte) error { return oneOf(d, text, DocTextRandom, DocTextJSON) }

// Skew says how often which document is drawn.
type Skew string

// The values of READBENCH_SKEW.
const (
	SkewUniform Skew = "uniform" // all alike
	SkewZipf    Skew = "zipf"    // few often, most seldom
)

// UnmarshalText parses one of the values.
func (s *Skew) UnmarshalText(text []byte) error { return oneOf(s, text, SkewUniform, SkewZipf) }

// Align says where vectors start in their file.
type Align string

// The values of READBENCH_ALIGN.
const (
	AlignPage   Align = "page"   // at multiples of 4 KiB
	AlignPacked Align = "packed" // one behind the other
)

// UnmarshalText parses one of the values.
func (a *Align) UnmarshalText(text []byte) error { return oneOf(a, text, AlignPage, AlignPacked) }

// Procs says how many processors Go has while measuring.
type Procs string

// The values of READBENCH_PROCS.
const (
	ProcsThreads Procs = "threads" // as many as threads
	ProcsInherit Procs = "inherit" // as many as go test was told (-cpu)
)

// UnmarshalText parses one of the values.
func (p *Procs) UnmarshalText(text []byte) error {
	return oneOf(p, text, ProcsThreads, ProcsInherit)
}

// Verify says what of each read is checked.
type Verify string

// The values of READBENCH_VERIFY.
const (
	VerifyPages Verify = "pages" // the first word, one in each further page, and the last
	VerifyFull  Verify = "full"  // every byte
)

// UnmarshalText parses one of the values.
func (v *Verify) UnmarshalText(text []byte) error { return oneOf(v, text, VerifyPages, VerifyFull) }

// Metrics says which set of metrics is reported.
type Metrics string

// The values of READBENCH_METRICS.
const (
	MetricsDefault Metrics = "default"
	MetricsAll     Metrics = "all"
)

// UnmarshalText parses one of the values.
func (m *Metrics) UnmarshalText(text []byte) error { return oneOf(m, text, MetricsDefault, MetricsAll) }

// Share says what a run does about others on the same file.
//
// A run locks the files that it reads for as long as its process lives: exclusively, or with ShareShare against exclusive
// locks only. So runs that share are not in each other's way, but no other run is with them, and mkfile -force and
// dropcache find any of them out.
type Share string

// The values of READBENCH_SHARE.
const (
	ShareWait  Share = "wait"  // alone: waits for others to end
	ShareGo    Share = "go"    // alone if that is possible, else beside the others
	ShareShare Share = "share" // with others that share; waits for those that do not
)

// UnmarshalText parses one of the values.
func (s *Share) UnmarshalText(text []byte) error {
	return oneOf(s, text, ShareWait, ShareGo, ShareShare)
}

func oneOf[S ~string](dst *S, text []byte, values ...S) error {
	*dst = S(text)
	if !slices.Contains(values, *dst) {
		return fmt.Errorf("it must be one of %v", values)
	}
	return nil
}
