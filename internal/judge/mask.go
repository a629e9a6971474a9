package judge

import "context"

// Mask masks the secrets of the environment. It reads the set and the runs of the
// checks as they were measured, and adds both without the secrets.
type Mask struct{}

// About describes the stage.
func (Mask) About() About {
	return About{"mask", "what the checks measured and printed; the environment", "the same without secrets"}
}

// Apply applies the stage.
func (Mask) Apply(_ context.Context, c Case, v Verdict) (Verdict, error) {
	if !v.Reused { // else it is masked already
		v.Measured, v.Checks = c.Mask.Set(v.Measured), c.Mask.Checks(v.Checks)
		v.Set = v.Measured
	}
	return v, nil
}
