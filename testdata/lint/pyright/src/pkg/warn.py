import os

1 == 2
