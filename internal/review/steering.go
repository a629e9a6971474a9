package review

import (
	"path"
	"slices"
	"strings"
)

// instructionFiles are the files and folders from which agents take instructions, hooks and
// settings. A change to them would speak to the reviewer, so that it gets them as they
// were.
var instructionFiles = []string{
	"AGENTS.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md", "CONVENTIONS.md", ".cursorrules", ".clinerules", ".goosehints", ".mcp.json",
	"opencode.json", "opencode.jsonc", ".aider.conf.yml", ".aider.model.settings.yml", ".env", "copilot-instructions.md",
	".claude", ".codex", ".gemini", ".qwen", ".cursor", ".opencode", ".pi", ".continue", ".cline", ".goose", ".agents",
}

// instructionFilesAmong are those of the files that steer agents.
func instructionFilesAmong(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		return !slices.ContainsFunc(strings.Split(path.Clean(file), "/"), func(part string) bool {
			return slices.ContainsFunc(instructionFiles, func(s string) bool { return strings.EqualFold(s, part) })
		})
	})
}
