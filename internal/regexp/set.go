package regexp

import (
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"
	"sort"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Set finds which of many expressions match a complete text, and reads the text once for all of
// them. It is a deterministic automaton whose states are made when a text first needs them, as in
// RE2::Set. It is safe for concurrent use.
//
// Each expression is compiled to a program of instructions. A state is the set of instructions,
// of all programs, that wait for the next character.
type Set struct {
	exprs []string
	once  sync.Once
	mu    sync.Mutex

	program    []syntax.Inst         // the instructions of all programs, with indexes in this list
	owner      []int                 // by instruction: index of its expression
	starts     []uint32              // the first instruction of each program
	bounds     []rune                // the first character of each class, see classify
	ascii      [utf8.RuneSelf]uint16 // the class of each ASCII character
	states     []setState            // the states so far
	next       []int32               // by state and class: the following state; 0 is not known yet
	index      map[string]int32      // the number of a state by its key
	visited    []uint32              // by instruction: the last round that visited it
	round      uint32                // the current round of visit
	stack      []uint32              // the instructions to visit
	key        []byte                // memory for a key
	madeStates int                   // number of states made since the set was compiled
	bytesRead  int                   // number of bytes read since then
}

// setState is what the expressions wait for at a position of the text.
type setState struct {
	pending []uint32 // the instructions that wait for the next character
	matched []int    // the expressions that match if the text ends here
}

const (
	// deadState is the state in which no expression can match any more.
	deadState = 1
	// startState is the state at the start of a text.
	startState = 2
)

// maxStates bounds the memory of a set to a few megabytes. A set with more states starts again
// without any.
const maxStates = 4096

// NewSet returns a set of expressions, each of which must match a complete text. Word boundaries,
// and ends of lines within a text, are not supported.
func NewSet(exprs []string) *Set {
	s := &Set{exprs: exprs}
	if inTest {
		s.once.Do(s.compile)
	}
	return s
}

// compile compiles all expressions. It panics if one is invalid.
func (s *Set) compile() {
	for i, expr := range s.exprs {
		tree, err := syntax.Parse(`\A(?:`+expr+`)\z`, syntax.Perl)
		if err != nil {
			panic(fmt.Sprintf("regexp set: %v", err))
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil {
			panic(fmt.Sprintf("regexp set: %v", err))
		}
		base := uint32(len(s.program))
		for _, inst := range prog.Inst {
			if inst.Op == syntax.InstEmptyWidth && syntax.EmptyOp(inst.Arg)&^(syntax.EmptyBeginText|syntax.EmptyEndText) != 0 {
				panic("regexp set: no boundaries of words or lines: " + expr)
			}
			inst.Out += base
			if inst.Op == syntax.InstAlt || inst.Op == syntax.InstAltMatch {
				inst.Arg += base
			}
			s.program, s.owner = append(s.program, inst), append(s.owner, i)
		}
		s.starts = append(s.starts, base+uint32(prog.Start))
	}
	s.visited = make([]uint32, len(s.program))
	s.classify()
	s.reset()
}

// classify divides the characters into classes that all expressions treat alike.
func (s *Set) classify() {
	s.bounds = []rune{0, '\n', '\n' + 1}
	for i := range s.program {
		inst := &s.program[i]
		if inst.Op != syntax.InstRune && inst.Op != syntax.InstRune1 {
			continue
		}
		if len(inst.Rune) == 1 {
			s.bounds = append(s.bounds, inst.Rune[0], inst.Rune[0]+1)
			for r := unicode.SimpleFold(inst.Rune[0]); r != inst.Rune[0]; r = unicode.SimpleFold(r) {
				s.bounds = append(s.bounds, r, r+1)
			}
		}
		for j := 0; j+1 < len(inst.Rune); j += 2 {
			s.bounds = append(s.bounds, inst.Rune[j], inst.Rune[j+1]+1)
		}
	}
	slices.Sort(s.bounds)
	s.bounds = slices.Compact(s.bounds)
	for c := range s.ascii {
		s.ascii[c] = uint16(s.class(rune(c)))
	}
}

// class returns the class of a character.
func (s *Set) class(r rune) int {
	return sort.Search(len(s.bounds), func(i int) bool { return s.bounds[i] > r }) - 1
}

// reset removes all states except the first ones.
func (s *Set) reset() {
	s.index, s.next = map[string]int32{}, nil
	s.states = nil
	for range startState { // state 0 means unknown, and deadState has no instructions
		s.add(nil, nil)
	}
	waits, accepts := s.closure(s.starts, syntax.EmptyBeginText)
	s.add(waits, accepts)
}

// add adds a state and returns its number.
func (s *Set) add(waits []uint32, accepts []int) int32 {
	s.states = append(s.states, setState{waits, accepts})
	s.next = append(s.next, make([]int32, len(s.bounds))...)
	s.madeStates++
	return int32(len(s.states) - 1)
}

// closure follows the instructions that need no character. It returns those that wait for a
// character, and the expressions that match if the text ends here. at is what is known about the
// position.
func (s *Set) closure(from []uint32, at syntax.EmptyOp) (waits []uint32, accepts []int) {
	s.visit(from, at, func(pc uint32, op syntax.InstOp) {
		if op != syntax.InstMatch {
			waits = append(waits, pc)
		}
	})
	s.visit(from, at|syntax.EmptyEndText, func(pc uint32, op syntax.InstOp) {
		if op == syntax.InstMatch {
			accepts = append(accepts, s.owner[pc])
		}
	})
	slices.Sort(waits)
	slices.Sort(accepts)
	return waits, accepts
}

// visit follows the instructions that need no character, and calls found for each of the others.
func (s *Set) visit(from []uint32, at syntax.EmptyOp, found func(uint32, syntax.InstOp)) {
	s.round++
	s.stack = append(s.stack[:0], from...)
	for len(s.stack) > 0 {
		pc := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		if s.visited[pc] == s.round {
			continue
		}
		s.visited[pc] = s.round
		switch inst := &s.program[pc]; inst.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			s.stack = append(s.stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			s.stack = append(s.stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^at == 0 {
				s.stack = append(s.stack, inst.Out)
			}
		case syntax.InstFail:
		case syntax.InstMatch, syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			found(pc, inst.Op)
		}
	}
}

// step returns the state that follows a state after a character of a class, and records it in
// next.
func (s *Set) step(state int32, class int) int32 {
	var out []uint32
	for _, pc := range s.states[state].pending {
		if inst := &s.program[pc]; inst.MatchRune(s.bounds[class]) {
			out = append(out, inst.Out)
		}
	}
	waits, accepts := s.closure(out, 0)
	next := int32(deadState)
	if len(waits)+len(accepts) > 0 {
		s.key = s.key[:0]
		for _, pc := range waits {
			s.key = binary.LittleEndian.AppendUint32(s.key, pc)
		}
		for _, i := range accepts {
			s.key = binary.LittleEndian.AppendUint32(s.key, uint32(len(s.program)+i))
		}
		known, ok := s.index[string(s.key)]
		if !ok {
			known = s.add(waits, accepts)
			s.index[string(s.key)] = known
		}
		next = known
	}
	s.next[int(state)*len(s.bounds)+class] = next
	return next
}

// Match returns the indexes of the expressions that match a text, in ascending order. The caller
// must not change them. ok is false if the text needs too many new states, as a text made for
// this purpose does; the caller must then try the expressions one by one.
func (s *Set) Match(text string) (list []int, ok bool) {
	s.once.Do(s.compile)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytesRead += len(text)
	if len(s.states) > maxStates {
		s.reset()
	}

	limit := 2*maxStates + s.bytesRead/bytesPerState
	state, classes := int32(startState), len(s.bounds)
	for i := 0; i < len(text); {
		r, size, class := rune(text[i]), 1, 0
		if r < utf8.RuneSelf {
			class = int(s.ascii[r])
		} else {
			r, size = utf8.DecodeRuneInString(text[i:])
			class = s.class(r)
		}
		i += size
		next := s.next[int(state)*classes+class]
		if next == 0 {
			if s.madeStates > limit {
				return nil, false
			}
			next = s.step(state, class)
		}
		if state = next; state == deadState {
			return nil, true
		}
	}
	return s.states[state].matched, true
}

// bytesPerState is how many bytes have to be read for each state that is made after the first
// ones. To make a state takes about as long as to try all expressions on that many bytes.
const bytesPerState = 64
