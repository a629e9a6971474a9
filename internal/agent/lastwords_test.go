package agent

import "testing"

// A program that breaks off by its own fault, or for want of space or memory, has crashed,
// whatever numbers and words are in its last lines.
func TestLastWordsOfACrash(t *testing.T) {
	for _, words := range []string{
		"    at Object.<anonymous> (/usr/lib/node_modules/agent/cli.js:503:17)",
		"    at processTicksAndRejections (node:internal/process/task_queues:105:5)\n    at async main (file:///opt/agent/dist/index.js:429:3)",
		"Terminated",
		"Killed",
		"/bin/sh: line 512: syntax error near unexpected token `('",
		"write /home/u/.cache/x: disk quota exceeded",
		"Error: EDQUOT: disk quota exceeded, write",
		"Error: ENOSPC: no space left on device, write",
		"Error: Cannot find module './network'\nRequire stack:\n- /opt/agent/lib/connection.js",
		"Error: Cannot find module '@agent/socket'",
		"ModuleNotFoundError: No module named 'aider.network'",
		"  File \"/opt/agent/api.py\", line 401, in run",
		"  File \"/opt/agent/quota.py\", line 500, in check\n    assert limit\nAssertionError",
		"panic: runtime error: index out of range [502] with length 500",
		"goroutine 429 [running]:\nmain.main()\n\t/src/main.go:503 +0x1d",
		"thread 'main' panicked at src/socket.rs:401:9:",
		"Segmentation fault (core dumped)",
		"FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
		"TypeError: Cannot read properties of undefined (reading 'unavailable')",
		"error: unknown option '--networks'",
		"Process exited with code 137 after 503 lines",
		"/usr/bin/env: 'node': No such file or directory",
		"Error: user model Account was already defined",
	} {
		if got := classifyLastOutput(words); got != Crashed {
			t.Errorf("%q is %s, want crashed", words, got)
		}
	}
}

// What a service says of itself is recognised in the last lines too.
func TestLastWordsOfAService(t *testing.T) {
	for words, want := range map[string]Outcome{
		"Error: 401 Unauthorized":                                           Auth,
		"API Error: 403 {\"error\":{\"message\":\"forbidden\"}}":            Auth,
		"Authentication failed. Please run /login":                          Auth,
		"Missing API key for provider":                                      Auth,
		"Your credit balance is too low to access the API":                  Auth,
		"OAuth token has expired. Please run /login":                        Auth,
		"model: claude-opus-9 was not found (not_found_error)":              BadRequest,
		"Error: The model `gpt-9` does not exist or you do not have access": BadRequest,
		"prompt is too long: 213000 tokens > 200000 maximum":                BadRequest,
		"HTTP 429: slow down":                                               RateLimit,
		"Error: 429 Too Many Requests":                                      RateLimit,
		"rate_limit_error: this request would exceed your limit":            RateLimit,
		"You exceeded your current quota":                                   RateLimit,
		"5-hour usage limit reached":                                        RateLimit,
		"status code: 529, overloaded_error":                                ServerError,
		"503 Service Unavailable":                                           ServerError,
		"Error: stream disconnected before completion":                      ServerError,
		"TypeError: fetch failed\n  cause: Error: connect ECONNREFUSED ::1": ServerError,
		"connection reset by peer":                                          ServerError,
		"TypeError: terminated":                                             ServerError,
		"getaddrinfo EAI_AGAIN api.example.com":                             ServerError,
	} {
		if got := classifyLastOutput(words); got != want {
			t.Errorf("%q is %s, want %s", words, got, want)
		}
	}
}

// Of a program that is not known only what clients of services alone print is read, at the
// start of a line.
func TestLastWordsOfAnyClient(t *testing.T) {
	for words, want := range map[string]Outcome{
		"Error: 429 Too Many Requests": RateLimit,
		"Error: 401 Unauthorized":      Auth,
		`API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`:                                           RateLimit,
		"openai.RateLimitError: Error code: 429 - {'error': {'message': 'slow', 'type': 'requests', 'code': 'rate_limit_exceeded'}}":          RateLimit,
		"openai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your current quota', 'code': 'insufficient_quota'}}":    Auth,
		"anthropic.AuthenticationError: Error code: 401 - {'type': 'error', 'error': {'type': 'authentication_error', 'message': 'invalid'}}": Auth,
		`{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}`:                                        RateLimit,
		`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                                                         ServerError,
		`529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                                                     ServerError,
		`{"error":{"message":"The model gpt-9 does not exist","type":"invalid_request_error","code":"model_not_found"}}`:                      BadRequest,
		"HTTP 503 Service Unavailable":           ServerError,
		"unexpected status 401 Unauthorized: no": Auth,
		"Status code: 429":                       RateLimit,
		"APIError: 402 payment required":         Auth,
		"429 Too Many Requests":                  RateLimit,
	} {
		if got := classifyClientError([]string{"some work", words}); got != want {
			t.Errorf("%q is %s, want %s", words, got, want)
		}
	}
	for _, words := range []string{
		"429 rate limit", "429", "401", "rate limit", "unauthorized", "line 429: error", "Error: 4290 files", "Error: 429:12 unexpected token",
		"Error: 429.5 is no integer", "error at cli.js:503:17", "ok 429 - handles Error: 401 Unauthorized", "expected Error: 429 Too Many Requests",
		"Error: connection refused", "Error: port 503 is taken", "status: 500ms", "503 files changed", "Error: 500 tests failed in 3s: x",
		`{"error":{"message":"no such file","code":"ENOENT"}}`, `{"level":"error","status":429}`, `{"error":"429"}`, "AuthenticationError", "HTTP 200 OK",
		"--- FAIL: TestRateLimit (0.01s) status 429, want 200",
	} {
		if got := classifyClientError([]string{words}); got != Crashed {
			t.Errorf("%q is %s, want crashed", words, got)
		}
	}
}
