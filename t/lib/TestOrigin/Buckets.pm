# A handler that passes just the brigades that the query asks for: GET /buckets?d100.b.f.b.d20.eos.b
#
#   dN    N bytes of data, the next ones of the page
#   z     data of no bytes
#   f     a FLUSH
#   eos   an EOS
#   b     the brigade ends here and is passed on; an empty one too
package TestOrigin::Buckets;

use strict;
use warnings;

use APR::Brigade ();
use APR::Bucket ();
use APR::BucketType ();
use Apache2::Connection ();
use Apache2::Const -compile => qw(OK);
use Apache2::Filter ();
use Apache2::RequestIO ();
use Apache2::RequestRec ();
use CRCSync::Pages ();

sub page { return substr CRCSync::Pages::page('buckets', 3, 30_000), 0, 30_000 }

sub handler {
    my ($r) = @_;
    my $allocator = $r->connection->bucket_alloc;
    my $brigade = APR::Brigade->new($r->pool, $allocator);
    my $page = page();
    $r->content_type('text/html');
    for (split /\./, $r->args // '') {
        if (/^d(\d+)$/) { $brigade->insert_tail(APR::Bucket->new($allocator, substr $page, 0, $1, '')) }
        elsif ($_ eq 'z') { $brigade->insert_tail(APR::Bucket->new($allocator, '')) }
        elsif ($_ eq 'f') { $brigade->insert_tail(APR::Bucket::flush_create($allocator)) }
        elsif ($_ eq 'eos') { $brigade->insert_tail(APR::Bucket::eos_create($allocator)) }
        elsif ($_ eq 'b') { $r->output_filters->pass_brigade($brigade) }
    }
    $brigade->destroy;
    return Apache2::Const::OK;
}

1;
