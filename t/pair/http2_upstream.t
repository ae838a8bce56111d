# The modules speak HTTP/2 with each other: mod_proxy_http2 on the near side.
use strict;
use warnings;

use CRCSync::Httpd;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $server = CRCSync::Httpd->start(
    name    => 'server',
    without => ['crccache_client'],
    modules => ['http2'],
    vars    => {TO => $origin->port},
    conf    => qq{Protocols h2c http/1.1\nProxyPass / http://127.0.0.1:\@TO\@/\nCRCSyncServer On\n},
);
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    modules => ['http2', 'proxy_http2'],
    vars    => {TO => $server->port},
    conf    => qq{ProxyPass / h2c://127.0.0.1:\@TO\@/\nCRCSyncClient On\nCRCSyncClientBlocks 40\n},
);
my $fetches = 0;
my $page_ok = sub {
    my ($page, $name, $result, $reason) = @_;
    $origin->put('/page', body => $page, fields => ['Content-Type' => 'text/html', ETag => '"1"']);
    my $response = http_get($client->port, '/page');
    is($response->{status}, 200, "$name: status");
    is_body($response->{body}, $page, "$name: bytes");
    $fetches++;
    my $log = ($client->log($fetches))[-1];
    is($log->{result}, $result, "$name: $result");
    is($log->{reason}, $reason // '-', "$name: reason");
    return;
};
my $page = text(40_000);
$page_ok->($page, 'first', 'full', 'no-base');
for my $turn (1 .. 3) {
    substr $page, 3_000 * $turn, 6, "turn $turn";
    $page_ok->($page, "turn $turn", 'delta');
}
# A page whose blocks have the CRCs of the base's: the delta is wrong, and the page is fetched again.
my $collides = $page;
substr($collides, 5_100, 9) ^= pack 'C*', 0x01, 0, 0, 0, 0, 0, 0, 0xb0, 0x01;
$page_ok->($collides, 'a collision', 'refetched', 'hash-mismatch');
$page_ok->($collides, 'after it', 'delta');
# The origin breaks off.
$origin->put('/page', raw => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 40000\r\n\r\n" . substr($page, 0, 20_000),
    close => 1);
my $response = http_get($client->port, '/page');
ok(!$response || !$response->{complete} || $response->{status} >= 500, 'an origin that breaks off: a failure');
$client->log(++$fetches);
$page_ok->($collides, 'after that', 'delta');

expect_log(qr/the delta gives no instance/);
allow_log(qr/AH01110|proxy_http|proxy_http2|http2:/);
done_testing;
