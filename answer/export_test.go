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

// TaskTimes are those of following tasks. Zero leaves one as it is.
type TaskTimes struct{ Request, Outage, Retry, Listened, Watch, Grace, Relisten, MinPoll time.Duration }

// SetTaskTimes sets them for one test.
func SetTaskTimes(t *testing.T, to TaskTimes) {
	for _, v := range []struct {
		p  *time.Duration
		to time.Duration
	}{{&requestTimeout, to.Request}, {&outage, to.Outage}, {&firstRetry, to.Retry}, {&lastRetry, to.Retry}, {&listenedPoll, to.Listened},
		{&watchPoll, to.Watch}, {&expiryGrace, to.Grace}, {&relisten, to.Relisten}, {&minPoll, to.MinPoll}} {
		if v.to == 0 {
			continue
		}
		before := *v.p
		*v.p = v.to
		t.Cleanup(func() { *v.p = before })
	}
}
