nosuch(
