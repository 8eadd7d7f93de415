package readbench

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/pressure"
)

// result is what one call of a row showed.
type result struct {
	row           *Row
	direct        bool
	mapped        bool
	disk          bool // whether the counters tell of the device
	page          int  // bytes
	fileSize      int64
	listLength    int64  // ranges of a list
	ahead         uint64 // cold scans: bytes before the cursors that were resident at the end
	ops           int
	elapsed       time.Duration
	counters      evidence.Counters
	intervals     int             // that the counters are over
	lookups       int             // read system calls that reading the counters made
	stalls        pressure.Totals // of the whole machine, with METRICS=all
	counts        Counts
	counted       bool // whether all readers count
	before, after pagecache.Residency
	tally         tally         // in rows of units
	mixed         bool          // whether there is such a share
	coldReads     float64       // mixed: share of reads that met cold pages
	groupFile     float64       // pressure: page cache of the memory-limited group, as a share of what it was made for
	epochShare    float64       // cold: largest resident share at the end of an epoch
	idle          time.Duration // of all workers, waiting for each other with the timer running
	latency       *hdrhistogram.Histogram
}

// ranges is how many ranges the ops had.
func (res *result) ranges() int64 {
	if res.row.Units > 0 {
		return int64(res.tally.ranges)
	}
	return int64(res.ops) * int64(res.row.Batch)
}

// bytes is how many bytes these had.
func (res *result) bytes() int64 {
	if res.row.Units > 0 {
		return int64(res.tally.bytes)
	}
	return res.ranges() * int64(res.row.MaxRange)
}

// hints is how many hints the readers say they gave, as far as their calls are of kinds known here.
func (res *result) hints() (n uint64) {
	for _, kind := range []string{"madvise", "process_madvise", "fadvise"} {
		n += res.counts.Calls[kind]
	}
	return n
}

// units is what metrics are per.
func (res *result) units() float64 {
	if res.row.PerRange {
		return float64(res.ranges())
	}
	return float64(res.ops)
}

// touched is how many bytes the pages have that were touched: on average if each range starts anywhere in a page;
// side by side, their pages are touched once.
func (res *result) touched() float64 {
	switch {
	case res.row.Units > 0:
		return float64(res.tally.pages) * float64(res.page)
	case res.row.Effect == EffectFault:
		return float64(res.ranges()) * float64(res.page)
	case res.row.Order == OrderSequential:
		return float64(res.bytes())
	}
	return float64(res.bytes()) + float64(res.ranges())*float64(res.page-1)
}

// coldShare is the share of what was asked for that was not resident: of the ranges that were probed, or else of the
// pages, as what the device delivered tells. What it delivered beyond them warmed later ones: evenly spread, and half
// of it on average when one is asked for.
func (res *result) coldShare() float64 {
	if res.counts.Probed > 0 {
		return float64(res.counts.Missed) / float64(res.counts.Probed)
	}
	delivered, touched := float64(res.counters.DeviceBytes), res.touched()
	perRange := max(0, delivered-touched) / float64(res.ranges())
	spoilt := perRange * float64(min(res.ranges(), res.listLength)) / float64(res.fileSize)
	return min(1, delivered/touched) - spoilt/2
}

// judgeProbes returns an error unless each range of a row of probes was probed, as the readers count it.
func (res *result) judgeProbes() error {
	if res.row.Effect == EffectProbe && !res.counted {
		return fmt.Errorf("%s: its readers are no Counters, and only they can tell what a row of probes met (Counts.Probed)", res.row.Strategy.Name())
	}
	if probed := int64(res.counts.Probed); res.row.Effect == EffectProbe && probed != res.ranges() {
		return fmt.Errorf("%s counts %d probes of %d ranges", res.row.Strategy.Name(), probed, res.ranges())
	}
	return nil
}

// add merges a worker's latencies.
func (res *result) add(h *hdrhistogram.Histogram) {
	if h == nil {
		return
	}
	if res.latency == nil {
		res.latency = hdrhistogram.New(h.LowestTrackableValue(), h.HighestTrackableValue(), int(h.SignificantFigures()))
	}
	res.latency.Merge(h)
}

// judgeSyscalls compares the read system calls that the strategy says it made with those that the kernel counted.
func (res *result) judgeSyscalls() error {
	if res.row.Effect == EffectNone || !res.counted {
		return nil
	}
	said, counted := int(res.counts.ReadSyscalls), int(res.counters.ReadSyscalls)-res.lookups
	strange := evidence.StrangeSyscalls * res.intervals
	if res.row.Drive != nil {
		// Go's scheduler wakes a thread that polls by an event that this thread then reads: for goroutines that wait for ops and
		// for points in time. Against the reads that a query has it is little.
		strange += int(res.ranges() / 100)
	}
	if counted > said+strange || counted < said {
		return fmt.Errorf("%s says that it made %d read system calls, the kernel counted %d for this process: it reads by another way than it says",
			res.row.Strategy.Name(), said, counted)
	}
	return nil
}

