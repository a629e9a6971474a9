@[Deprecated("Use `price`")]
def old
  1
end

old
