package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/readbench/suite/internal/pressure"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/strategy"
)

// A metric is one number of a result.
type metric struct {
	unit   string
	better string // "higher", "lower" or "" for neither
	doc    string
	all    bool // only with READBENCH_METRICS=all
	value  func(*Result) (v float64, ok bool)
}

func perOp(f func(*Result) float64) func(*Result) (float64, bool) {
	return func(res *Result) (float64, bool) { return f(res) / res.perUnits(), true }
}

// counted is perOp of what the readers count; there is no such number if they do not.
func counted(f func(*strategy.Counts) uint64) func(*Result) (float64, bool) {
	return func(res *Result) (float64, bool) { return float64(f(&res.Counts)) / res.perUnits(), res.Counted }
}

func percentile(q float64) func(*Result) (float64, bool) {
	return func(res *Result) (float64, bool) {
		if res.Latency == nil || res.Latency.TotalCount() == 0 {
			return 0, false
		}
		return float64(res.Latency.ValueAtPercentile(q)), true
	}
}

// metrics is every metric but ns/op and MB/s, which the testing package reports, and KIND/op, which the
// strategies name.
var metrics = []metric{
	{"ops/ms", "higher", "ops per millisecond over all threads: JMH's unit", false,
		func(res *Result) (float64, bool) { return res.perUnits() / res.Elapsed.Seconds() / 1e3, true }},
	{"dev-B/op", "lower", "bytes that this process made a device deliver (`read_bytes` of /proc/self/io)", false,
		perOp(func(res *Result) float64 { return float64(res.Counters.DeviceBytes) })},
	{"dev-B/B", "lower", "bytes that the device delivered for each byte read: above 1 is what was read in vain, and pages of which only a part was wanted (what lies before the cursor of a cold scan when the call ends is left out)", false,
		func(res *Result) (float64, bool) {
			return float64(res.Counters.DeviceBytes-min(res.Ahead, res.Counters.DeviceBytes)) / float64(res.Bytes()), res.Shape.Effect == shape.Read
		}},
	{"cold-%", "", "mixed rows, hints, probes and faults: the share of the reads, or of what was asked for, that was not in the page cache (docs/method.md says how it is measured)", false,
		func(res *Result) (float64, bool) {
			if res.Shape.Predrawn {
				return 100 * res.ColdShare(), res.Shape.Effect != shape.None
			}
			return 100 * res.ColdReads, res.Mixed
		}},
	{"faults/s", "higher", "page faults per second over all threads, in rows that measure faults", false,
		func(res *Result) (float64, bool) {
			return float64(res.Ranges()) / res.Elapsed.Seconds(), res.Shape.Effect == shape.Fault
		}},
	{"majflt/op", "lower", "major page faults: on pages that were not in the page cache (a fault on a page that is being read counts as minor)", false,
		perOp(func(res *Result) float64 { return float64(res.Counters.MajorFaults) })},
	{"p50-ns/op", "lower", "median latency of one op as its thread sees it", true, percentile(50)},
	{"p99-ns/op", "lower", "99th percentile of the latency of one op", true, percentile(99)},
	{"p999-ns/op", "lower", "99.9th percentile of the latency of one op", true, percentile(99.9)},
	{"cpu-ns/op", "lower", "user and system time of all threads", true,
		perOp(func(res *Result) float64 { return float64(res.Counters.CPU) })},
	{"ctxsw/op", "lower", "context switches, voluntary and not", true,
		perOp(func(res *Result) float64 { return float64(res.Counters.Switches) })},
	{"minflt/op", "lower", "minor page faults, those that wait for a page that is being read included", true,
		perOp(func(res *Result) float64 { return float64(res.Counters.MinorFaults) })},
	{"short/op", "lower", "calls that delivered fewer bytes than asked for, and were continued", true,
		counted(func(c *strategy.Counts) uint64 { return c.Short })},
	{"retried/op", "lower", "calls repeated after EINTR or EAGAIN", true,
		counted(func(c *strategy.Counts) uint64 { return c.Retried })},
	{"qd", "", "mean number of requests in flight at the device, whoever sent them", true,
		func(res *Result) (float64, bool) {
			return res.Counters.Disk.Weighted.Seconds() / res.Elapsed.Seconds(), res.Disk
		}},
	{"majflt/s", "", "major page faults per second over all threads", true,
		func(res *Result) (float64, bool) {
			return float64(res.Counters.MajorFaults) / res.Elapsed.Seconds(), true
		}},
	{"dev-read-B", "", "mean size of a read request at the device, whoever sent it", true,
		func(res *Result) (float64, bool) {
			return meanRead(res.Stalls.Disk), res.Stalls.Disk != nil && res.Stalls.Disk.Reads > 0
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
		func(res *Result) (float64, bool) { return 100 * res.Before.Share(), res.Before.Pages > 0 }},
	{"resident-after-%", "", "share of the file in the page cache after the call", true,
		func(res *Result) (float64, bool) { return 100 * res.After.Share(), res.After.Pages > 0 }},
	{"epoch-resident-%", "lower", "cold: the largest share of the file that was in the page cache at the end of an epoch, when it was evicted again", true,
		func(res *Result) (float64, bool) { return 100 * res.EpochShare, res.EpochShare > 0 }},
	{"group-cache-%", "", "pressure: page cache that the memory-limited group holds at the end, in percent of what the case leaves for the data", true,
		func(res *Result) (float64, bool) { return 100 * res.GroupFile, res.GroupFile > 0 }},
	{"idle-%", "lower", "share of the threads' measured time in which they waited for each other: at the ends of epochs, and at the end of the call", true,
		func(res *Result) (float64, bool) {
			return 100 * res.Idle.Seconds() / (res.Elapsed.Seconds() * float64(res.Shape.Threads)), true
		}},
}

// Report calls report for each metric; all adds those of METRICS=all. Where more ops were run than the testing package asked
// for, n, each thread having at least one, its own metrics are replaced.
func (res *Result) Report(report func(v float64, unit string), n int, all bool) {
	if res.Ops != n || res.Shape.PerRange || res.Shape.Units > 0 {
		report(float64(res.Elapsed.Nanoseconds())/res.perUnits(), "ns/op")
		if res.Shape.Effect == shape.Read {
			report(float64(res.Bytes())/res.Elapsed.Seconds()/1e6, "MB/s")
		}
	}
	for _, m := range metrics {
		if m.all && !all {
			continue
		}
		v, ok := m.value(res)
		if ok && v == 0 && strings.HasSuffix(m.unit, "-ns/op") {
			ok = false // benchfmt scales units of time to seconds, but not those of zeros: benchstat would make two columns of them
		}
		if ok {
			report(v, m.unit)
		}
	}
	for kind, n := range res.Counts.Calls {
		report(float64(n)/res.perUnits(), kind+"/op")
	}
}

// UnitLines are the "Unit" lines of the benchmark format that say in which direction each metric is better.
func UnitLines() (lines []string) {
	for _, m := range metrics {
		if m.better != "" {
			lines = append(lines, fmt.Sprintf("Unit %s better=%s", m.unit, m.better))
		}
	}
	return lines
}

// KindLines are the "Unit" lines for kinds of calls that are not in known.
func KindLines(c strategy.Counts, known map[string]bool) (lines []string) {
	for kind := range c.Calls {
		if !known[kind] {
			known[kind] = true
			lines = append(lines, fmt.Sprintf("Unit %s/op better=lower", kind))
		}
	}
	slices.Sort(lines)
	return lines
}

// Table returns the documentation of all metrics as a Markdown table.
func Table() string {
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

// pages is a metric of pages per op.
func pages(f func(*pressure.Reclaim) uint64) func(*Result) (float64, bool) {
	return func(res *Result) (float64, bool) {
		if res.Stalls.Reclaim == nil {
			return 0, false
		}
		return float64(f(res.Stalls.Reclaim)) / res.perUnits(), true
	}
}

// stalled is a metric of the share of the time that tasks were stalled.
func stalled(f func(*pressure.Totals) *pressure.Stall, full bool) func(*Result) (float64, bool) {
	return func(res *Result) (float64, bool) {
		s := f(&res.Stalls)
		if s == nil {
			return 0, false
		}
		d := s.Some
		if full {
			d = s.Full
		}
		return 100 * d.Seconds() / res.Elapsed.Seconds(), true
	}
}

func memoryStall(t *pressure.Totals) *pressure.Stall { return t.Memory }
func ioStall(t *pressure.Totals) *pressure.Stall     { return t.IO }

// meanRead is the mean size of a read request, in bytes.
func meanRead(d *pressure.Disk) float64 {
	if d == nil {
		return 0
	}
	return d.MeanRead()
}
