// Package mutate is the table of ways to cheat: each row changes a real test, or what it depends on, so that it can no
// longer fail.
package mutate
