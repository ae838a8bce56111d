# What is not a plain GET of a 200: HEAD, Range, POST, errors, redirects (C09 to C12), and that none of it harms a base.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port);
my @type = ('Content-Type' => 'text/html');
my $page = text(50_000);

# What came as a delta has lost Accept-Ranges on the line.
my @delta = (without => ['Accept-Ranges']);
$origin->put('/page', body => $page, fields => [@type, ETag => '"1"', 'Accept-Ranges' => 'bytes']);
$pair->same_ok(GET => '/page', 'the page');

sub still_a_delta {
    my ($after, $case) = @_;
    my $name = ($case ? "$case: " : '') . "after $after";
    my (undef, @exchanges) = $pair->same_ok(GET => '/page', "$name: the page", @delta);
    is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', "$name: the base is still there");
    return;
}

sub no_if_block {
    my ($name, @exchanges) = @_;
    is(scalar(grep { defined field($_->{request}, 'If-Block') } @exchanges), 0, "$name: no If-Block");
    return;
}

still_a_delta('one fetch');
my (undef, @exchanges) = $pair->same_ok(HEAD => '/page', 'C09: HEAD');
no_if_block('HEAD', @exchanges);
like(field($exchanges[0]{response}, 'Vary'), qr/If-Block/, 'HEAD has the Vary of the GET on the line');
still_a_delta('HEAD', 'C09');

for my $method (qw(POST PUT DELETE OPTIONS PATCH)) {
    (undef, @exchanges) = $pair->same_ok($method => '/page', $method, body => 'field=value');
    no_if_block($method, @exchanges);
    is($exchanges[0]{request}{body}, 'field=value', "$method: its body") if @exchanges;
}
(undef, @exchanges) = $pair->same_ok(POST => '/page', 'a chunked POST', chunks => ['field', '=value']);
is((map { $_->{body} } $origin->requests)[-1], 'field=value', 'a chunked POST: its body');
(undef, @exchanges) = $pair->same_ok(GET => '/page', 'GET with a body', body => 'query');
no_if_block('GET with a body', @exchanges);
still_a_delta('all methods');

# The base is asked for again after each: a 404, a redirect or a 206 is none.
for my $status (301, 302, 307, 400, 403, 404, 410, 500, 503) {
    my $target = "/status/$status";
    $origin->put(
        $target,
        status => $status,
        body   => text(5_000, $status),
        fields => [@type, $status < 400 ? (Location => "http://127.0.0.1:1/other") : ()]
    );
    for my $turn (1 .. 2) {
        (undef, @exchanges) = $pair->same_ok(GET => $target, "status $status, fetch $turn");
        no_if_block("status $status, fetch $turn", @exchanges);
    }
}
$origin->put('/page', status => 404, body => text(50_000, 404), fields => [@type]);
$pair->same_ok(GET => '/page', 'the page gone');
$origin->put('/page', body => $page, fields => [@type, ETag => '"1"', 'Accept-Ranges' => 'bytes']);
$pair->same_ok(GET => '/page', 'and back', @delta);

# An origin that answers ranges, and one that does not.
$origin->put('/range', body => $page, fields => [@type, ETag => '"r"', 'Accept-Ranges' => 'bytes']);
$pair->same_ok(GET => '/range', 'before a range', @delta) for 1 .. 2;
(undef, @exchanges) = $pair->same_ok(GET => '/range', 'a Range that is ignored', fields => [Range => 'bytes=100-199']);
no_if_block('Range', @exchanges);
my @partial = (
    status => 206,
    body   => substr($page, 100, 100),
    fields => [@type, ETag => '"r"', 'Content-Range' => 'bytes 100-199/50000'],
);
$origin->put('/range', @partial);
for my $turn (1 .. 2) {
    (undef, @exchanges) = $pair->same_ok(GET => '/range', "C11: a range, fetch $turn", fields => [Range => 'bytes=100-199']);
    no_if_block('Range', @exchanges);
    is(field($exchanges[0]{response}, 'Content-Encoding'), undef, "C11: a range, fetch $turn: not encoded");
}
my $changed = $page =~ s/^...../range/r;
$origin->put('/range', body => $changed, fields => [@type, ETag => '"s"', 'Accept-Ranges' => 'bytes']);
(undef, @exchanges) = $pair->same_ok(GET => '/range', 'the whole after a range', @delta);
is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', 'C11: a delta against the whole page, not the range');
is(field($exchanges[0]{response}, 'Accept-Ranges'), undef, 'a delta has no Accept-Ranges');

# C12: digests of exact bytes.
for my $digest (['Content-MD5' => 'AAAA'], ['Digest' => 'sha-256=AAAA'], ['Repr-Digest' => 'sha-256=:AAAA:']) {
    my $target = "/digest-$digest->[0]";
    $origin->put($target, body => $page, fields => [@type, @$digest]);
    for my $turn (1 .. 2) {
        (undef, @exchanges) = $pair->same_ok(GET => $target, "C12: $digest->[0], fetch $turn");
        is(field($exchanges[0]{response}, 'Content-Encoding'), undef, "C12: $digest->[0], fetch $turn: answered in full");
    }
}
my $target = '/no-transform';
$origin->put($target, body => $page, fields => [@type, 'Cache-Control' => 'no-transform']);
for my $turn (1 .. 2) {
    (undef, @exchanges) = $pair->same_ok(GET => $target, "no-transform, fetch $turn");
    is(field($exchanges[0]{response}, 'Content-Encoding'), undef, "no-transform, fetch $turn: answered in full");
}

done_testing;
