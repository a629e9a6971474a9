/** @file */
/** Adds.
 * @param nosuch it
 * @nosuchcommand
 */
int f(int a, int b);
