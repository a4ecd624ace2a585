package answer

import (
	"testing"
	"time"
)

// SetPauses sets the pauses between rounds without a question for one test.
func SetPauses(t *testing.T, first, last time.Duration) {
	f, l := firstPause, lastPause
	firstPause, lastPause = first, last
	t.Cleanup(func() { firstPause, lastPause = f, l })
}

// SetMaxMessage sets the bound on messages, in bytes, for one test.
func SetMaxMessage(t *testing.T, n int) {
	before := maxMessage
	maxMessage = n
	t.Cleanup(func() { maxMessage = before })
}
