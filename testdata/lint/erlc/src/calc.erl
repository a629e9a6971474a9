-module(calc).
-export([add/2, half/1]).

add(A, B) -> A + B.

half(X) ->
    Rest = X rem 2,
    twice(X) div 4.
