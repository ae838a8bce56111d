# Tags and conditionals (C01 - C06, the server's part): the origin sees only its own tags.
use strict;
use warnings;

use CRCSync::ServerAlone;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $server = CRCSync::ServerAlone->start(to => $origin->port);
my $page = text(50_000, 1);
my $base = 'x' . $page;
my @ask = ($base, 40);

sub put {
    my ($tag, @fields) = @_;
    $origin->put('/page', body => $page, conditional => 1,
        fields => ['Content-Type' => 'text/html', defined $tag ? (ETag => $tag) : (), @fields]);
    return;
}

sub seen { return field(($origin->requests)[-1], $_[0]) }

for (
    ['"x"', '"x-crcsync-identity"'],
    ['W/"x"', 'W/"x-crcsync-identity"'],
    ['""', '"-crcsync-identity"'],
    ['x', 'x-crcsync-identity'],
    ['"x-crcsync-gzip"', '"x-crcsync-gzip-crcsync-identity"'],
    [undef, undef],
    )
{
    my ($tag, $suffixed) = @$_;
    my $name = $tag // 'no tag';
    put($tag);
    my $delta = $server->ask(@ask, '/page');
    $server->is_delta($delta, @ask, $page, $name);
    is(field($delta, 'ETag'), $suffixed, "C03: $name: with the suffix");
    is(seen('If-Block'), undef, "$name: the origin sees no If-Block");
    next unless defined $tag;

    my $again = $server->ask(@ask, '/page', 'If-None-Match' => $suffixed);
    is($again->{status}, 304, "C01: $name: 304 for the suffixed tag");
    is(field($again, 'ETag'), $suffixed, "C01: $name: 304 has the tag that matched");
    is(field($again, 'Vary'), 'If-Block', "C04: $name: 304 has Vary");
    is(field($again, 'Capability'), 'crcsync; m=1', "$name: 304 has Capability");
    is($server->log->{result}, 'not-modified', "$name: the result");
    is(seen('If-None-Match'), $tag, "C02: $name: the origin sees its own");
    is($again->{body}, '', "$name: 304 has no body");

    $again = $server->ask(@ask, '/page', 'If-None-Match' => $tag) unless $tag =~ /crcsync/;
    is(field($again, 'ETag'), $tag, "$name: 304 for the plain tag has the plain one") unless $tag =~ /crcsync/;
}

# Lists, and other fields.
put('"x"');
$server->ask(@ask, '/page', 'If-None-Match' => '"a-crcsync-gzip", W/"b-crcsync-deflate" , "c"');
is(seen('If-None-Match'), '"a", W/"b", "c"', 'C03: each tag of a list loses its suffix');
my $both = $server->ask(@ask, '/page', 'If-None-Match' => '"x-crcsync-identity", "x"');
is(field($both, 'ETag'), '"x"', 'who has both is told the plain one');
$origin->requests;
$server->ask(@ask, '/page', 'If-Match' => '"a-crcsync-x-gzip"');
is(seen('If-Match'), '"a"', 'C02: If-Match');
$server->ask(@ask, '/page', Range => 'bytes=0-9', 'If-Range' => '"a-crcsync-identity"');
is(seen('If-Range'), '"a"', 'C02: If-Range');
my $date = 'Wed, 21 Oct 2015 07:28:00 GMT';
$server->ask(@ask, '/page', Range => 'bytes=0-9', 'If-Range' => $date);
is(seen('If-Range'), $date, 'a date in If-Range stays');
$server->ask(@ask, '/page', 'If-None-Match' => '*');
is(seen('If-None-Match'), '*', 'a star stays');
$server->get('/page', 'If-None-Match' => '"a-crcsync-gzip"');
is(seen('If-None-Match'), '"a-crcsync-gzip"', 'without If-Block a tag is not ours to change');

# Codings: what is asked of the origin.
$server->ask(@ask, '/page', 'Accept-Encoding' => 'gzip, br');
is(seen('Accept-Encoding'), 'identity', 'C08: identity is asked for');
$server->get('/page', 'Accept-Encoding' => 'gzip, br');
is(seen('Accept-Encoding'), 'gzip, br', 'but not for a request without If-Block');
$server->ask(@ask, '/page', 'Accept-Encoding' => 'gzip', Range => 'bytes=0-9');
is(seen('Accept-Encoding'), 'gzip', 'nor for a range');
for my $refusing ('crcsync;q=0', 'gzip, crcsync;q=0.0', 'identity;q=0', 'gzip, *;q=0') {
    my $response = $server->ask(@ask, '/page', 'Accept-Encoding' => $refusing);
    $server->is_full($response, $page, 'not-acceptable', "C06: $refusing");
    is(seen('Accept-Encoding'), $refusing, "$refusing: goes to the origin");
}
$server->is_delta($server->ask(@ask, '/page', 'Accept-Encoding' => 'crcsync, *;q=0, identity'), @ask, $page,
    'crcsync by name');

# Two hops, both with the module: the near one makes the delta, the far one sees a plain request.
my $near = CRCSync::ServerAlone->start(to => $server->port);
put('"x"', Vary => 'Cookie');
my $delta = $near->ask(@ask, '/page');
$near->is_delta($delta, @ask, $page, 'two hops');
is(field($delta, 'ETag'), '"x-crcsync-identity"', 'two hops: one suffix');
like(field($delta, 'Vary'), qr/^Cookie, ?If-Block$/, 'C04: two hops: one Vary');
is(field($delta, 'Capability'), 'crcsync; m=1', 'two hops: one Capability');
is($near->ask(@ask, '/page', 'If-None-Match' => '"x-crcsync-identity"')->{status}, 304, 'two hops: 304');
is(seen('If-None-Match'), '"x"', 'two hops: the origin sees its own tag');

done_testing;
