package ledger

import "path/filepath"

// writeCheckpoint writes a second, compressed copy of the record of iteration n.
func (l *Ledger) writeCheckpoint(n int, doc []byte) error {
	return writeGzip(checkpointPath(l.dir, IterationName(n)), doc)
}

func readCheckpoint(dir, name string) (it Iteration, err error) {
	err = readGzipJSON(checkpointPath(dir, name), &it)
	return it, err
}

func checkpointPath(dir, name string) string {
	return filepath.Join(dir, "checkpoints", name+".json.gz")
}
