//go:build !race

package forms

const raceEnabled = false
