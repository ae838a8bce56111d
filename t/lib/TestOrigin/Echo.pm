# Says what it was asked: method, URI, header fields and body, as text.
package TestOrigin::Echo;

use strict;
use warnings;

use Apache2::Const -compile => qw(OK);
use Apache2::RequestIO ();
use Apache2::RequestRec ();
use APR::Table ();

sub handler {
    my ($r) = @_;
    my $body = '';
    while ($r->read(my $part, 65_536)) {
        $body .= $part;
    }
    my @fields;
    $r->headers_in->do(sub { push @fields, "$_[0]: $_[1]\n"; 1 });
    $r->content_type('text/plain');
    $r->print($r->method, ' ', $r->unparsed_uri, "\n", sort(@fields), "\n", $body);
    return Apache2::Const::OK;
}

1;
