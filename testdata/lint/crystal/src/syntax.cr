class Shop
  def price(
    1
  end
