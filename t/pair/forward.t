# Forward proxies, the classic pair: absolute URIs, two origins with the same paths, CONNECT passes by untouched.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my @origins = map { CRCSync::Origin->start } 1, 2;
my $server = CRCSync::Httpd->start(
    name    => 'server',
    without => ['crccache_client'],
    modules => ['proxy_connect'],
    conf    => "ProxyRequests On\nAllowCONNECT 1-65535\nCRCSyncServer On\n",
);
my $relay = CRCSync::Relay->start(to => $server->port);
my $client = CRCSync::Httpd->start(
    name    => 'client',
    without => ['crccache_server'],
    modules => ['proxy_connect'],
    vars    => {TO => $relay->port},
    conf    => "ProxyRequests On\nAllowCONNECT 1-65535\nProxyRemote * http://127.0.0.1:\@TO\@\nCRCSyncClient On\n",
);

my @pages = map { text(60_000, $_) } 0, 1;
for my $turn (1 .. 4) {
    for my $n (0, 1) {
        substr $pages[$n], 5_000 * $turn, 6, "turn $turn";
        $origins[$n]->put('/page', body => $pages[$n], fields => ['Content-Type' => 'text/html', ETag => "\"$turn\""]);
        my $host = '127.0.0.1:' . $origins[$n]->port;
        my $response = http_get($client->port, "http://$host/page", Host => $host);
        is_body($response->{body}, $pages[$n], "origin $n, fetch $turn");
        is(field($response, 'ETag'), "\"$turn\"", "origin $n, fetch $turn: its tag");
        my ($exchange) = $relay->exchanges;
        is($exchange->{request}{target}, "http://$host/page", "origin $n, fetch $turn: through the server proxy");
        is(field($exchange->{response}, 'Content-Encoding'), $turn > 1 ? 'crcsync' : undef, "origin $n, fetch $turn");
        cmp_ok(length $exchange->{response}{raw}, '<', 3_000, "origin $n, fetch $turn: bytes on the line") if $turn > 1;
    }
}

# A Host field that does not fit the URI changes nothing: the URI rules.
my $host = '127.0.0.1:' . $origins[0]->port;
my $response = http_get($client->port, "http://$host/page", Host => '127.0.0.1:' . $origins[1]->port);
is_body($response->{body}, $pages[0], 'a wrong Host field');
is_body(http_get($client->port, "http://$host/page", Host => $host)->{body}, $pages[0], 'and the page after it');

# A tunnel: the bytes inside are not looked at.
my $tunnel = CRCSync::Http->new($client->port);
$tunnel->send_raw("CONNECT $host HTTP/1.1\r\nHost: $host\r\n\r\n");
my $answer = '';
sysread $tunnel->socket, $answer, 1000, length $answer while $answer !~ /\r\n\r\n/;
like($answer, qr{^HTTP/1\.\d 200}, 'CONNECT');
is_body($tunnel->request(GET => '/page')->{body}, $pages[0], 'a page through the tunnel');
# Its end, seen from both sides: a tunnel that is half open would keep httpd from stopping.
shutdown $tunnel->socket, 1;
1 while sysread $tunnel->socket, $answer, 1_000;

done_testing;
