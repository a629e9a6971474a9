project = "p"
