# Something on the way takes Content-Encoding off a delta (C40): found by the tag, or by the body's own structure. What
# only looks like a delta passes as it is.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(blocks block literal deflated strong);
use CRCSync::Pair;
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my $alone = CRCSync::ClientAlone->start(conf => "CRCSyncClientMaxInstance 1M\n");
my $base = text(20_000, 1);
my @blocks = blocks($base, $n);
my @html = ('Content-Type' => 'text/html');
my $number = 0;

sub answer_ok {
    my ($name, $body, $want, $result, @fields) = @_;
    $name = "C40: $name";
    my $target = '/page' . ++$number;
    $alone->base_ok($target, $base);
    $alone->with_if_block($target, body => $body, fields => [@html, @fields]);
    my $response = $alone->body_ok($target, $want, $name);
    is($alone->note('result'), $result, "$name: $result");
    is(scalar(my @all = $alone->requests), $result eq 'refetched' ? 2 : 1, "$name: requests");
    return $response;
}

my $instance = "new$blocks[3]" . 'deflated' x 20;
my %deltas = (
    'that begins with a literal'  => literal('new') . block(3) . deflated('deflated' x 20) . strong($instance),
    'that begins with a stream'   => deflated('new') . block(3) . deflated('deflated' x 20) . strong($instance),
    'that begins with the hash'   => strong($instance) . literal('new') . block(3) . deflated('deflated' x 20),
);
for my $how (sort keys %deltas) {
    my $delta = $deltas{$how};
    my $response = answer_ok("a delta $how, with its tag", $delta, $instance, 'delta', ETag => '"2-crcsync-identity"');
    is(field($response, 'ETag'), '"2"', "a delta $how: the origin's tag");
    answer_ok("a delta $how, without a tag", $delta, $instance, 'delta');
    answer_ok("a delta $how, with a tag that lost its suffix", $delta, $instance, 'delta', ETag => '"2"');
    # Not stripped, but garbled: no coding that anybody knows.
    for my $coding ('crcsynd', 'crcsync Keep-Alive: timeout=5', 'crc', 'crcsync;m=1', '"crcsync"') {
        $response = answer_ok("a delta $how, labelled $coding", $delta, $instance, 'delta', 'Content-Encoding' => $coding);
        is(field($response, 'Content-Encoding'), undef, "a delta $how, labelled $coding: no coding");
    }
    answer_ok("a delta $how, cut", substr($delta, 0, -1), $base, 'refetched');
    my $wrong = $delta =~ s/new/neW/r;
    answer_ok("a delta $how, changed", $wrong, $base, 'refetched') if $wrong ne $delta;
}
# A stored delta that its server module would never have made one of: it is the page.
for my $bound (['Cache-Control' => 'no-transform'], ['Repr-Digest' => 'sha-256=:d435Qo+nKZ+gLcUHn7GQtQ72hiBVAgqoLsZnZPiTGPk=:']) {
    my $stored = literal('a page') . strong('a page');
    answer_ok("a page that is a delta, with $bound->[0]", $stored, $stored, 'full', @$bound);
}
answer_ok('all blocks', join('', map { block($_) } 0 .. $n - 1) . strong($base), $base, 'delta');

# A coding that we don't know stays on what is no delta.
for my $body ('<html>' . text(5_000, 3), 'Lorem' . text(5_000, 3)) {
    my $known = answer_ok('an unknown coding', $body, $body, 'full', 'Content-Encoding' => 'rot13');
    is(field($known, 'Content-Encoding'), 'rot13', 'an unknown coding: as it is');
}

# An origin whose own tags end as ours do.
my $response = answer_ok('an own tag', '<html>' . text(5_000, 3), '<html>' . text(5_000, 3), 'full', ETag => '"x-crcsync-gzip"');
is(field($response, 'ETag'), '"x-crcsync-gzip"', 'an own tag: as it is');
for my $field ('If-None-Match', 'If-Match', 'If-Range') {
    my $target = "/own-$field";
    $alone->base_ok($target, $base);
    $alone->body_ok($target, $base, "$field with an own tag", $field => '"x-crcsync-gzip"');
    my ($request) = $alone->requests;
    is(field($request, $field), '"x-crcsync-gzip"', "$field reaches the origin as it is");
    is(field($request, 'If-Block'), undef, "$field: no If-Block");
    is($alone->note('reason'), 'own-suffix', "$field: the reason");
}

# Pages that begin as a delta might.
my %pages = (
    'B'                => "Basic\n" . text(3_000, 4),
    'a block number'   => "B\1" . text(3_000, 5),
    'two blocks'       => "B\1B\2" . text(3_000, 5),
    'L'                => "Lorem ipsum\n" . text(3_000, 6),
    'a long literal'   => "L\0\x0f\0\0" . text(3_000, 7),
    'Z'                => "Zebra\n" . text(3_000, 8),
    'a zlib head'      => "Zx\x9c" . text(3_000, 9),
    'S'                => "Serial,Name\n" . text(3_000, 10),
    'S and B'          => 'S' . '.' x 20 . "B\1" . text(3_000, 10),
    'one B'            => 'B',
    'one S'            => 'S',
    'an S of 20'       => 'S' . '.' x 19,
    'nothing'          => '',
    'a page'           => '<!DOCTYPE html>' . text(3_000, 11),
);
for my $how (sort keys %pages) {
    my $target = "/text/" . $how =~ s/\W//gr;
    $alone->base_ok($target, $base);
    $alone->full($target, body => $pages{$how}, fields => [@html]);
    $alone->requests;
    $alone->body_ok($target, $pages{$how}, "a page that begins with $how");
    like($alone->note('result'), qr/^(?:full|refetched)$/, "a page that begins with $how: no delta");
    $alone->full($target, chunked => [split //, $pages{$how}], fields => [@html]) if length $pages{$how} < 100;
    $alone->body_ok($target, $pages{$how}, "a page that begins with $how, again");
}

# Such a page is not held back once it is clear that it is none: its start is there while the origin waits.
my $gate = CRCSync::Work::new_dir('gate') . '/open';
my $slow = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $page = ($request->{number} > 1 ? 'Bonjour' : '<html>') . text(30_000, 12);
        $connection->send("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n");
        $connection->send(sprintf "%x\r\n%s\r\n", 20_000, substr $page, 0, 20_000);
        CRCSync::Work::wait_for('the gate', sub { -e $gate }) if $request->{number} > 1;
        $connection->send(sprintf "%x\r\n%s\r\n", length($page) - 20_000, substr $page, 20_000);
        $connection->send("0\r\n\r\n");
    }
);
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    vars    => {TO => $slow->port},
    conf    => CRCSync::Pair::client_conf() . "CRCSyncClientBlocks 16\n",
);
is_body(http_get($client->port, '/')->{body}, '<html>' . text(30_000, 12), 'a base');
my $reader = CRCSync::Http->new($client->port);
$reader->send_request(GET => '/');
my $early = $reader->response(progress => sub { $_[0] && length $_[0]{body} >= 20_000 });
is(length $early->{body}, 20_000, 'the first part is there');
spew($gate, '');
is_body($reader->response->{body}, 'Bonjour' . text(30_000, 12), 'and then the rest');
ok(defined field(($slow->requests)[1], 'If-Block'), 'it might have been a delta');

expect_log(qr/the delta gives no instance/);
done_testing;
