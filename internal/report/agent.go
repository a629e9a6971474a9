package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"supervise/internal/document"
	"supervise/internal/ledger"
	"supervise/internal/measure"
	"supervise/metric"
)

// AgentEnding describes how an agent ended that failed, left processes running or was refused
// hosts, as in "exited, status 1". It returns "" for all others.
func AgentEnding(a *ledger.AgentRun) string {
	switch {
	case a == nil || a.Cause == ledger.CauseIdle:
		return ""
	case a.LimitReached != "":
		return "the limit of " + a.LimitReached + " was reached" + sideEffectsText(a)
	case a.Signal != "":
		return replaceUnderscores(a.Cause) + ", ended by " + a.Signal + sideEffectsText(a)
	case a.Cause == "exited" && !a.Succeeded() && a.Outcome != "crashed" && a.Outcome != "":
		return fmt.Sprintf("%s, status %d%s", joinReason(replaceUnderscores(a.Outcome), a.Message), a.ExitCode, sideEffectsText(a))
	case a.Cause != "exited" || a.ExitCode != 0 || len(a.Leftovers)+len(a.RefusedHosts) > 0:
		return fmt.Sprintf("%s, status %d%s", replaceUnderscores(a.Cause), a.ExitCode, sideEffectsText(a))
	}
	return ""
}

// sideEffectsText says what supervise cleaned up or refused, as the continuation of a sentence, and
// "" for nothing.
func sideEffectsText(a *ledger.AgentRun) string {
	text := leftoversText(a.Leftovers)
	text += Either(len(a.RefusedHosts) > 0, "; the sandbox refused access to "+strings.Join(a.RefusedHosts, ", "), "")
	return text
}

// replaceUnderscores turns the name of an outcome into words, as in "rate limited".
func replaceUnderscores(name string) string { return strings.ReplaceAll(name, "_", " ") }

// joinReason returns what happened and, if it is known, why, as in "refused: no credit".
func joinReason(what, why string) string {
	return what + Either(why == "", "", ": "+why)
}

// AgentSummary describes what a known agent reported about its run, "" for nothing.
func AgentSummary(a *ledger.AgentRun) string {
	outcome := a.Program + " " + joinReason(replaceUnderscores(a.Outcome), a.Message)
	return joinTexts("; ",
		Either(a.Outcome != "" && a.Program != "", outcome, ""),
		Either(a.Runs > 1, fmt.Sprintf("run %d times, its service failed", a.Runs), ""),
		AgentUsage(a))
}

// joinTexts joins the texts that are not empty.
func joinTexts(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}

// AgentUsage describes what a run of an agent consumed, as in "1200 tokens, $0.0310, 4 turns". It
// returns "" if the agent reported nothing.
func AgentUsage(a *ledger.AgentRun) string {
	if a == nil || a.Usage == nil {
		return ""
	}
	text := usageTexts(*a.Usage, a.Usage.Tokens())
	if n := a.Usage.Turns; n != nil {
		text = append(text, Pluralize(int(*n), "turn", "turns"))
	}
	if n := a.Usage.ToolCalls; n != nil {
		text = append(text, Pluralize(int(*n), "tool call", "tool calls"))
	}
	return strings.Join(text, ", ")
}

// usageTexts returns the tokens and the cost, as far as they are known. tokens is the sum of all
// kinds of tokens.
func usageTexts(u metric.Usage, tokens *int64) []string {
	var out []string
	if tokens != nil {
		out = append(out, Pluralize(int(*tokens), "token", "tokens"))
		if u.CacheRead != nil && *u.CacheRead > 0 {
			out[0] += fmt.Sprintf(" (%d of them cached)", *u.CacheRead)
		}
	}
	if u.CostUSD != nil {
		out = append(out, fmt.Sprintf("$%.4f", *u.CostUSD))
	}
	return out
}

// SpendingText describes what the agent consumed in a loop, "" if it reported nothing.
func SpendingText(s *ledger.Spending) string {
	if s == nil {
		return ""
	}
	text := strings.Join(usageTexts(s.Usage, s.Tokens), ", ")
	switch {
	case s.CostPerImprovement != nil:
		text += fmt.Sprintf("; $%.4f for each of %s", *s.CostPerImprovement, Pluralize(s.Improvements, "kept improvement", "kept improvements"))
	case s.TokensPerImprovement != nil:
		text += fmt.Sprintf("; %.0f tokens for each of %s", *s.TokensPerImprovement, Pluralize(s.Improvements, "kept improvement", "kept improvements"))
	}
	if s.WaitedMS > 0 {
		text += "; waited " + FormatDuration(time.Duration(s.WaitedMS)*time.Millisecond) + " for the service"
	}
	return strings.TrimPrefix(text, "; ")
}

// CheckCommand returns the command of a check, and its folder if that is not the root.
func CheckCommand(c measure.Check, paint document.Paint) string {
	return c.CommandLine() + Either(c.Dir == "", "", paint(document.Faint, " (in "+c.Dir+")"))
}
