//go:build !race

package storedfields

const slow = false
