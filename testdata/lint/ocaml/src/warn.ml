type order = Small | Large of int

let price order =
  match order with
  | Small -> 1

let () = print_int (price Small)
