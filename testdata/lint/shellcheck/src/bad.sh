#!/bin/bash
foo=$1
echo $foo
cd /nowhere
if [ $foo == "<é>" ]; then ls *.txt | grep x; fi
for f in $(ls); do rm -rf "$undefined/"; done
