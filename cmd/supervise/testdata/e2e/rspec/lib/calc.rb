module Calc
  def self.add(a, b)
    a + b
  end

  def self.sign(n)
    return -1 if n < 0
    n > 0 ? 1 : 0
  end
end
