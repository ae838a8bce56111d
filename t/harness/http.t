# The harness against a plain httpd, without our modules: what tests rely on.
use strict;
use warnings;

use CRCSync::Test;
use Time::HiRes qw(time);

my $origin = CRCSync::Origin->start;
my $text = text(30_000);
$origin->put('/page', body => $text, fields => ['Content-Type' => 'text/plain', ETag => '"1"'], conditional => 1);
$origin->put('/chunked', chunked => ['one', 'two' x 1000, 'three'], fields => ['Content-Type' => 'text/plain']);
$origin->put('/short', raw => "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", close => 1);

my $relay = CRCSync::Relay->start(to => $origin->port);
my $httpd = CRCSync::Httpd->start(
    without => [@CRCSync::Httpd::under_test],
    vars    => {TO => $relay->port},
    conf    => qq{ProxyPass / http://127.0.0.1:\@TO\@/\n},
);

my $response = http_get($httpd->port, '/page');
is($response->{status}, 200, 'a page through proxy and relay');
is_body($response->{body}, $text, 'its bytes');
ok($response->{complete}, 'complete');
my @exchanges = $relay->exchanges;
is(@exchanges, 1, 'one exchange on the line');
is($exchanges[0]{request}{target}, '/page', 'its target');
is_body($exchanges[0]{response}{body}, $text, 'its body');

is(http_get($httpd->port, '/page', 'If-None-Match' => '"1"')->{status}, 304, '304 from the origin');
is((map { field($_, 'If-None-Match') } $origin->requests)[-1], '"1"', 'the origin has recorded the request');

$response = http_get($httpd->port, '/chunked');
is_body($response->{body}, 'one' . 'two' x 1000 . 'three', 'a chunked body');
my $client = CRCSync::Http->new($httpd->port);
is($client->request(GET => '/page')->{status}, 200, "request $_ on a kept connection") for 1 .. 3;
is($client->request(HEAD => '/page')->{status}, 200, 'HEAD');
is($client->request(GET => '/nowhere')->{status}, 404, 'and one after it');

$response = http_get($httpd->port, '/short');
ok(!$response || !$response->{complete} || $response->{status} == 502, 'a body cut short is not complete');

$httpd->graceful;
is(http_get($httpd->port, '/page')->{status}, 200, 'after a graceful restart');
is(($httpd->log(1))[0]{url}, '/page', 'the access log');

$relay->change(strip => ['ETag']);
$response = http_get($httpd->port, '/page');
is(field($response, 'ETag'), undef, 'the relay strips a field');
is_body($response->{body}, $text, 'and nothing else');
is(field(($relay->exchanges)[-1]{response}, 'ETag'), '"1"', 'the record has it');

$relay->change(cut => 1000);
$response = http_get($httpd->port, '/page');
ok(!$response || !$response->{complete} || $response->{status} == 502, 'a line that is cut');
$relay->change(pieces => 7);
is_body(http_get($httpd->port, '/page')->{body}, $text, 'in pieces of seven bytes');

my ($status, $output) = CRCSync::Httpd->check_config(without => [@CRCSync::Httpd::under_test], conf => "NoSuchThing On\n");
isnt($status, 0, 'a wrong configuration is refused');
like($output, qr/Invalid command 'NoSuchThing'/, 'with the reason');

allow_log(qr/prematurely closed|error reading|AH01102|AH01097|AH00898/i);
done_testing;
