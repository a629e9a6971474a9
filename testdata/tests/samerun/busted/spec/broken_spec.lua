require('nowhere_to_be_found')