// A metric is one number of a result.
type metric struct {
	unit   string
	better string // "higher", "lower" or "" for neither
	doc    string
	all    bool // only with READBENCH_METRICS=all
	value  func(*result) (v float64, ok bool)
}

func perOp(f func(*result) float64) func(*result) (float64, bool) {
	return func(res *result) (float64, bool) { return f(res) / res.units(), true }
}

// counted is perOp of what the readers count; there is no such number if they do not.
func counted(f func(*Counts) uint64) func(*result) (float64, bool) {
	return func(res *result) (float64, bool) { return float64(f(&res.counts)) / res.units(), res.counted }
}

func percentile(q float64) func(*result) (float64, bool) {
	return func(res *result) (float64, bool) {
		if res.latency == nil || res.latency.TotalCount() == 0 {
			return 0, false
		}
		return float64(res.latency.ValueAtPercentile(q)), true
	}
}

// metrics is every metric but ns/op and MB/s, which the testing package reports, and KIND/op, which the
// strategies name.
var metrics = []metric{
	{"ops/ms", "higher", "ops per millisecond over all threads: JMH's unit", false,
		func(res *result) (float64, bool) { return res.units() / res.elapsed.Seconds() / 1e3, true }},
	{"dev-B/op", "lower", "bytes that this process made a device deliver (`read_bytes` of /proc/self/io)", false,
		perOp(func(res *result) float64 { return float64(res.counters.DeviceBytes) })},
	{"dev-B/B", "lower", "bytes that the device delivered for each byte read: above 1 is what was read in vain, and pages of which only a part was wanted (what lies before the cursor of a cold scan when the call ends is left out)", false,
		func(res *result) (float64, bool) {
			return float64(res.counters.DeviceBytes-min(res.ahead, res.counters.DeviceBytes)) / float64(res.bytes()), res.row.Effect == EffectRead
		}},
	{"cold-%", "", "mixed rows, hints, probes and faults: the share of the reads, or of what was asked for, that was not in the page cache (docs/method.md says how it is measured)", false,
		func(res *result) (float64, bool) {
			if res.row.Predrawn {
				return 100 * res.coldShare(), res.row.Effect != EffectNone
			}
			return 100 * res.coldReads, res.mixed
		}},
	{"faults/s", "higher", "page faults per second over all threads, in rows that measure faults", false,
		func(res *result) (float64, bool) {
			return float64(res.ranges()) / res.elapsed.Seconds(), res.row.Effect == EffectFault
		}},
	{"majflt/op", "lower", "major page faults: on pages that were not in the page cache (a fault on a page that is being read counts as minor)", false,
		perOp(func(res *result) float64 { return float64(res.counters.MajorFaults) })},
	{"p50-ns/op", "lower", "median latency of one op as its thread sees it", true, percentile(50)},
	{"p99-ns/op", "lower", "99th percentile of the latency of one op", true, percentile(99)},
	{"p999-ns/op", "lower", "99.9th percentile of the latency of one op", true, percentile(99.9)},
	{"cpu-ns/op", "lower", "user and system time of all threads", true,
		perOp(func(res *result) float64 { return float64(res.counters.CPU) })},
	{"ctxsw/op", "lower", "context switches, voluntary and not", true,
		perOp(func(res *result) float64 { return float64(res.counters.Switches) })},
	{"minflt/op", "lower", "minor page faults, those that wait for a page that is being read included", true,
		perOp(func(res *result) float64 { return float64(res.counters.MinorFaults) })},
	{"short/op", "lower", "calls that delivered fewer bytes than asked for, and were continued", true,
		counted(func(c *Counts) uint64 { return c.Short })},
	{"retried/op", "lower", "calls repeated after EINTR or EAGAIN", true,
		counted(func(c *Counts) uint64 { return c.Retried })},
	{"qd", "", "mean number of requests in flight at the device, whoever sent them", true,
		func(res *result) (float64, bool) {
			return res.counters.Disk.Weighted.Seconds() / res.elapsed.Seconds(), res.disk
		}},
	{"majflt/s", "", "major page faults per second over all threads", true,
		func(res *result) (float64, bool) {
			return float64(res.counters.MajorFaults) / res.elapsed.Seconds(), true
		}},
	{"dev-read-B", "", "mean size of a read request at the device, whoever sent it", true,
		func(res *result) (float64, bool) {
			return meanRead(res.stalls.Disk), res.stalls.Disk != nil && res.stalls.Disk.Reads > 0
		}},
	{"refault/op", "lower", "pages of files that were read again after they had been reclaimed, of the whole machine (workingset_refault_file)", true,
		pages(func(r *pressure.Reclaim) uint64 { return r.Refaulted })},
	{"scanned/op", "lower", "pages that reclaim looked at, of the whole machine, groups at their limits included (pgscan_*)", true,
		pages(func(r *pressure.Reclaim) uint64 { return r.Scanned })},
	{"stolen/op", "lower", "pages that were reclaimed, likewise (pgsteal_*)", true,
		pages(func(r *pressure.Reclaim) uint64 { return r.Stolen })},
	{"psi-mem-some-%", "lower", "share of the time in which some task waited for memory (/proc/pressure/memory), of the whole machine", true, stalled(memoryStall, false)},
	{"psi-mem-full-%", "lower", "the same, in which all tasks did that were not idle", true, stalled(memoryStall, true)},
	{"psi-io-some-%", "lower", "share of the time in which some task waited for a device (/proc/pressure/io), of the whole machine", true, stalled(ioStall, false)},
	{"psi-io-full-%", "lower", "the same, in which all tasks did that were not idle", true, stalled(ioStall, true)},
	{"resident-before-%", "", "share of the file in the page cache before the call", true,
		func(res *result) (float64, bool) { return 100 * res.before.Share(), res.before.Pages > 0 }},
	{"resident-after-%", "", "share of the file in the page cache after the call", true,
		func(res *result) (float64, bool) { return 100 * res.after.Share(), res.after.Pages > 0 }},
	{"epoch-resident-%", "lower", "cold: the largest share of the file that was in the page cache at the end of an epoch, when it was evicted again", true,
		func(res *result) (float64, bool) { return 100 * res.epochShare, res.epochShare > 0 }},
	{"group-cache-%", "", "pressure: page cache that the memory-limited group holds at the end, in percent of what the case leaves for the data", true,
		func(res *result) (float64, bool) { return 100 * res.groupFile, res.groupFile > 0 }},
	{"idle-%", "lower", "share of the threads' measured time in which they waited for each other: at the ends of epochs, and at the end of the call", true,
		func(res *result) (float64, bool) {
			return 100 * res.idle.Seconds() / (res.elapsed.Seconds() * float64(res.row.Threads)), true
		}},
}

