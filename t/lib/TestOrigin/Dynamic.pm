# A page that changes at each request: GET /dynamic?key=K[&bytes=N][&type=T].
#
# Request n for the key K gives page n: text that stays, a list that grows at its top, a token of this request. The field
# X-Serial tells n, and the file K.n in CRCSYNC_STATE holds the bytes, for the test to compare.
package TestOrigin::Dynamic;

use strict;
use warnings;

use Apache2::Const -compile => qw(OK);
use Apache2::RequestIO ();
use Apache2::RequestRec ();
use APR::Table ();
use CRCSync::Pages ();

sub handler {
    my ($r) = @_;
    my %query = map { split /=/, $_, 2 } split /&/, $r->args // '';
    my $key = $query{key} // 'page';
    $key =~ s/\W//g;
    my ($serial, $page) = CRCSync::Pages::next_page($ENV{CRCSYNC_STATE}, $key, $query{bytes} // 100_000);
    $r->content_type($query{type} // 'text/html; charset=utf-8');
    $r->headers_out->set('X-Serial' => $serial);
    $r->headers_out->set('Content-Length' => length $page) if $query{length};
    $r->print($page);
    return Apache2::Const::OK;
}

1;
