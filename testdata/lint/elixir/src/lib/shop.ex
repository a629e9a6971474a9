defmodule Shop do
  @limit 3

  def price(order) do
    unused = 1
    Shop.Taxes.add(order)
  end

  def price(order, _), do: order
  defp never, do: :ok
end
