//go:build race

package storedfields

// slow says that the race detector is on: DEFLATE takes ten times as long then.
const slow = true
