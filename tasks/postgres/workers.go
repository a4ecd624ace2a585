package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/elicit-go/elicit/tasks"
)

// Join implements tasks.Store.
func (s *Store) Join(ctx context.Context, worker string, lease time.Duration) error {
	return s.call(ctx, "join", true, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `INSERT INTO elicit_instance (id, until) VALUES ($1, now() + $2::bigint * interval '1 microsecond')
			ON CONFLICT (id) DO UPDATE SET until = excluded.until`, worker, lease.Microseconds())
		return err
	})
}

// Renew implements tasks.Store.
func (s *Store) Renew(ctx context.Context, worker string, lease time.Duration) error {
	return s.call(ctx, "renew", true, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, "UPDATE elicit_instance SET until = now() + $2::bigint * interval '1 microsecond' WHERE id = $1 AND until > now()", worker, lease.Microseconds())
		if err == nil && tag.RowsAffected() == 0 {
			err = tasks.ErrLeaseLost
		}
		return err
	})
}

// Leave implements tasks.Store.
func (s *Store) Leave(ctx context.Context, worker string) error {
	_, err := s.release(ctx, "leave", true, `WITH gone AS (DELETE FROM elicit_instance WHERE id = $1)
		UPDATE elicit_task t SET worker = NULL, due_at = now(), version = version + 1, updated_at = now() WHERE worker = $1 RETURNING id`, worker)
	return err
}

// Sweep implements tasks.Store.
func (s *Store) Sweep(ctx context.Context) (int, error) {
	return s.release(ctx, "sweep", true, `WITH gone AS (DELETE FROM elicit_instance WHERE until <= now()),
		dead AS (SELECT id FROM elicit_task t WHERE worker IS NOT NULL AND NOT EXISTS (SELECT FROM elicit_instance i WHERE i.id = t.worker AND i.until > now())
			FOR NO KEY UPDATE SKIP LOCKED)
		UPDATE elicit_task t SET worker = NULL, due_at = now(), version = version + 1, attempts = attempts + 1, updated_at = now()
		FROM dead WHERE t.id = dead.id RETURNING t.id`)
}
