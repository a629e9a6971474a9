class Thing
  def f(a, b)
    x = 1
    if a == nil then puts "<é>" end
    eval(b)
  end
end

Foo = 1
