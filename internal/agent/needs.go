package agent

// Needs is what a program needs of its user's machine to work in a sandbox.
type Needs struct {
	// Home are its own files below the home folder, which it writes; a file is given to it
	// as a copy, and a folder that ends in a slash is made where it does not exist.
	Home  []string
	Hosts []string // of its service, as its makers document them
	Vars  []string // patterns of the variables that hold its keys and settings
}

// Those who let their user choose among services know the keys of many.
var (
	manyHosts = []string{"api.anthropic.com", "api.openai.com", "auth.openai.com", "generativelanguage.googleapis.com", "openrouter.ai", "api.mistral.ai", "api.deepseek.com", "api.groq.com", "api.x.ai"}
	manyVars  = []string{"ANTHROPIC_*", "OPENAI_*", "GEMINI_*", "GOOGLE_API_KEY", "OPENROUTER_*", "MISTRAL_*", "DEEPSEEK_*", "GROQ_*", "XAI_*"}
)

var needs = map[string]Needs{
	"claude": {
		Home:  []string{".claude/", ".claude.json", ".cache/claude", ".cache/claude-cli-nodejs", ".local/state/claude"},
		Hosts: []string{"api.anthropic.com", "claude.ai", "platform.claude.com", "console.anthropic.com"},
		Vars:  []string{"ANTHROPIC_*", "CLAUDE_*"},
	},
	"codex": {
		Home:  []string{".codex/"},
		Hosts: []string{"api.openai.com", "chatgpt.com", "auth.openai.com"},
		Vars:  []string{"OPENAI_*", "CODEX_*"},
	},
	"gemini": {
		Home:  []string{".gemini/"},
		Hosts: []string{"generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "aiplatform.googleapis.com", "oauth2.googleapis.com"},
		Vars:  []string{"GEMINI_*", "GOOGLE_API_KEY", "GOOGLE_GEMINI_*", "GOOGLE_GENAI_*", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"},
	},
	"opencode": {
		Home:  []string{".config/opencode/", ".local/share/opencode/", ".local/state/opencode/", ".cache/opencode/", ".opencode"},
		Hosts: append([]string{"opencode.ai", "models.dev"}, manyHosts...),
		Vars:  append([]string{"OPENCODE_*"}, manyVars...),
	},
	"pi":    {Home: []string{".pi/"}, Hosts: manyHosts, Vars: append([]string{"PI_*"}, manyVars...)},
	"qwen":  {Home: []string{".qwen/"}, Hosts: []string{"portal.qwen.ai", "chat.qwen.ai", "dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "api.openai.com"}, Vars: []string{"OPENAI_*", "QWEN_*", "DASHSCOPE_*"}},
	"cline": {Home: []string{".cline/"}, Hosts: append([]string{"api.cline.bot"}, manyHosts...), Vars: append([]string{"CLINE_*"}, manyVars...)},
	"cn":    {Home: []string{".continue/"}, Hosts: append([]string{"api.continue.dev"}, manyHosts...), Vars: append([]string{"CONTINUE_*"}, manyVars...)},
	"aider": {Home: []string{".aider/", ".aider.conf.yml"}, Hosts: manyHosts, Vars: append([]string{"AIDER_*", "LITELLM_*"}, manyVars...)},
	"goose": {Home: []string{".config/goose/", ".local/share/goose/", ".local/state/goose/"}, Hosts: manyHosts, Vars: append([]string{"GOOSE_*"}, manyVars...)},
	"cursor-agent": {
		Home:  []string{".cursor/", ".config/cursor/", ".local/share/cursor-agent"},
		Hosts: []string{"*.cursor.sh", "cursor.com"},
		Vars:  []string{"CURSOR_*"},
	},
}

// Needs returns what the program needs; nothing of one that is not known.
func (p Preset) Needs() Needs { return needs[p.Name] }
