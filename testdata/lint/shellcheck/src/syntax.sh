#!/bin/sh
if true; then
  echo "x
