#!/bin/sh
a=$(ls)
echo "$a" | cat
read b; echo $b
