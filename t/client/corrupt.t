# Deltas that give no instance (C35, C36): the right page by a second fetch that the reader never sees, or a clean 502.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(blocks block literal deflated strong);
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my $alone = CRCSync::ClientAlone->start(conf => "CRCSyncClientMaxInstance 1M\nTimeout 20\n");
my $base = text(20_000, 1);
my $page = text(20_000, 2);
my $number = 0;

# The reader gets the page. Options: reason, and the answer to If-Block in place of a labelled delta. Returns the URL.
sub refetched_ok {
    my ($name, $delta, $reason, %answer) = @_;
    $name = "C36: $name";
    my $target = '/page' . ++$number;
    $alone->base_ok($target, $base);
    $alone->delta($target, $delta, ETag => '"2-crcsync-identity"');
    $alone->with_if_block($target, %answer) if %answer;
    $alone->full($target, body => $page, fields => ['Content-Type' => 'text/html', ETag => '"2"', 'X-Full' => '1']);
    my $response = $alone->body_ok($target, $page, $name);
    is(field($response, 'ETag'), '"2"', "$name: the fields of the second answer");
    is(field($response, 'X-Full'), '1', "$name: all of them");
    my @requests = $alone->requests;
    is(scalar @requests, 2, "$name: two requests");
    ok(defined field($requests[0], 'If-Block'), "$name: the first with If-Block");
    is(field($requests[1], 'If-Block'), undef, "$name: the second without");
    is($alone->note('result'), 'refetched', "$name: noted as refetched");
    is($alone->note('reason'), $reason, "$name: the reason");
    expect_log(qr/\Q$target\E: the delta gives no instance/) unless $reason eq 'upstream-error';
    return $target;
}

my @blocks = blocks($base, $n);
my $good = literal('new') . block(0) . deflated($blocks[1] x 2) . block(2);
my $instance = "new$blocks[0]" . $blocks[1] x 2 . $blocks[2];
refetched_ok('no such block', block($n) . strong(''), 'corrupt-delta');
refetched_ok('block 255', block(255) . strong(''), 'corrupt-delta');
refetched_ok('no such section', $good . 'X' . strong($instance), 'corrupt-delta');
refetched_ok('no section at all', '<html>', 'corrupt-delta');
refetched_ok('a NUL', "\0", 'corrupt-delta');
refetched_ok('a literal of 4 GiB', "L\xff\xff\xff\xffabc", 'too-large');
refetched_ok('a literal beyond the limit', 'L' . pack('N', 1_048_577) . 'x' x 1_048_577, 'too-large');
refetched_ok('a stream beyond the limit', deflated("\0" x 5_000_000) . strong("\0" x 5_000_000), 'too-large');
refetched_ok('blocks beyond the limit', block(0) x 900 . strong($blocks[0] x 900), 'too-large');
refetched_ok('no strong hash', $good, 'truncated');
refetched_ok('two strong hashes', $good . strong($instance) x 2, 'corrupt-delta');
refetched_ok('a wrong strong hash, as after a clash of two blocks', $good . strong("$instance."), 'hash-mismatch');
refetched_ok('the hash of nothing', $good . strong(''), 'hash-mismatch');
refetched_ok('text after the end', $good . strong($instance) . "\n", 'corrupt-delta');
refetched_ok('a damaged zlib stream', 'Z' . "\x78\x9c" . random_bytes(200, 3) . strong(''), 'corrupt-delta');
refetched_ok('a zlib stream with a wrong checksum', substr(deflated('x' x 100), 0, -1) . "\0" . strong('x' x 100),
    'corrupt-delta');
refetched_ok('nothing', '', 'truncated');

# Cut at each byte: once as a body that ends there, once as a connection that breaks there.
my $delta = literal('new') . block(0) . deflated('middle' x 5) . block(2) . strong("new$blocks[0]" . 'middle' x 5 . $blocks[2]);
my @crcsync = ('Content-Encoding' => 'crcsync');
for my $cut (0 .. length($delta) - 1) {
    my $part = substr $delta, 0, $cut;
    refetched_ok("ends after $cut bytes", $part, 'truncated');
    my $head = "HTTP/1.1 200 OK\r\nContent-Encoding: crcsync\r\n";
    my $target = refetched_ok("breaks after $cut bytes", $part, 'upstream-error',
        raw => "${head}Content-Length: " . length($delta) . "\r\n\r\n$part", close => 1);
    next if $cut % 10;
    # The base was not to blame: it is there.
    $alone->get($target);
    ok(defined field(($alone->requests)[0], 'If-Block'), "breaks after $cut bytes: a base is there");
    refetched_ok("breaks in a chunk after $cut bytes", $part, 'upstream-error',
        raw => "${head}Transfer-Encoding: chunked\r\n\r\n" . sprintf("%x\r\n%s", length $delta, $part), close => 1);
    refetched_ok("breaks between chunks after $cut bytes", $part, 'upstream-error',
        raw => "${head}Transfer-Encoding: chunked\r\n\r\n" . ($cut ? sprintf "%x\r\n%s\r\n", $cut, $part : ''), close => 1);
    refetched_ok("closes after $cut bytes", $part, 'truncated', raw => "HTTP/1.0 200 OK\r\nContent-Encoding: crcsync\r\n\r\n$part",
        close => 1);
}

