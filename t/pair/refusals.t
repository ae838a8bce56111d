# Requests that have no room for If-Block, and hops that refuse it (C39).
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port);
my $page = text(100_000);
$origin->put('/page', body => $page, fields => ['Content-Type' => 'text/html']);
$pair->body_ok('/page', $page, 'the base');
my (undef, @exchanges) = $pair->body_ok('/page', $page, 'a large cookie', Cookie => 'c=' . 'x' x 7_000);
my $head = $exchanges[-1]{request}{head};
cmp_ok(length $_, '<', 8_190, 'no line that a server would refuse') for split /\r\n/, $head;

# A server that refuses any request with If-Block, as one with a small limit would.
for my $status (400, 413, 431) {
    my $strict = CRCSync::Origin->start(
        sub {
            my ($request, $connection) = @_;
            my $refuse = defined CRCSync::Stream::field($request, 'If-Block');
            my @answer = $refuse ? (status => $status, body => 'too large') : (body => $page);
            push @answer, fields => ['Content-Type' => 'text/html', $refuse ? () : (Capability => 'crcsync; m=1')];
            $connection->send(CRCSync::Origin::response(@answer));
        }
    );
    my $client = CRCSync::Httpd->start(
        name    => 'client',
        without => ['crccache_server'],
        vars    => {TO => $strict->port},
        conf    => CRCSync::Pair::client_conf(),
    );
    my @asked;
    for my $turn (1 .. 4) {
        my $response = http_get($client->port, '/page');
        is($response->{status}, 200, "$status to If-Block, fetch $turn: the reader never knows");
        is_body($response->{body}, $page, "$status to If-Block, fetch $turn: bytes");
        push @asked, scalar grep { defined field($_, 'If-Block') } $strict->requests;
    }
    is("@asked", '0 1 0 0', "$status: If-Block is tried once, and then no more");
    is($client->last_log(2)->{reason}, 'refused-request', "$status: the reason");
}

# An If-Block of the reader's own passes untouched, and what it brings.
$origin->put('/foreign', body => $page, fields => ['Content-Type' => 'text/html']);
require CRCSync::Delta;
my $value = CRCSync::Delta::if_block($page, 16);
my ($response) = $pair->get('/foreign', 'If-Block' => $value);
(@exchanges) = $pair->relay->exchanges;
is(field($response, 'Content-Encoding'), 'crcsync', 'a reader that speaks crcsync gets a delta');
is_body(CRCSync::Delta::apply_delta($response->{body}, $page, 16), $page, 'of the page');
like(field($response, 'Vary'), qr/If-Block/, 'with its Vary');

done_testing;
