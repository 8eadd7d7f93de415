//go:build !race

package prefetch

const raceDetector = false
