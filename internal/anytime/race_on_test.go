//go:build race

package anytime

const raceDetector = true