// report puts the metrics into b's result line. Where more ops were run than b.N, each thread having at least
// one, the testing package's own metrics are replaced.
func (res *result) report(b *testing.B, set Metrics) {
	if res.ops != b.N || res.row.PerRange || res.row.Units > 0 {
		b.ReportMetric(float64(res.elapsed.Nanoseconds())/res.units(), "ns/op")
		if res.row.Effect == EffectRead {
			b.ReportMetric(float64(res.bytes())/res.elapsed.Seconds()/1e6, "MB/s")
		}
	}
	for _, m := range metrics {
		if m.all && set != MetricsAll {
			continue
		}
		v, ok := m.value(res)
		if ok && v == 0 && strings.HasSuffix(m.unit, "-ns/op") {
			ok = false // benchfmt scales units of time to seconds, but not those of zeros: benchstat would make two columns of them
		}
		if ok {
			b.ReportMetric(v, m.unit)
		}
	}
	for kind, n := range res.counts.Calls {
		b.ReportMetric(float64(n)/res.units(), kind+"/op")
	}
}

// unitLines are the "Unit" lines of the benchmark format that say in which direction each metric is better.
func unitLines() (lines []string) {
	for _, m := range metrics {
		if m.better != "" {
			lines = append(lines, fmt.Sprintf("Unit %s better=%s", m.unit, m.better))
		}
	}
	return lines
}

// kindLines are the "Unit" lines for kinds of calls that are not in known.
func kindLines(c Counts, known map[string]bool) (lines []string) {
	for kind := range c.Calls {
		if !known[kind] {
			known[kind] = true
			lines = append(lines, fmt.Sprintf("Unit %s/op better=lower", kind))
		}
	}
	slices.Sort(lines)
	return lines
}

// MetricsTable returns the documentation of all metrics as a Markdown table.
func MetricsTable() string {
	var b strings.Builder
	b.WriteString("| unit | meaning | better | reported |\n|---|---|---|---|\n")
	b.WriteString("| `ns/op` | wall time of one op, over all threads: the inverse of throughput, not a latency | lower | always |\n")
	b.WriteString("| `MB/s` | 10^6 bytes read per second, over all threads | higher | always |\n")
	b.WriteString("| `KIND/op` | successful calls of a kind by the strategy: `madvise`, `pread`, `readat`, … | lower | always |\n")
	for _, m := range metrics {
		better, when := m.better, "always"
		if better == "" {
			better = "–"
		}
		if m.all {
			when = "`METRICS=all`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.unit, m.doc, better, when)
	}
	return b.String()
}
