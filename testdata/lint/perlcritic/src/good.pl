#!/usr/bin/perl
use strict;
use warnings;
our $VERSION = 1;
exit;
