//go:build race

package forms

// The race detector slows some code more than other, so ratios mean nothing.
const raceEnabled = true
