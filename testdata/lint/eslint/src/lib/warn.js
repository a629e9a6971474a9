/* global console */
console.log("only a warning");
