sub f {
 if (
