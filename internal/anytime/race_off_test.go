//go:build !race

package anytime

// raceDetector says whether the race detector is on: simulations are shorter then.
const raceDetector = false
