defmodule Syntax do
  def total(list do
    list
  end
end
