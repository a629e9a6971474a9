sub f {
  my $x = shift;
  eval "<e>";
  return undef;
}
open FH, "x";
