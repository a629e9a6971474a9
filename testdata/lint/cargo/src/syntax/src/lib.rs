pub fn broken( {
