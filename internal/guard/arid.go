package guard

import (
	"bytes"
	"slices"

	"supervise/internal/mutation"
	"supervise/internal/regexp"
	"supervise/source"
)

// aridRule is a kind of code in which faults say nothing about the tests: tests rarely check it, and
// should not have to. Petrović and Ivanković call it arid (State of Mutation Testing at Google,
// ICSE-SEIP 2018).
type aridRule struct {
	what      string              // for the documentation
	langs     []source.Language   // empty: all
	line      *regexp.Regexp      // matches the line, without the spaces around it; nil: any
	function  *regexp.Regexp      // matches the name of the function, without its type; nil: any
	operators []mutation.Operator // empty: all
	example   string
}

// aridRules are the rules for lines that have mutants. Imports, declarations, logging, printing and
// assertions have none, see package mutation.
var aridRules = []aridRule{
	{
		what: "text for people and debuggers", example: "`String`, `GoString`, `__repr__`, `__str__`, `toString`, `inspect`, Rust's `fmt`",
		function: regexp.MustCompile(`^(String|GoString|__repr__|__str__|toString|ToString|inspect|fmt)$`),
	},
	{
		what: "hash codes, for which any value is right", example: "`__hash__`, `hashCode`, `GetHashCode`",
		function: regexp.MustCompile(`^(__hash__|hashCode|GetHashCode|hash)$`),
	},
	{
		what: "cases that cannot occur", example: "`panic(\"unreachable\")`, `unreachable!()`, `raise NotImplementedError`, `throw new AssertionError()`",
		line: regexp.MustCompile(`^(panic\(|unreachable!|todo!|unimplemented!|raise (AssertionError|NotImplementedError)\b|throw new (AssertionError|IllegalStateException|UnsupportedOperationException|NotImplementedException)\b)`),
	},
	{
		what: "metrics and traces", example: "`metrics.inc(\"orders\")`, `span.SetAttributes(…)`",
		line: regexp.MustCompile(`(?i)^(await )?([\w$]+(\.|->|::))*_?(metrics?|statsd|prometheus|telemetry|tracer|span|histogram|gauge)(\.|->|::)\w+`),
	},
	{
		what: "waiting", example: "`time.Sleep(d)`, `sleep(1)`, `setTimeout(…)`",
		line: regexp.MustCompile(`^(await )?([\w$]+(\.|::))*(sleep|Sleep|usleep|sleep_for|setTimeout|clearTimeout)\s*\(`),
	},
	{
		what: "time limits and sizes of buffers", example: "`timeout = 30`, `buf := make([]byte, 4096)`",
		line:      regexp.MustCompile(`(?i)timeout|deadline|time\.(Nano|Micro|Milli)?second\b|capacity|buf(fer)?_?size|\bmake\(`),
		operators: []mutation.Operator{mutation.ChangeConstant, mutation.ChangeArithmetic},
	},
	{
		what: "definitions of flags and of the command line", example: "`flag.Int(…)`, `parser.add_argument(…)`, `@click.option(…)`",
		line: regexp.MustCompile(`^([\w, $]+:?= *)?(flag|pflag)\.\w+\(|\.(Persistent)?Flags\(\)\.|\.add_argument\(|\.option\(|\.addOption\(|\.add_parser\(`),
	},
	{
		what: "closing and releasing", example: "`defer f.Close()`, `cancel()`, `mu.Unlock()`", langs: []source.Language{source.Go},
		line: regexp.MustCompile(`^(defer\b|([\w$]+\.)*(Close|Unlock|RUnlock|Lock|RLock|Done|Stop|Flush|Sync|Cleanup|Helper)\(\)$|cancel\(\)$)`),
	},
	{
		what: "passing an error on", example: "`return fmt.Errorf(\"read: %w\", err)`, `return nil, err`", langs: []source.Language{source.Go},
		line: regexp.MustCompile(`^return (.*, )?(err|fmt\.Errorf\(.*|errors\.\w+\(.*)$`),
	},
}

// isArid reports whether a mutant is in arid code. line is its line.
func isArid(lang source.Language, m mutation.Mutant, line string) bool {
	name := shortName(m.Function)
	return slices.ContainsFunc(aridRules, func(r aridRule) bool {
		return (len(r.langs) == 0 || slices.Contains(r.langs, lang)) && (len(r.operators) == 0 || slices.Contains(r.operators, m.Operator)) &&
			(r.line == nil || r.line.MatchString(line)) && (r.function == nil || r.function.MatchString(name))
	})
}

// lineOf returns a line of a text, without the spaces around it.
func lineOf(text []byte, n int) string {
	for ; n > 1; n-- {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(bytes.TrimSpace(line))
}
