package streamable

import "time"

// WithoutExpress serves tools/call as the SDK's handler does.
func (o Options) WithoutExpress() *Options {
	o.noExpress = true
	return &o
}

// WithPatience gives up a client that reads nothing for so long.
func (o Options) WithPatience(d time.Duration) *Options {
	o.patience = d
	return &o
}
