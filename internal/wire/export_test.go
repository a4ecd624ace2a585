package wire

import "time"

// SetPatience sets how long calls may take when the input has ended.
func SetPatience(d time.Duration) { patience.Store(int64(d)) }
