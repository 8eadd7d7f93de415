// Package hostinfo finds the facts about machine, file system and device that decide how fast reads can be.
package hostinfo

// A Fact is one of them. An unknown value is "unknown".
type Fact struct{ Key, Value string }

// Info describes where a file lies.
type Info struct {
	Facts  []Fact // stable from run to run on one machine, in a fixed order
	Device string // name, in /proc/diskstats, of the device whose counters count, "" if there is no such one
	Memory int64  // bytes that this process may use: the machine's or a control group's limit, 0 if unknown
}
