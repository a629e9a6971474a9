package p

func f( {
