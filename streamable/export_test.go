package streamable

// WithoutExpress serves tools/call as the SDK's handler does.
func (o Options) WithoutExpress() *Options {
	o.noExpress = true
	return &o
}
