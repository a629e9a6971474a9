export function f(a) {
  var x = a
  if (a == 1) { debugger }
  return "<é & \"quoted\">"
}
