class Shop
  def price(order : Int32) : Int32
    order + "1"
  end
end

puts Shop.new.price(3)
