# A crcsync body that was not asked for (C37) never reaches a reader as such: the page by asking again, else a clean 502.
# What the reader asked for himself passes untouched.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(literal strong if_block);
use CRCSync::Pair;
use CRCSync::Test;

my $alone = CRCSync::ClientAlone->start;
my $page = text(20_000, 1);
my $delta = literal($page) . strong($page);
my @crcsync = ('Content-Type' => 'text/html', 'Content-Encoding' => 'crcsync', Vary => 'If-Block', Capability => 'crcsync; m=1');

# A cache on the way that ignores Vary answers with what it once had. Asked to go to the origin, it gives the page.
my $cache = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my $fresh = (CRCSync::Stream::field($request, 'Cache-Control') // '') =~ /no-cache/;
        my @answer = $fresh ? (body => $page, fields => ['Content-Type' => 'text/html']) : (body => $delta, fields => [@crcsync]);
        $connection->send(CRCSync::Origin::response(@answer));
    }
);
my $behind = CRCSync::Httpd->start(
    name    => 'behind-cache',
    without => ['crccache_server'],
    vars    => {TO => $cache->port},
    conf    => CRCSync::Pair::client_conf(),
);
for my $turn (1 .. 2) {
    my $response = http_get($behind->port, "/first$turn", 'Cache-Control' => 'max-age=60');
    is_body($response->{body}, $page, "C37: a cache that ignores Vary, $turn");
    is($response->{status}, 200, "a cache that ignores Vary, $turn: status");
    my @requests = $cache->requests;
    is(scalar @requests, 2, "a cache that ignores Vary, $turn: asked twice");
    is(field($requests[0], 'Cache-Control'), 'max-age=60', 'first as the reader asked');
    is(field($requests[1], 'Cache-Control'), 'max-age=60, no-cache', 'then past all caches');
}

# An upstream that knows nothing else.
sub bad_gateway_ok {
    my ($name, $response, $requests) = @_;
    $name = "C37: $name";
    is($response->{status}, 502, "$name: status");
    ok($response->{complete}, "$name: complete");
    like(field($response, 'Content-Type'), qr{^text/html}, "$name: an error page");
    is(field($response, $_), undef, "$name: no $_") for qw(Content-Encoding Capability);
    is(scalar(my @all = $alone->requests), $requests, "$name: $requests requests");
    return;
}
$alone->full('/page', body => $delta, fields => [@crcsync]);
bad_gateway_ok('a first GET', $alone->get('/page'), 2);
is($alone->note('reason'), 'already-coded', 'the reason');
bad_gateway_ok('a POST', $alone->request(POST => '/page', body => 'x'), 1);
$alone->full('/part', status => 206, body => $delta, fields => [@crcsync, 'Content-Range' => 'bytes 0-9/100']);
bad_gateway_ok('a range', $alone->get('/part', Range => 'bytes=0-9'), 1);
bad_gateway_ok('a part that nobody asked for', $alone->get('/part'), 2);
$alone->base_ok('/known', $page);
$alone->with_if_block('/known', status => 206, body => $delta, fields => [@crcsync, 'Content-Range' => 'bytes 0-9/100']);
$alone->full('/known', body => $page, fields => ['Content-Type' => 'text/html']);
$alone->body_ok('/known', $page, 'C37: a part of a delta');

# HEAD has no body: only the fields are mended.
my $response = $alone->request(HEAD => '/page');
is($response->{status}, 200, 'HEAD');
is(field($response, $_), undef, "HEAD: no $_") for qw(Capability Vary);

# A status other than 200 that was asked for, and is a delta.
$alone->base_ok('/gone', $page);
$alone->with_if_block('/gone', status => 404, body => literal('no') . strong('no'), fields => [@crcsync]);
$response = $alone->get('/gone');
is($response->{status}, 404, 'a 404 as a delta');
is($response->{body}, 'no', 'a 404 as a delta: decoded');

# The reader speaks crcsync himself: his own If-Block, and the answer to it.
my $value = if_block($page, 9);
$alone->full('/reader', body => $page, fields => ['Content-Type' => 'text/html']);
$alone->with_if_block('/reader', body => $delta, fields => [@crcsync, ETag => '"1-crcsync-identity"', 'Crcsync-Similar' => '/']);
$alone->requests;
$response = $alone->get('/reader', 'If-Block' => $value, 'Accept-Encoding' => 'br');
my ($request) = $alone->requests;
is(field($request, 'If-Block'), $value, 'the reader\'s If-Block');
is(field($request, 'Accept-Encoding'), 'br', 'the reader\'s codings');
is_body($response->{body}, $delta, 'his delta');
my %fields = (@crcsync, ETag => '"1-crcsync-identity"', 'Crcsync-Similar' => '/');
is(field($response, $_), $fields{$_}, "his $_") for sort keys %fields;
is($alone->note('result'), 'bypassed', 'noted as bypassed');
is($alone->note('reason'), 'foreign-if-block', 'the reason');

# no-crcsync: nothing of ours.
my $off = CRCSync::ClientAlone->start(conf => qq{SetEnvIf Request_URI "^/off" no-crcsync\n});
$off->full($_, body => $delta, fields => [@crcsync]) for '/off', '/on';
$response = $off->get('/off', 'Accept-Encoding' => 'br');
is_body($response->{body}, $delta, 'no-crcsync: the body as it came');
is(field($response, 'Content-Encoding'), 'crcsync', 'no-crcsync: its fields too');
is(field(($off->requests)[0], 'Accept-Encoding'), 'br', 'no-crcsync: and the request\'s');
is($off->note('reason'), 'env', 'no-crcsync: the reason');
is($off->get('/on')->{status}, 502, 'the rest of the server is on');

expect_log(qr/the upstream sends nothing that can be used/);
done_testing;
