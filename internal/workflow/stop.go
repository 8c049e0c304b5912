package workflow

// CanBeForced reports whether a person can let the run go on against what stopped it.
func (r *Run) CanBeForced() bool {
	return r.State == NeedsInput && r.Error != nil && (r.Error.ReasonCode == WorkTooLarge || r.Error.ReasonCode == TestsCannotRun)
}

// Interrupted reports whether the run stands still for want of a process, and not for a person.
func (r *Run) Interrupted() bool {
	return r.State == NeedsInput && r.Error != nil && r.Error.ReasonCode == InterruptedCode
}

// BlockingCodes are the reason codes that are one of the published reasons for being blocked.
var BlockingCodes = map[string]BlockedReason{
	NoSpaceCode:          ResourceLimit,
	OutOfMemoryCode:      ResourceLimit,
	ForgeUnavailableCode: ExternalBlocker,
}
