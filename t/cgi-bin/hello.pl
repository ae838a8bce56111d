#!/usr/bin/perl
# A CGI page that says its query.
use strict;
use warnings;
my $query = $ENV{QUERY_STRING} // '';
print "Content-Type: text/plain\r\n\r\nHello, $query\n";
