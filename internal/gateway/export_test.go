package gateway

// Used returns what was spent.
func (a *Allowance) Used() Spending {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.account.used
}
