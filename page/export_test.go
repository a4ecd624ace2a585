package page

import "time"

// NewSmallVault is NewMemoryVault with other bounds: entries in all, and of one owner.
func NewSmallVault(most, share int) *MemoryVault {
	m := NewMemoryVault()
	m.most.entries, m.share.entries = most, share
	return m
}

// RecheckNever has the function done of elicit.NewURL not asked again by itself. Call it before anybody waits.
func (p *Pages) RecheckNever() {
	p.waiting.recheckEvery = func(time.Duration) time.Duration { return 24 * time.Hour }
}
