type order = Small | Large of int

let price order =
  let unused = 3 in
  match order with
  | Small -> 1

let total (n : int) = n + 1

let () =
  print_int (total (price
    "a"))
