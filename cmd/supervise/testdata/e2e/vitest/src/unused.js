const never = 1
var old = 2
export default old
