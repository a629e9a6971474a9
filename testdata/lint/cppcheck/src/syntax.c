int f( {
  if
