package postgres

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/elicit-go/elicit/tasks"
)

const (
	channel = "elicit_tasks"
	// together is how long hints are collected: one notification for many writes. Within their transactions it would have
	// them commit one after the other.
	together = 5 * time.Millisecond
	// maxPayload is under what a notification can carry, 8000 bytes.
	maxPayload = 7900
	// listening is how long nothing may come before the connection is looked at.
	listening = 5 * time.Second
)

// A notification is what Stores tell each other. One without ids says that everything may have changed.
type notification struct {
	From    string   `json:"from"`
	Changed []string `json:"changed,omitempty"`
	Due     []string `json:"due,omitempty"`
}

// hint tells this process now, and others soon.
func (s *Store) hint(h tasks.Hint) {
	s.hints.Send(h)
	select {
	case s.notify <- h:
	default: // others will look by themselves
	}
}

// tell sends notifications until the Store is closed.
func (s *Store) tell() {
	for {
		var first tasks.Hint
		select {
		case <-s.ctx.Done():
			return
		case first = <-s.notify:
		}
		due := map[string]bool{first.ID: first.Due}
		collect := time.After(together)
	collecting:
		for {
			select {
			case h := <-s.notify:
				due[h.ID] = due[h.ID] || h.Due
			case <-collect:
				break collecting
			case <-s.ctx.Done():
				return
			}
		}
		payloads := s.payloads(due)
		// It is not worth an error: whoever misses it looks by itself.
		_ = s.call(s.ctx, "notify", false, func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload", channel, payloads)
			return err
		})
	}
}

// payloads puts hints into as many notifications as it takes.
func (s *Store) payloads(due map[string]bool) (payloads []string) {
	n, size := notification{From: s.name}, 0
	flush := func() {
		b, _ := json.Marshal(n) // strings alone
		payloads = append(payloads, string(b))
		n, size = notification{From: s.name}, 0
	}
	for id, isDue := range due {
		b, _ := json.Marshal(id)
		if len(b) > maxPayload/2 {
			return []string{`{"from":"` + s.name + `"}`}
		}
		if size += len(b) + 1; size > maxPayload-100 {
			flush()
			size = len(b) + 1
		}
		if isDue {
			n.Due = append(n.Due, id)
		} else {
			n.Changed = append(n.Changed, id)
		}
	}
	flush()
	return payloads
}

// listen hears notifications until the Store is closed, on a connection of its own.
func (s *Store) listen() {
	for s.ctx.Err() == nil {
		s.hear()
		select {
		case <-s.ctx.Done():
		case <-time.After(time.Second/2 + rand.N(time.Second/2)):
		}
	}
}

// hear returns when the connection fails.
func (s *Store) hear() {
	conn, err := pgx.ConnectConfig(s.ctx, s.config.Copy())
	if err != nil {
		return
	}
	defer func() {
		// As in release: no farewell to whom cannot be reached.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		conn.Close(ctx)
		conn.PgConn().Conn().Close()
	}()
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	if err := prepare(ctx, conn); err != nil {
		return
	}
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return
	}
	s.hints.Send(tasks.Hint{}) // nobody heard what was said before
	for {
		ctx, cancel := context.WithTimeout(s.ctx, listening)
		n, err := conn.WaitForNotification(ctx)
		cancel()
		switch {
		case err == nil:
			s.heard(n.Payload)
		case s.ctx.Err() != nil || conn.IsClosed():
			return
		default: // nothing for a while: is the server still there?
			ctx, cancel := context.WithTimeout(s.ctx, timeout)
			err := conn.Ping(ctx)
			cancel()
			if err != nil {
				return
			}
		}
	}
}

// heard passes a notification on. Its text is the database's, where others may write too.
func (s *Store) heard(payload string) {
	var n notification
	if err := json.Unmarshal([]byte(payload), &n); err != nil || len(n.Changed)+len(n.Due) == 0 {
		s.hints.Send(tasks.Hint{})
		return
	}
	if n.From == s.name {
		return
	}
	for _, id := range n.Changed {
		s.hints.Send(tasks.Hint{ID: id})
	}
	for _, id := range n.Due {
		s.hints.Send(tasks.Hint{ID: id, Due: true})
	}
}
