# C36: deltas and bodies that are small on the wire and huge when they are inflated, or never end. CRCSyncClientMaxInstance
# is the limit; the page comes by a second fetch, and the child stays as small as it was.
use strict;
use warnings;

use Compress::Zlib ();
use CRCSync::ClientAlone;
use CRCSync::Delta qw(block literal deflated strong);
use CRCSync::HostileDeltas qw(inflates_to_zeros);
use CRCSync::Pair;
use CRCSync::Test;

my $limit = 8 << 20;
my $limits = "CRCSyncClientMaxInstance $limit\nCRCSyncClientMaxBase $limit\nCRCSyncClientHoldMemory 1M\nProxyTimeout 60\n";
my $alone = CRCSync::ClientAlone->start(conf => $limits);
my $base = text(20_000, 1);
my $page = text(20_000, 2);
my @children = $alone->client->children;
my $gib = 1 << 30;
my $huge = soak(fast => 2 * $gib, full => 16 * $gib);
my $number = 0;

# Most memory that a child has ever had, in kB.
sub peak {
    my ($most) = sort { $b <=> $a } map { CRCSync::Work::slurp("/proc/$_/status") =~ /^VmHWM:\s*(\d+)/m ? $1 : () } @children;
    return $most;
}

sub refetched_ok {
    my ($name, $body, @codings) = @_;
    my $target = '/page' . ++$number;
    $alone->base_ok($target, $base);
    $alone->full($target, body => $page, fields => ['Content-Type' => 'text/html']);
    $alone->with_if_block($target, body => $body,
        fields => ['Content-Type' => 'text/html', 'Content-Encoding' => join(', ', 'crcsync', @codings), Capability => 'crcsync; m=1']);
    my $before = peak();
    $alone->body_ok($target, $page, "C36: $name");
    is($alone->note('result'), 'refetched', "$name: fetched again");
    is($alone->note('reason'), 'too-large', "$name: the reason");
    my $grown = peak() - $before;
    cmp_ok($grown, '<', 64 * 1024, "$name: " . length($body) . " bytes on the wire, $grown kB more memory");
    return;
}

my $bomb = inflates_to_zeros($huge);
refetched_ok('a stream of many GiB', "Z$bomb");
refetched_ok('that in gzip, once more', Compress::Zlib::memGzip("Z$bomb"), 'gzip');
refetched_ok('gzip of empty sections', Compress::Zlib::memGzip(literal('') x 4_000_000), 'gzip');
refetched_ok('empty sections by the million', literal('') x 2_000_000);
refetched_ok('empty streams by the million', deflated('') x 1_000_000);
refetched_ok('one block by the million', block(0) x 1_000_000);
refetched_ok('a literal of 4 GiB that goes on', "L\xff\xff\xff\xff" . 'x' x (1 << 20));

# Not too many of them: right, if strange.
$alone->base_ok('/strange', $base);
$alone->delta('/strange', literal('') x 500_000 . deflated('') x 100_000 . literal($page) . strong($page));
$alone->body_ok('/strange', $page, 'a page between empty sections');
is($alone->note('result'), 'delta', 'a page between empty sections: a delta');

# A full response in gzip that would inflate to many GiB passes as it is, and is no base.
my $gzip = inflates_to_zeros($huge, format => 'gzip');
my $before = peak();
$alone->full('/gzip', body => $gzip, fields => ['Content-Type' => 'text/html', 'Content-Encoding' => 'gzip']);
$alone->body_ok('/gzip', $gzip, 'a gzip body', 'Accept-Encoding' => 'gzip');
is($alone->note('reason'), 'too-large', 'a gzip body: no base');
cmp_ok(peak() - $before, '<', 64 * 1024, 'a gzip body: memory');

# A delta that never ends is left at the limit, and the upstream let go.
my $left = CRCSync::Work::new_dir('left');
my $endless = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        if (!defined field($request, 'If-Block')) {
            my $body = (field($request, 'Cache-Control') // '') =~ /no-cache/ ? $page : $base;
            $connection->send(CRCSync::Origin::response(body => $body, fields => ['Content-Type' => 'text/html']));
            return;
        }
        $connection->send("HTTP/1.1 200 OK\r\nContent-Encoding: crcsync\r\nTransfer-Encoding: chunked\r\n\r\n");
        my $part = ($request->{target} =~ /literal/ ? literal('') : deflated('')) x 10_000;
        1 while $connection->send(sprintf "%x\r\n%s\r\n", length $part, $part);
        spew($left . $request->{target}, 'left');
    }
);
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    vars    => {TO => $endless->port},
    conf    => CRCSync::Pair::client_conf() . $limits,
);
for my $target ('/literals', '/streams') {
    is_body(http_get($client->port, $target)->{body}, $base, "$target: a base");
    is_body(http_get($client->port, $target)->{body}, $page, "$target that never end: the page");
    CRCSync::Work::wait_for('the upstream to be let go', sub { -e "$left$target" });
}

my %live = map { $_ => 1 } $alone->client->children;
is_deeply([grep { !$live{$_} } @children], [], 'no child has ended');
expect_log(qr/the delta gives no instance/);
done_testing;
