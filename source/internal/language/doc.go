// Package language recognises the language of a file, and by its path whether it is a test, third-party or generated code.
package language
