package p
func  F( ) {  }
