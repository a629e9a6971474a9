import importlib

from shop.price import Basket, price

importlib.import_module("shop.ünicode & co")
price(1)
Basket().add("apple")
