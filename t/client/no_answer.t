# An upstream, or a box on the way, that cannot bear If-Block, and closes instead of refusing (C39): the page comes by a
# second fetch, and when that has happened eight times in a row, If-Block is left out. Where the page has no answer without
# it either, the load does not stay doubled.
use strict;
use warnings;

use CRCSync::ClientAlone;
use CRCSync::Delta qw(make_delta);
use CRCSync::Http;
use CRCSync::Test;

my $n = CRCSync::ClientAlone::BLOCKS;
my ($base, $page) = (text(30_000, 1), text(30_000, 2));
my @html = ('Content-Type' => 'text/html');
my $alone = CRCSync::ClientAlone->start(conf => "ProxyTimeout 1\n");

sub sent { return join ' ', map { defined field($_, 'If-Block') ? 1 : 0 } $alone->requests }

my @kinds = (
    ['nothing',       raw => '', close => 1],
    ['half a head',   raw => "HTTP/1.1 200 OK\r\nContent-Enc", close => 1],
    ['a long field',  raw => "HTTP/1.1 200 OK\r\nX: " . 'x' x 20_000 . "\r\n\r\n", close => 1],
);
for my $kind (@kinds) {
    my ($name, %answer) = @$kind;
    my $target = '/' . $name =~ tr/ /-/r;
    $alone->base_ok($target, $base);
    $alone->with_if_block($target, %answer);
    $alone->full($target, body => $page, fields => \@html);
    for my $turn (1 .. 9) {
        $alone->body_ok($target, $page, "C39: $name, fetch $turn");
        is($alone->note('reason'), 'upstream-error', "C39: $name, fetch $turn: the reason");
    }
    is(sent(), '1 0 ' x 8 . '0', "C39: $name: requests with If-Block");
}

# On a connection that the reader keeps, mod_proxy closes it, and counts on him to ask again.
$alone->base_ok('/kept', $base);
$alone->with_if_block('/kept', raw => '', close => 1);
$alone->full('/kept', body => $page, fields => \@html);
$alone->full('/other', body => $base, fields => \@html);
my $http = CRCSync::Http->new($alone->port);
$http->request(GET => '/other');
$alone->requests;
is_body($http->request(GET => '/kept')->{body}, $page, 'C39: on a connection that is kept: the page');
is(sent(), '1 0', 'C39: on a connection that is kept: requests with If-Block');
is_body($http->request(GET => '/other')->{body}, $base, 'C39: on a connection that is kept: what follows');
$http->close;
$alone->client->log(++$alone->{fetches}) for 1 .. 3;

# What happens now and then does not take deltas away.
$alone->base_ok('/rare', $base);
for my $turn (1 .. 9) {
    $alone->with_if_block('/rare', raw => '', close => 1);
    $alone->full('/rare', body => $base, fields => \@html);
    $alone->body_ok('/rare', $base, "C39: now and then, fetch $turn");
    my ($delta, $new) = make_delta($base, $n, "turn $turn", map { [$_] } 0 .. $n - 1);
    $alone->delta('/rare', $delta);
    $alone->body_ok('/rare', $new, "C39: now and then, fetch $turn: a delta");
    is($alone->note('result'), 'delta', "C39: now and then, fetch $turn: noted");
    $alone->full('/rare', body => $base, fields => \@html);
    $alone->with_if_block('/rare', body => $base, fields => [@html, Capability => 'crcsync; m=1']);
    $alone->body_ok('/rare', $base, "C39: now and then, fetch $turn: the base again");
}

# No answer without If-Block either.
$alone->base_ok('/dead', $base);
$alone->$_('/dead', raw => '', close => 1) for qw(full with_if_block);
is($alone->get('/dead')->{status}, 502, "C39: no answer at all, fetch $_") for 1 .. 10;
is(sent(), '1 0 ' x 8 . '0 0', 'C39: no answer at all: requests with If-Block');

# Who waits for an answer in vain does not wait twice.
$alone->base_ok('/silent', $base);
$alone->with_if_block('/silent', raw => '', pause => 5);
$alone->full('/silent', body => $page, fields => \@html);
like($alone->get('/silent')->{status}, qr/^50[24]$/, "C39: silence, fetch $_") for 1 .. 8;
$alone->body_ok('/silent', $page, 'C39: silence, fetch 9');
is(sent(), '1 ' x 8 . '0', 'C39: silence: requests with If-Block');

expect_log(qr/error reading (?:from|status line)|AH01102|AH01106|AH01110|gives no instance/);
allow_log(qr/\[proxy(?:_http)?:/);
done_testing;
