local unused = "<é>"
x = 1
print(y)
if true then else end
