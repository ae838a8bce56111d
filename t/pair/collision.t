# Two blocks with the same CRC (C35): the strong hash tells, the reader gets the right page and never knows, and the next
# request does not fail in the same way.
use strict;
use warnings;

use CRCSync::Delta qw(crc64);
use CRCSync::Pair;
use CRCSync::Test;

# XOR with these bytes anywhere in a block leaves its CRC as it is: they are the polynomial itself.
my $invisible = pack 'C*', 0x01, 0, 0, 0, 0, 0, 0, 0xb0, 0x01;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port, client => "CRCSyncClientBlocks 40\n");
my @type = ('Content-Type' => 'text/html', ETag => '"1"');

my $page = text(40_000);
my $collides = $page;
substr($collides, 5_100, 9) ^= $invisible;
isnt($collides, $page, 'another page');
is(crc64(substr $collides, 5_000, 1_000), crc64(substr $page, 5_000, 1_000), 'with the same CRC in each block');

$origin->put('/page', body => $page, fields => [@type]);
$pair->body_ok('/page', $page, 'the base');
$origin->put('/page', body => $collides, fields => [@type]);
my ($response, @exchanges) = $pair->body_ok('/page', $collides, 'C35: the page that collides');
is(scalar @exchanges, 2, 'fetched again');
is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', 'first a delta');
is(field($exchanges[1]{request}, 'If-Block'), undef, 'then without If-Block');
is(field($response, 'ETag'), '"1"', 'the reader gets the origin\'s tag');
is(field($response, $_), undef, "no $_ towards the reader") for qw(Capability Vary Content-Encoding);
my $log = $pair->client->last_log(2);
is($log->{result}, 'refetched', 'noted result');
is($log->{reason}, 'hash-mismatch', 'noted reason');

(undef, @exchanges) = $pair->body_ok('/page', $collides, 'the next request');
is(scalar @exchanges, 1, 'C35: does not fail in the same way');

# A second one for the same URL within the hour stops If-Block for that URL; others go on.
$origin->put('/page', body => $page, fields => [@type]);
$pair->body_ok('/page', $page, 'a second collision');
for my $turn (1 .. 2) {
    (undef, @exchanges) = $pair->body_ok('/page', $page, "after the second, fetch $turn");
    is(field($exchanges[0]{request}, 'If-Block'), undef, "after the second, fetch $turn: no If-Block");
}
$origin->put('/other', body => $page, fields => [@type]);
$pair->body_ok('/other', $page, 'another URL');
(undef, @exchanges) = $pair->body_ok('/other', $page, 'another URL again');
is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', 'is a delta');

allow_log(qr/hash|digest/i);
done_testing;
