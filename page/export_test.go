package page

// NewSmallVault is NewMemoryVault with other bounds: entries in all, and of one owner.
func NewSmallVault(most, share int) *MemoryVault {
	m := NewMemoryVault()
	m.most.entries, m.share.entries = most, share
	return m
}
