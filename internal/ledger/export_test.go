package ledger

// Audit returns the events of the log of the loop in dir, and the problems of its chain.
func Audit(dir string) (events []Event, problems []string, err error) {
	problems, err = ReadLog(dir, func(e Event) { events = append(events, e) })
	return events, problems, err
}
