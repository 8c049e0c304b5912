package language

// Key names a text.
type Key int

// The progress comment and the comments that ask for a person.
const (
	// NothingToDo is said while no one is needed.
	NothingToDo Key = iota
	// Waiting: the agent's question, whose name follows, waits for an answer.
	Waiting
	// OrHere and OrSendBack: what people do here instead of on the forge.
	OrHere
	OrSendBack
	// Answered is the title of a call for a person that is folded away.
	Answered
	// Follow is what to do while a run is under way, before a command.
	Follow
	// Here introduces what to write as a comment instead of a command.
	Here

	PhaseSkipped
	PhaseFailed

	RowCommit
	RowTests
	RowChange
	RowCost
	RowSetup
	RowPullRequest
	RowDeadline
	RowRun

	OnBranch
	NoTest
	TestPassed
	TestKnown
	TestFailed
	ChangeOf
	TokensUsed
	NotIsolated
	SetupRunning
	SetupReady
	SetupWarm
	SetupFailed
	DeadlineAnswer
	DeadlineParked
	DeadlineChecks
	DeadlineWait
	DeadlineAgent

	History
	ColumnPhase
	ColumnState
	ColumnNote
	ColumnStep
	ColumnChange
	ColumnTest
	ColumnCommit
	ColumnResult
	MoreTests

	NeedsYou
	HasFailed
	Asks
	WhatToDo
	MayUse
	Options
	Altered
	Until
	AnswerAllow
	AnswerDeny
	AnswerOption
	AnswerText
	Reason

	SetupComment

	// The summaries of commit statuses.
	StatusPassed
	StatusLeftOut
	StatusFailed
	StatusWaits

	keys
)

// texts has every text in every language.
var texts = [keys]text{
	NothingToDo: {"nothing for you to do", "対応は不要です"},
	Waiting:     {"answer its question %s", "質問 %s に回答してください"},
	Answered:    {"Signalbox needed you, and no longer waits for this", "対応済みです"},
	OrHere:      {"or in a terminal", "またはターミナルで承認する"},
	OrSendBack:  {"or send it back", "または差し戻す"},
	Follow:      {"follow it with", "状況の確認:"},
	Here:        {"or comment", "またはコメント"},

	PhaseSkipped: {"%s (nothing to do)", "%s（対象なし）"},
	PhaseFailed:  {"%s (failed with a warning)", "%s（警告付きで失敗）"},

	RowCommit:      {"Commit", "コミット"},
	RowTests:       {"Tests", "テスト"},
	RowChange:      {"Change", "変更量"},
	RowCost:        {"Cost", "コスト"},
	RowSetup:       {"Environment", "環境"},
	RowPullRequest: {"Pull request", "プルリクエスト"},
	RowDeadline:    {"Next deadline", "次の期限"},
	RowRun:         {"Run", "実行ID"},

	OnBranch:       {"%s on %s", "%[2]s の %[1]s"},
	NoTest:         {"not run yet", "未実行"},
	TestPassed:     {"passed on %s (%s)", "%s で成功（%s）"},
	TestKnown:      {"nothing fails on %s but what failed before the change (%s)", "%s では変更前からの失敗のみ（%s）"},
	TestFailed:     {"failed on %s (%s)", "%s で失敗（%s）"},
	ChangeOf:       {"+%d −%d lines in %d of %d steps", "+%d −%d 行（%d / %d ステップ）"},
	TokensUsed:     {"%d tokens", "%d トークン"},
	NotIsolated:    {"%s; not isolated from its host", "%s、ホストから隔離されていません"},
	SetupRunning:   {"%s, being set up", "%s、構築中"},
	SetupReady:     {"%s, ready", "%s、構築済み"},
	SetupWarm:      {"%s, ready from the cache", "%s、キャッシュから構築済み"},
	SetupFailed:    {"%s, setup failed; the run goes on without it", "%s、構築失敗（このまま続行します）"},
	DeadlineAnswer: {"%s: without an answer, the question counts as denied", "%s: 回答がなければ拒否とみなします"},
	DeadlineParked: {"%s: the limit of the model's provider ends, and the run goes on", "%s: モデル提供元の制限が解除され、再開します"},
	DeadlineChecks: {"%s: the forge's checks have to be there", "%s: フォージのチェックの期限"},
	DeadlineWait:   {"%s: the next try", "%s: 次の試行"},
	DeadlineAgent:  {"%s: the agent has to be done", "%s: エージェントの期限"},

	History:      {"All phases, steps and tests", "全フェーズ・ステップ・テストの記録"},
	ColumnPhase:  {"phase", "フェーズ"},
	ColumnState:  {"state", "状態"},
	ColumnNote:   {"note", "備考"},
	ColumnStep:   {"step", "ステップ"},
	ColumnChange: {"change", "変更量"},
	ColumnTest:   {"test", "テスト"},
	ColumnCommit: {"commit", "コミット"},
	ColumnResult: {"result", "結果"},
	MoreTests:    {"%d earlier tests are in the run's report.", "これより前の %d 件のテストは実行のレポートにあります。"},

	NeedsYou:     {"Signalbox needs you", "Signalbox: 対応が必要です"},
	HasFailed:    {"Signalbox failed", "Signalbox: 失敗しました"},
	Asks:         {"Signalbox asks: %s", "Signalbox からの質問: %s"},
	WhatToDo:     {"What to do:", "対応方法:"},
	MayUse:       {"The %s wants to use %s:", "%s が %s の使用を求めています:"},
	Options:      {"Options:", "選択肢:"},
	Altered:      {"The question was longer, or contained something that is not shown.", "質問が長いか、表示できない内容を含むため、一部のみ表示しています。"},
	Until:        {"Without an answer by %s, it counts as denied.", "%s までに回答がなければ拒否とみなします。"},
	AnswerAllow:  {"allow it once", "一度だけ許可する"},
	AnswerDeny:   {"deny it", "拒否する"},
	AnswerOption: {"choose an option", "選択肢を選ぶ"},
	AnswerText:   {"answer in your words", "文章で回答する"},
	Reason:       {"Reason: %s (run %s)", "理由: %s（実行 %s）"},

	SetupComment: {"## Environment setup failed\n\n**Status**: failed with a warning ⚠\n**Environment**: %s\n\n" +
		"The setup did not succeed; the work goes on with what there is.\n\n%s\n\n" +
		"- network retries: %d\n- corrections by the model: %d/%d\n- class of the error: %s\n",
		"## 環境構築失敗\n\n**ステータス**: 警告付きで失敗 ⚠\n**環境**: %s\n\n" +
			"環境構築中にエラーが発生しました。制限付きで実行フェーズに進みます。\n\n**エラー詳細**:\n%s\n\n**試行した対応**:\n" +
			"- ネットワークリトライ回数: %d\n- LLM再生成回数: %d/%d\n- エラー分類: %s\n\n" +
			"実行フェーズに進みますが、環境構築が不完全なため一部機能が利用できない可能性があります。\n"},

	StatusPassed:  {"passed", "成功"},
	StatusLeftOut: {"left out of this run", "この実行では省略"},
	StatusFailed:  {"failed", "失敗"},
	StatusWaits:   {"waits for a person", "対応待ち"},
}
