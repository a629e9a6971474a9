def total(list)
  list.sm
end

total([1, 2])
