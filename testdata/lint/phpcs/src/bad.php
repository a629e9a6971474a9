<?php
function f($a){
  if ($a == null) { echo "<é>"; }
	return  TRUE;
}
class thing {}
