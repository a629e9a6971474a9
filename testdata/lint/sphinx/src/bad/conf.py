project = 
