# Brigades of all shapes (C14, C20): what a handler may pass, and what it should not but might.
use strict;
use warnings;

use CRCSync::Pages;
use CRCSync::ServerAlone;
use CRCSync::Test;

my $dir = CRCSync::Work::t_dir();
my $server = CRCSync::ServerAlone->start(modules => ['perl'], conf => <<"END");
PerlSwitches -I$dir/lib
PerlModule TestOrigin::Buckets
<Location /buckets>
    SetHandler modperl
    PerlResponseHandler TestOrigin::Buckets
</Location>
SetOutputFilter CRCSYNC_ENCODE
CRCSyncServerMinSize 100
END
expect_log(qr/line \d+: SetOutputFilter: CRCSYNC_ENCODE has no effect/);
my $page = substr CRCSync::Pages::page('buckets', 3, 30_000), 0, 30_000;
my @ask = ('changed' . $page, 100);
my $field = CRCSync::Delta::if_block(@ask);
my @children = $server->httpd->children;

# Each is one response, whole and of the right bytes.
for my $buckets (
    'd30000.eos.b',
    'd30000.b.eos.b',
    'd30000.b',                           # the EOS is httpd's own
    'b.b.d30000.b.b.eos.b',               # empty brigades
    'z.b.z.b.d30000.b.z.b.eos.b',         # empty data
    'f.b.d30000.eos.b',                   # a FLUSH before any data
    'f.f.b.f.b.d15000.b.f.f.b.d15000.eos.b',
    'd30000.f.eos.b',                     # a FLUSH just before EOS
    'd30000.b.f.b.eos.b',
    'z.f.z.d30000.z.f.z.eos.b',
    'd1.f.' x 50 . 'd29950.b.eos.b',
    'd1.b.' x 50 . 'd29950.b.eos.b',
    'd65536.eos.b',
    'd30000.eos.eos.b',                   # EOS twice
    'd30000.eos.b.eos.b.eos.b',
    'd30000.eos.b.f.b',                   # metadata after the end
    'd30000.eos.b.b',
    )
{
    (my $name = $buckets) =~ s/(?:\w+\.[fb]\.){10,}/.../;
    $server->is_delta($server->ask(@ask, "/buckets?$buckets"), @ask, $page, $name);
    is_body($server->get("/buckets?$buckets")->{body}, $page, "$name: without If-Block");
}

# Data after the end is none of the page's, nor of the next response on the connection.
for my $buckets ('d20000.eos.d100.b', 'd20000.eos.b.d100.b', 'd20000.eos.b.d100.eos.b', 'd20000.b.eos.b.d100.b') {
    my $client = CRCSync::Http->new($server->port);
    for my $turn (1 .. 3) {
        my $response = $client->request(GET => "/buckets?$buckets", fields => ['If-Block' => $field]);
        $server->is_delta($response, @ask, substr($page, 0, 20_000), "$buckets, request $turn");
        $server->{asked}++;
    }
}
# No data at all.
for my $buckets ('eos.b', 'b.eos.b', 'z.eos.b', 'z.b.z.eos.b', '', 'b.b') {
    $server->is_full($server->ask(@ask, "/buckets?$buckets"), '', 'too-small', "nothing: '$buckets'");
}
$server->is_delta($server->ask(@ask, '/buckets?f.b.eos.b'), @ask, '', 'nothing, but the header had to go first');
# What is known of the size at the first data decides.
$server->is_full($server->ask(@ask, '/buckets?b.z.d60.d39.eos.b'), substr($page, 0, 99), 'too-small', '99 bytes');
$server->is_delta($server->ask(@ask, '/buckets?d60.d40.eos.b'), @ask, substr($page, 0, 100), '100 bytes');
$server->is_delta($server->ask(@ask, '/buckets?d60.b.eos.b'), @ask, substr($page, 0, 60), '60 bytes and no end yet');

$server->children_live(@children);
done_testing;
