// Package helpers has texts that change, and texts that do not.
package helpers

import (
	"time"

	_ "github.com/elicit-go/elicit"
)

func Stamp() string { return time.Now().Format(time.StampMicro) }

func Label(s string) string { return "[" + s + "]" }
