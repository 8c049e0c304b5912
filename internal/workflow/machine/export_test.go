package machine

// The driver of runs, for the tests of projections that other packages make of them.

type Act = act

var (
	Ordinary    = ordinary
	Lived       = lived
	Times       = times
	UntilPhase  = untilPhase
	Checks      = checks
	Does        = does
	Plans       = plans
	Well        = well
	ToTheEnd    = toTheEnd
	Changes     = changes
	Where       = where
	ReviewFinds = reviewFinds
	Epoch       = epoch
	AgentFails  = agentFails
)
