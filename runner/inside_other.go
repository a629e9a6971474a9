//go:build !linux && !darwin

package runner

func insideTree() bool { return false }
