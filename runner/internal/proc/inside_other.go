//go:build !linux && !darwin

package proc

func insideTree() bool { return false }
