package workflow

// Untried is what a step shows of tests that did not run on its change yet.
func (s *Settings) Untried() StepTest {
	t := StepTest{Unit: TestResult{Status: TestSkipped}, E2E: TestResult{Status: TestSkipped}}
	if s.HasUnitTests() {
		t.Unit.Status = TestNotRun
	}
	if len(s.TestsE2E) > 0 {
		t.E2E.Status = TestNotRun
	}
	return t
}
