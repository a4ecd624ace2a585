package postgres

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Whatever the ids are, each is in a notification that PostgreSQL takes, or all are told that they missed something.
func TestPayloads(t *testing.T) {
	s := &Store{name: "name"}
	for what, id := range map[string]func(int) string{
		"as usual": func(n int) string { return fmt.Sprintf("%026d", n) },
		"long":     func(n int) string { return strings.Repeat("x", 3000) + fmt.Sprint(n) },
		"escaped":  func(n int) string { return strings.Repeat("\"\\\n<é", 200) + fmt.Sprint(n) },
	} {
		due := map[string]bool{}
		for n := range 700 {
			due[id(n)] = n%3 == 0
		}
		got := map[string]bool{}
		for _, payload := range s.payloads(due) {
			if len(payload) >= 8000 {
				t.Fatalf("%s: a payload of %d bytes", what, len(payload))
			}
			var n notification
			if err := json.Unmarshal([]byte(payload), &n); err != nil || n.From != "name" {
				t.Fatalf("%s: %s, %v", what, payload, err)
			}
			for _, id := range n.Changed {
				got[id] = false
			}
			for _, id := range n.Due {
				got[id] = true
			}
		}
		if len(got) != len(due) {
			t.Errorf("%s: %d ids of %d are told", what, len(got), len(due))
		}
		for id, isDue := range due {
			if got[id] != isDue {
				t.Errorf("%s: %.40s is due: %v", what, id, got[id])
			}
		}
	}
	if got := s.payloads(map[string]bool{"a": true, strings.Repeat("x", 9000): false}); len(got) != 1 || got[0] != `{"from":"name"}` {
		t.Errorf("an id too long for a notification: %.100q", got)
	}
}
