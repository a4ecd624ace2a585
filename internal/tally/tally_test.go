package tally

import (
	"fmt"
	"testing"
	"time"
)

func TestTally(t *testing.T) {
	var c Tally
	rows := func(owner string, limit int) string {
		n, known := c.Rows(owner, limit)
		return fmt.Sprint(n, known)
	}
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	c.Add("a") // nobody knows to what
	check("before anything was counted", rows("a", 10), "0 false")
	c.Counted("a", 3)
	c.Add("a")
	c.Add("b")
	check("counted, and one more", rows("a", 10), "4 true")
	check("another owner", rows("b", 10), "0 false")
	check("up to another limit", rows("a", 20), "0 false")
	c.Counted("a", 15)
	c.Forget()
	check("forgotten", rows("a", 20), "0 false")

	c.Age = time.Nanosecond
	c.Counted("a", 1)
	for start := time.Now(); time.Since(start) <= c.Age; {
	}
	check("too old", rows("a", 20), "0 false")

	c.Age = 0
	for n := range 3 * most {
		c.Counted(fmt.Sprint(n), n)
	}
	if len(c.known) > most {
		t.Errorf("%d owners are remembered", len(c.known))
	}
	check("the last of many", rows(fmt.Sprint(3*most-1), 20), fmt.Sprint(3*most-1, true))
}
