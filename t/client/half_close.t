# A reader who closes his sending side after the request waits for the answer all the same: he gets the page, also while
# it is so large that it is held in a file, and comes slowly.
use strict;
use warnings;

use CRCSync::Delta qw(block strong);
use CRCSync::Httpd;
use CRCSync::Pair;
use CRCSync::Test;

my $n = 16;
my $page = text(160_000, 1);
my @blocks = map { block($_) } 0 .. $n - 1;
my $origin = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my @fields = ('Content-Type' => 'text/html');
        if (!defined field($request, 'If-Block')) {
            $connection->send(CRCSync::Origin::response(body => $page, fields => \@fields));
            return;
        }
        $connection->send("HTTP/1.1 200 OK\r\nContent-Encoding: crcsync\r\nTransfer-Encoding: chunked\r\n\r\n");
        for my $part (@blocks, strong($page)) {
            $connection->send(sprintf "%x\r\n%s\r\n", length $part, $part);
            select undef, undef, undef, 0.02;
        }
        $connection->send("0\r\n\r\n");
    }
);
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    vars    => {TO => $origin->port},
    conf    => CRCSync::Pair::client_conf() . "CRCSyncClientBlocks $n\nCRCSyncClientHoldMemory 1K\n",
);
is_body(http_get($client->port, '/page')->{body}, $page, 'a base');

for my $turn (1 .. 3) {
    my $reader = CRCSync::Http->new($client->port);
    $reader->send_request(GET => '/page', fields => [Connection => 'close']);
    shutdown $reader->socket, 1;
    my $response = $reader->response;
    is($response && $response->{status}, 200, "turn $turn: status");
    is_body($response && $response->{body}, $page, "turn $turn: the page");
    $reader->close;
}
is(scalar(grep { defined field($_, 'If-Block') } $origin->requests), 3, 'all three were deltas');

done_testing;
