# An httpd that starts without what the client module wants: no CacheRoot on the disk, one that is a file, one that belongs
# to somebody else, no shared memory (C30, C33). Pages are served, the reason is in the log, and deltas come as soon as there is a place.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(make_delta);
use CRCSync::Faults;
use CRCSync::Pair;
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my $base = text(20_000, 1);
my ($delta, $new) = make_delta($base, $n, 'new', map { [$_] } 0 .. $n - 1);

my %start = (
    'no directory'        => sub { rmdir $_[0]; },
    'a file in its place' => sub { rmdir $_[0]; spew($_[0], 'x') },
    'not ours to write'   => sub { chmod 0500, $_[0] },
    'not ours to read'    => sub { chmod 0000, $_[0] },
);
for my $how (sort keys %start) {
    my $alone = CRCSync::ClientAlone->start;
    my $cache = $alone->client->dir . '/cache';
    $start{$how}->($cache);
    $alone->client->restart;
    my @children = $alone->client->children;
    for my $fetch (1 .. 3) {
        $alone->base_ok('/page', $base);
        # mod_cache_disk makes a directory that is not there.
        next if $how eq 'no directory';
        is($alone->note('reason'), 'store-error', "C33: $how, fetch $fetch: the reason");
    }
    chmod 0700, $cache if -d $cache;
    unlink $cache if -f $cache;
    mkdir $cache;
    $alone->base_ok('/page', $base);
    $alone->delta('/page', $delta);
    $alone->body_ok('/page', $new, "C33: $how: with a place to write");
    is($alone->note('result'), 'delta', "C33: $how: with a place to write, a delta");
    is(join(' ', $alone->client->children), "@children", "C33: $how: no child has died");
    $alone->client->stop;
}

# No shared memory: deltas all the same, and no counters.
my $origin = CRCSync::Origin->start;
$origin->put('/page', body => $base, fields => ['Content-Type' => 'text/html']);
my $faults = CRCSync::Faults->new;
$faults->no_shared_memory(1);
my $pair = CRCSync::Pair->start(to => $origin->port, client_faults => $faults, server_faults => $faults);
my @children = map { $_->children } $pair->client, $pair->server;
for my $fetch (1 .. 4) {
    my (undef, @exchanges) = $pair->body_ok('/page', $base, "no shared memory, fetch $fetch");
    next if $fetch == 1;
    is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', "no shared memory, fetch $fetch: a delta");
}
is(join(' ', map { $_->children } $pair->client, $pair->server), "@children", 'no shared memory: no child has died');
expect_log(qr/crcsync: no shared memory for the counters of CRCSyncServer/);
expect_log(qr/crcsync: no shared memory for the counters of CRCSyncClient/);
expect_log(qr/crcsync: no shared memory for crcsync-client-/);

expect_log(qr/the store cannot keep a base of/);
allow_log(qr/cache_disk/);
done_testing;
