# A response that comes in pieces: GET /flush?bytes=N&piece=M[&pause=MS][&seed=S] sends N bytes, flushes after each M,
# and pauses then.
package TestOrigin::Flush;

use strict;
use warnings;

use Apache2::Const -compile => qw(OK);
use Apache2::RequestIO ();
use Apache2::RequestRec ();
use CRCSync::Pages ();

sub handler {
    my ($r) = @_;
    my %query = map { split /=/, $_, 2 } split /&/, $r->args // '';
    my $page = substr CRCSync::Pages::page($query{seed} // 'flush', 1, $query{bytes}), 0, $query{bytes};
    $r->content_type('text/plain');
    for (my $at = 0; $at < length $page; $at += $query{piece}) {
        $r->print(substr $page, $at, $query{piece});
        $r->rflush;
        select undef, undef, undef, $query{pause} / 1000 if $query{pause};
    }
    return Apache2::Const::OK;
}

1;
