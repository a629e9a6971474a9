import std/os

proc price(order: int): int =
  let unused = 3
  result = order + 1

proc old() {.deprecated: "use price".} = discard

old()
let total: string = price(3)
echo totl
