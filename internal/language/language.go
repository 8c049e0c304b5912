// Package language owns the texts for people that exist in more than one language. A text is named by a Key, and one table has it in each
// language, so a front end can't show a text that another lacks. It refuses texts of single vendors, and words that programs read: names of states,
// phases and commands stay as the documents have them.
package language

import (
	"fmt"

	"signalbox/internal/workflow"
	"signalbox/internal/workflow/await"
)

// Language is the language of texts for people, as the configuration names it. The zero value is English.
type Language string

const (
	English  Language = "en"
	Japanese Language = "ja"
)

// Languages lists every Language.
var Languages = []Language{English, Japanese}

// Say returns the text with this key, with args in the places of its verbs.
func (l Language) Say(key Key, args ...any) string {
	text := texts[key].in(l)
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// text is one text in each language. If it has verbs, all languages have the same ones; %[2]s changes their order.
type text struct{ en, ja string }

func (t text) in(l Language) string {
	if l == Japanese && t.ja != "" {
		return t.ja
	}
	return t.en
}

// State returns the published label of a state.
func (l Language) State(s workflow.State) string { return s.LabelIn(string(l)) }

// Progress returns the name of one of the seven phases. title is its English name.
func (l Language) Progress(phase workflow.ProgressPhase, title string) string {
	return text{title, progressTitles[phase]}.in(l)
}

// progressTitles are the Japanese names of the seven phases, as the specification of the comment has them.
var progressTitles = map[workflow.ProgressPhase]string{
	workflow.ProgressPrePlanning: "計画前情報収集", workflow.ProgressPlanning: "計画", workflow.ProgressEnvironmentSetup: "環境構築",
	workflow.ProgressExecution: "実行", workflow.ProgressReflection: "リフレクション", workflow.ProgressVerification: "検証", workflow.ProgressComplete: "完了",
}

// Doing says what a run does in a phase.
func (l Language) Doing(phase workflow.Phase) string {
	return text{phase.Position().Doing, doing[phase.Step()]}.in(l)
}

// doing are the sentences of workflow.Positions in Japanese.
var doing = map[workflow.StepName]string{
	"branch-create": "ブランチを作成しています", "env-create": "環境を作成しています", "design-read": "プロジェクトの文書を読んでいます", "design-check": "計画を立てています",
	"tdd-red": "失敗するテストを書いています", "tdd-green": "実装しています", "tdd-refactor": "リファクタリングしています", "review-request": "変更のレビューを受けています",
	"review-fix": "指摘事項を修正しています", "stress-test": "ストレステストを実行しています", "approval-wait": "承認を待っています", "pr-create": "マージの準備をしています",
	"ci-watch": "マージ候補をテストしています", "merge-cleanup": "マージしています", "parent-close": "依頼を完了しています",
}

// Await says what a run waits for on the forge, without the names of those who were asked.
func (l Language) Await(a *workflow.Await) string {
	return text{"the change waits for " + a.What(), awaits[a.Kind].what}.in(l)
}

// AwaitDo says what people do about it; empty if it ends by itself.
func (l Language) AwaitDo(a *workflow.Await) string { return text{a.Do(), awaits[a.Kind].do}.in(l) }

// awaits are the sentences of package await in Japanese.
var awaits = map[await.Kind]struct{ what, do string }{
	await.Approval: {"プルリクエストの承認を待っています", "プルリクエストを承認する"},
	await.Review:   {"変更を求めた人の再レビューを待っています", "プルリクエストをもう一度レビューする"},
	await.Merge:    {"メンテナーによるプルリクエストのマージを待っています", "プルリクエストのマージをメンテナーに依頼する"},
	await.Queue:    {"フォージのマージキューを待っています", ""},
	await.Checks:   {"フォージのチェックを待っています", ""},
	await.Forge:    {"フォージの反映を待っています", ""},
}

// Step says what a next step is for. English steps have sentences of their own; other languages say what the verb does, and keep the sentence of a
// step that is taken outside Signalbox.
func (l Language) Step(s workflow.NextStep) string {
	if s.Verb == workflow.VerbStop && s.Cancel {
		return text{s.Text, "実行を中断する（成果は ref に残ります）"}.in(l)
	}
	return text{s.Text, verbs[s.Verb]}.in(l)
}

// verbs says in Japanese what each verb does.
var verbs = map[workflow.Verb]string{
	workflow.VerbRun: "依頼を実行する", workflow.VerbResume: "再開する", workflow.VerbRetry: "もう一度試す", workflow.VerbStop: "停止する", workflow.VerbApprove: "変更を承認する",
	workflow.VerbReject: "変更を差し戻す", workflow.VerbSync: "ベースブランチを取り込む", workflow.VerbDiff: "変更を見る", workflow.VerbStatus: "状況を見る", workflow.VerbLogs: "ログを見る",
	workflow.VerbList: "依頼の一覧を見る", workflow.VerbDoctor: "足りないものを調べる", workflow.VerbEnvironmentLogs: "環境構築のログを見る",
	workflow.VerbRemoveEnvironment: "環境を削除する", workflow.VerbStartSession: "環境の中で作業する",
}
