package syntax

func f( {