# The refetched page is the base of the next request.
my $target = refetched_ok('once more', 'X', 'corrupt-delta');
$alone->get($target);
is(field(($alone->requests)[0], 'If-Block'), CRCSync::Delta::if_block($page, $n), 'the page of the second fetch is the base');

# The base that was to blame is gone, also where no other takes its place.
$alone->base_ok('/dropped', $base);
$alone->delta('/dropped', 'X');
$alone->full('/dropped', body => $base, fields => ['Content-Type' => 'text/html', 'Cache-Control' => 'private']);
$alone->body_ok('/dropped', $base, 'a page that is no base');
$alone->requests;
$alone->body_ok('/dropped', $base, 'a page that is no base, again');
is(field(($alone->requests)[0], 'If-Block'), undef, 'C35: the base that was to blame is gone');

# A second one within the hour: no If-Block for this URL, which is again a URL like any other.
$target = '/twice';
$alone->base_ok($target, $base);
$alone->delta($target, 'X');
for my $turn (1 .. 2) {
    $alone->body_ok($target, $base, "corrupt, turn $turn");
    is(scalar(my @all = $alone->requests), 2, "corrupt, turn $turn: asked twice");
}
for my $turn (3 .. 5) {
    $alone->body_ok($target, $base, "corrupt, turn $turn");
    my @requests = $alone->requests;
    is(scalar @requests, 1, "C35: corrupt, turn $turn: asked once");
    is(field($requests[0], 'If-Block'), undef, "corrupt, turn $turn: without If-Block");
    is($alone->note('reason'), 'corrupt-delta', "corrupt, turn $turn: the reason");
}
expect_log(qr{/twice: the delta gives no instance});

# The second fetch fails too: what the reader sees is the failure of the second fetch.
my %failures = (
    'with an error page' => [500, status => 500, body => 'broken'],
    'with nothing'       => [502, raw => '', close => 1],
    'with nonsense'      => [502, raw => "HTTP/2.7 200 nonsense\r\n\r\n", close => 1],
    'with a delta'       => [502, body => $delta, fields => [@crcsync]],
    'with another page'  => [404, status => 404, body => 'gone'],
    'with a redirect'    => [302, status => 302, fields => [Location => '/elsewhere']],
);
for my $how (sort keys %failures) {
    my ($status, %answer) = @{$failures{$how}};
    $target = '/fails-' . $how =~ s/\W/-/gr;
    $alone->base_ok($target, $base);
    $alone->delta($target, 'X');
    $alone->full($target, %answer);
    my $response = $alone->get($target);
    is($response->{status}, $status, "C36: the second fetch fails $how: status");
    ok($response->{complete}, "the second fetch fails $how: complete");
    unlike($response->{body}, qr/^L\0/, "the second fetch fails $how: no delta");
    is(field($response, 'Content-Encoding'), undef, "the second fetch fails $how: no coding");
    is($alone->note('result'), 'refetched', "the second fetch fails $how: noted");
    cmp_ok(scalar(my @all = $alone->requests), '<=', 3, "C36: the second fetch fails $how: no loop");
}

# On a connection that goes on, the next answers are their own.
my $client = CRCSync::Http->new($alone->port);
for my $turn (1 .. 3) {
    $target = "/kept$turn";
    for my $step ([undef, $base], ['X', $page], [undef, $page]) {
        my ($bad, $want) = @$step;
        $alone->full($target, body => $want, fields => ['Content-Type' => 'text/html']);
        $alone->with_if_block($target, body => $bad // $want, fields => [defined $bad ? @crcsync : ()]);
        is_body($client->request(GET => $target)->{body}, $want, "one connection, turn $turn");
    }
}

allow_log(qr/AH01102|AH01110|AH01106|AH10292|AH00898|proxy_http:error|gives no instance|nothing that can be used/);
done_testing;
