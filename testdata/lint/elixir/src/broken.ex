defmodule Broken do
  def total(list) do
    sum(lst)
  end
end
