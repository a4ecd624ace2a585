package tasks

import "time"

// Retryable marks an error of a handler as one that may go away: the rate limit of a service, a network that is down. In a task
// the handler is then run again, from the top, after a while that doubles with each attempt from a second to a minute, up to
// [Options.MaxAttempts]; results of elicit.Step are kept. After that, and on a call that is no task, the error is what it wraps.
//
// Without the mark an error ends the task: only the author knows what may be repeated.
func Retryable(err error) error { return RetryableAfter(err, 0) }

// RetryableAfter is Retryable after a time that is known, as from a Retry-After header. Zero is as Retryable.
func RetryableAfter(err error, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &retryable{err, max(after, 0)}
}

type retryable struct {
	err   error
	after time.Duration
}

func (r *retryable) Error() string { return r.err.Error() }
func (r *retryable) Unwrap() error { return r.err }
