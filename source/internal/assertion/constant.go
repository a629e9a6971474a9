package assertion

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"supervise/internal/regexp"
)

// The conditions that depend neither on the code nor on the environment. They are in lower case,
// without white space and with double quotes.
var (
	// trueConditionRE matches a condition that is always true, as in 1==1, len("a")>0 and
	// x||true.
	trueConditionRE = regexp.MustCompile(`^(?:true|1|!false|!0|!!1|!!true|notfalse|not0|1==1|0==0|1<2|2>1|1!=2|"[^"]+"|all\(\)|not\(any\(\)\)|len\("[^"]+"\)>0|len\("[^"]+"\)!=0|"[^"]+"!=""|"[^"]+"\.length(?:\(\))?>0|strlen\("[^"]+"\)(?:>0)?` +
		`|sys\.version_info>=?\([23](?:,[0-6](?:,\d+)*)?,?\)|sys\.version_info(?:\.major|\[0\])>=?[23]|php_version_id>=?[1-7]\d{4}|php_major_version>=?[1-7]|version_compare\((?:php_version|phpversion\(\)),"[0-7][\d.]*","(?:>=?|ge|gt)"\)|ruby_version>=?"[012][\d.]*"` +
		`|.*\|\|true|true\|\|.*|.*[^a-z_]ortrue|trueor[^a-z_].*|bool(?:ean)?\((?:1|true|"[^"]+")\)|all\(\[\]\)|any\(\[(?:true|1)\]\)|not(?:\[\]|""|\(\)|\{\})|!""` +
		`|(?:time\.now\(\)\.(?:unix(?:nano|milli)?|year)\(\)|date\.now\(\)|time\.time\(\)|time\(\)|os\.getpid\(\)|process\.pid|runtime\.numcpu\(\)|sys\.maxsize|system\.currenttimemillis\(\)|system\.nanotime\(\))(?:>0|>=0|>=1|>1|!=0)` +
		`|os\.path\.exists\("[/.]"\)|file_exists\("[/.]"\)|file\.exist\?\("[/.]"\)|(?:math|random)\.random\(\)(?:>=0(?:\.0)?|<=1(?:\.0)?|<2|>-1))$`)
	// falseConditionRE matches a condition that is always false, as in false, 1==2 and x&&false.
	falseConditionRE = regexp.MustCompile(`^(?:false|0|!true|!1|!!0|!!false|nottrue|not1|1==2|1!=1|0!=0|1==0|0==1|2<1|any\(\)|not\(all\(\)\)|len\("[^"]+"\)==0|sys\.version_info<\([23],[0-6]\)|php_version_id<[1-7]\d{4}|none|nil|null|undefined|""|.*&&false|false&&.*|.*[^a-z_]andfalse|falseand[^a-z_].*)$`)
)

// ConstantValue returns the value of a condition that does not depend on the code or environment.
// known is false if the condition depends on them.
func ConstantValue(cond string) (value, known bool) {
	if m := quotedConditionRE.FindStringSubmatch(cond); m != nil {
		cond = m[1]
	}

	// Spaces, letter case, the kind of quotes and outer parentheses do not matter.
	c := strings.ReplaceAll(strings.ToLower(strings.Join(strings.Fields(cond), "")), "'", `"`)
	for len(c) > 2 && c[0] == '(' && c[len(c)-1] == ')' && HasBalancedBrackets(c[1:len(c)-1]) {
		c = c[1 : len(c)-1]
	}

	if m := equalityRE.FindStringSubmatch(c); m != nil && constantWordRE.MatchString(m[1]) && constantWordRE.MatchString(m[3]) {
		return (m[1] == m[3]) == (m[2][0] == '='), true
	}
	if m := numberComparisonRE.FindStringSubmatch(c); m != nil {
		a, _ := strconv.Atoi(m[1]) // at most six digits
		b, _ := strconv.Atoi(m[3])
		return slices.Contains(comparisonResults[m[2]], cmp.Compare(a, b)), true
	}
	if inner, ok := cutNegation(c); ok {
		value, known := ConstantValue(inner)
		return !value, known
	}

	switch {
	case falseConditionRE.MatchString(c):
		return false, true
	case trueConditionRE.MatchString(c):
		return true, true
	}
	return false, false
}

// cutNegation returns the condition within "not(…)" or "!(…)". It returns false if the condition
// has another form.
func cutNegation(c string) (inner string, ok bool) {
	for _, sign := range []string{"not(", "!("} {
		if inner, ok := strings.CutPrefix(c, sign); ok && strings.HasSuffix(inner, ")") && HasBalancedBrackets(inner[:len(inner)-1]) {
			return inner[:len(inner)-1], true
		}
	}
	return "", false
}

// quotedConditionRE matches a condition of pytest that is written as a string, as in
// "sys.version_info < (3, 8)". The group is the condition.
var quotedConditionRE = regexp.MustCompile(`^\s*["']([^"']*(?:\w\s+\w|[=<>])[^"']*)["']\s*$`)

// equalityRE matches a comparison for equality, as in a!=b. The groups are the left side, the
// operator and the right side.
var equalityRE = regexp.MustCompile(`^([^=!<>]+)(===?|!==?)([^=!<>]+)$`)

// numberComparisonRE matches a comparison of two numbers, as in 1<2. The groups are those of
// equalityRE.
var numberComparisonRE = regexp.MustCompile(`^(\d{1,6})(===?|!==?|<=?|>=?)(\d{1,6})$`)

// comparisonResults are the results of cmp.Compare for which an operator holds.
var comparisonResults = map[string][]int{
	"<": {-1}, "<=": {-1, 0}, ">": {1}, ">=": {0, 1}, "==": {0}, "===": {0}, "!=": {-1, 1}, "!==": {-1, 1},
}

// constantWordRE matches one constant, as in 1, "a", true and nil.
var constantWordRE = regexp.MustCompile(`^(?:\d+|"[^"]*"|true|false|nil|null|none)$`)

// HasBalancedBrackets reports whether the parentheses of a text close each other.
func HasBalancedBrackets(s string) bool {
	depth := 0
	for _, c := range s {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
