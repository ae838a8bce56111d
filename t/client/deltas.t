# Deltas made by hand, right ones: every kind of section, in every cut, and what the reader sees of the header fields.
use strict;
use warnings;

use Compress::Zlib ();
use CRCSync::ClientAlone;
use CRCSync::Delta qw(blocks block literal deflated strong make_delta);
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my $alone = CRCSync::ClientAlone->start;
my $base = text(20_000, 1);
my @blocks = blocks($base, $n);
my $number = 0;

# A delta for a base of its own, so that no case disturbs another.
sub delta_ok {
    my ($name, $delta, $instance, %answer) = @_;
    my $target = '/page' . ++$number;
    $alone->base_ok($target, $base);
    my @fields = @{delete $answer{fields} // []};
    $alone->delta($target, $delta, @fields);
    $alone->with_if_block(
        $target,
        fields => ['Content-Encoding' => 'crcsync', Vary => 'If-Block', Capability => 'crcsync; m=1', @fields],
        %answer
    ) if %answer;
    $alone->full($target, status => 500, body => 'not to be asked for');
    my $response = $alone->body_ok($target, $instance, $name);
    my @requests = $alone->requests;
    is(scalar @requests, 1, "$name: one request");
    is(field($requests[0], 'If-Block'), CRCSync::Delta::if_block($base, $n), "$name: the field that was sent");
    is(field($response, 'Content-Length'), length $instance, "$name: Content-Length");
    is(field($response, $_), undef, "$name: no $_") for qw(Content-Encoding Vary Capability);
    is($alone->note('result'), 'delta', "$name: noted as delta");
    return ($response, $target);
}

my $changed = 'a new head' . $blocks[3] . 'something between' x 100 . $blocks[$n - 1] . $blocks[0];
my $mixed = literal('a new head') . block(3) . deflated('something between' x 100) . block($n - 1) . block(0);
my ($delta, $same) = make_delta($base, $n, map { [$_] } 0 .. $n - 1);
is($same, $base, 'all blocks make the base');
delta_ok('all blocks', $delta, $base);
delta_ok('sections of each kind', $mixed . strong($changed), $changed);
delta_ok('the strong hash first', strong($changed) . $mixed, $changed);
delta_ok('the strong hash between', literal('a new head') . block(3) . strong($changed)
    . deflated('something between' x 100) . block($n - 1) . block(0), $changed);
delta_ok('only a literal', literal($changed) . strong($changed), $changed);
delta_ok('only deflated', deflated($changed) . strong($changed), $changed);
delta_ok('one block many times', block(2) x 500 . strong($blocks[2] x 500), $blocks[2] x 500);
delta_ok('empty literals', literal('') x 3 . deflated('') . block(1) . strong($blocks[1]), $blocks[1]);
delta_ok('an empty page', strong(''), '');
delta_ok('one byte', literal('x') . strong('x'), 'x');

# However the line cuts it.
my $whole = $mixed . strong($changed);
for my $size (1, 2, 3, 7, 8_000) {
    delta_ok("C15: in pieces of $size", $whole, $changed, chunked => [unpack "(a$size)*", $whole]);
}
for my $at (1 .. length($whole) - 1) {
    my $target = "/cut$at";
    $alone->base_ok($target, $base);
    $alone->with_if_block(
        $target,
        chunked => [substr($whole, 0, $at), substr $whole, $at],
        fields  => ['Content-Encoding' => 'crcsync']
    );
    $alone->body_ok($target, $changed, "C15: in two pieces, the first of $at bytes");
    is($alone->note('result'), 'delta', "C15: in two pieces, the first of $at bytes: a delta");
}
delta_ok('until the connection closes', $whole, $changed, raw => "HTTP/1.0 200 OK\r\nContent-Encoding: crcsync\r\n\r\n$whole",
    close => 1);

# Names of codings have no case; something may have coded the delta once more, as servers do with all they send.
$alone->base_ok('/CrcSync', $base);
$alone->with_if_block('/CrcSync', body => $whole, fields => ['Content-Encoding' => 'CrcSync']);
$alone->body_ok('/CrcSync', $changed, 'CrcSync');
for my $outer ('gzip', 'x-gzip', 'deflate') {
    my $coded = $outer eq 'deflate' ? Compress::Zlib::compress($whole) : Compress::Zlib::memGzip($whole);
    my $target = "/outer-$outer";
    $alone->base_ok($target, $base);
    $alone->with_if_block($target, body => $coded, fields => ['Content-Encoding' => "crcsync, $outer"]);
    my $response = $alone->body_ok($target, $changed, "a delta under $outer");
    is(field($response, 'Content-Encoding'), undef, "a delta under $outer: no coding is left");
    is($alone->note('result'), 'delta', "a delta under $outer: used");
}
# A coding below stays: these are the bytes that were made.
$alone->base_ok('/inner', $base);
$alone->with_if_block('/inner', body => $whole, fields => ['Content-Encoding' => 'x-own, crcsync']);
is(field($alone->body_ok('/inner', $changed, 'a delta of a coded body'), 'Content-Encoding'), 'x-own', 'its coding stays');

# Tags: the origin's own for the same bytes, weak for those without the origin's coding.
my %tags = (
    '"a-crcsync-identity"'         => '"a"',
    '"a"-crcsync-identity'         => '"a"',
    'W/"a-crcsync-identity"'       => 'W/"a"',
    '"a-crcsync-gzip"'             => 'W/"a"',
    'W/"a-crcsync-gzip"'           => 'W/"a"',
    '"a-crcsync-x-gzip"'           => 'W/"a"',
    '"a-crcsync-deflate"'          => 'W/"a"',
    '"a-crcsync-br"'               => '"a-crcsync-br"',
    'a-crcsync-identity'           => 'a',
    'a-crcsync-gzip'               => undef,
    'w/"a-crcsync-identity"'       => 'w/"a"',
    'w/"a-crcsync-gzip"'           => undef,
    '"a"'                          => '"a"',
    '"-crcsync-gzip-crcsync-gzip"' => 'W/"-crcsync-gzip"',
);
for my $tag (sort keys %tags) {
    my ($response) = delta_ok("ETag: $tag", $whole, $changed, fields => [ETag => $tag], body => $whole);
    is(field($response, 'ETag'), $tags{$tag}, "C03: ETag: $tag: what the reader gets");
}

# What describes the delta's bytes does not go on; the rest of the fields does.
my ($response) = delta_ok(
    'fields', $whole, $changed,
    body   => $whole,
    fields => [
        'Content-MD5'     => 'x', Digest => 'x', 'Content-Digest' => 'x', 'Repr-Digest' => 'x',
        'Crcsync-Similar' => '/.*', 'X-Own' => 'stays', 'Cache-Control' => 'max-age=5', 'Last-Modified' => 'Mon, 30 Nov 2026 00:00:00 GMT'
    ]
);
is(field($response, $_), undef, "C12: no $_") for qw(Content-MD5 Digest Content-Digest Repr-Digest Crcsync-Similar);
is(field($response, 'X-Own'), 'stays', 'a field of the origin stays');
is(field($response, 'Cache-Control'), 'max-age=5', 'and another');
for my $vary ('Cookie, If-Block', 'If-Block, Cookie', 'if-block,Cookie', 'Cookie') {
    my $target = '/vary' . ++$number;
    $alone->base_ok($target, $base, Vary => $vary);
    $alone->with_if_block($target, body => $whole, fields => ['Content-Encoding' => 'crcsync', Vary => $vary]);
    $response = $alone->body_ok($target, $changed, "Vary: $vary");
    is(field($response, 'Vary'), 'Cookie', "C04: Vary: $vary: the origin's");
}

# Each new instance is the base of the next delta.
my ($old, $target) = ($base, '/chain');
$alone->base_ok($target, $old);
for my $turn (1 .. 5) {
    ($delta, my $new) = make_delta($old, $n, "turn $turn", map { [$_] } 1 .. $n - 1);
    $alone->delta($target, $delta);
    $alone->body_ok($target, $new, "a chain of deltas, $turn");
    is(field(($alone->requests)[0], 'If-Block'), CRCSync::Delta::if_block($old, $n), "C25: a chain of deltas, $turn: its base");
    $old = $new;
}

done_testing;
