# What belongs to one user: no base is kept, and no byte of it reaches another (C26). A request's Cookie alone stops none.
use strict;
use warnings;

use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port);
my @type = ('Content-Type' => 'text/html');
my $fetches = 0;

my %kept_out = (
    'private'          => [private => ['Cache-Control' => 'private']],
    'private, max-age' => [private => ['Cache-Control' => 'max-age=60, private']],
    'no-store'         => ['no-store' => ['Cache-Control' => 'no-store']],
    'Set-Cookie'       => [private => ['Set-Cookie' => 'user=1']],
    'Authorization'    => [private => [], [Authorization => 'Basic dXNlcjpwYXNz']],
    'no-store asked'   => ['no-store' => [], ['Cache-Control' => 'no-store']],
);
for my $case (sort keys %kept_out) {
    my ($reason, $answer, $ask) = @{$kept_out{$case}};
    my $target = '/' . $case =~ s/\W//gr;
    my $page = text(30_000, length $case);
    for my $turn (1 .. 3) {
        $origin->put($target, body => $page, fields => [@type, @$answer]);
        my (undef, @exchanges) = $pair->same_ok(GET => $target, "C26: $case, fetch $turn", fields => [@{$ask // []}]);
        is(field($exchanges[0]{request}, 'If-Block'), undef, "C26: $case, fetch $turn: no base was kept");
        is($pair->client->last_log(++$fetches)->{result}, 'full', "$case, fetch $turn: in full");
    }
}

# A page that is private only for some: the base of the others stays theirs, and is not replaced.
my $public = text(30_000, 50);
my $secret = $public =~ s/time/SECRET/gr;
$origin->put('/mixed', body => $public, fields => [@type]);
$pair->body_ok('/mixed', $public, 'a public page');
$origin->put('/mixed', body => $secret, fields => [@type, 'Cache-Control' => 'private']);
$pair->body_ok('/mixed', $secret, 'the same page, private');
$origin->put('/mixed', body => $public, fields => [@type]);
my (undef, @exchanges) = $pair->body_ok('/mixed', $public, 'public again');
my $stored = join '', map { slurp($_) } files($pair->client->dir . '/cache');
unlike($stored, qr/SECRET/, 'C26: nothing private is on the disk');

# Cookie: the page is the same for all, and a base.
$origin->put('/cookie', body => $public, fields => [@type]);
$pair->body_ok('/cookie', $public, 'a reader with a cookie', Cookie => 'a=1');
(undef, @exchanges) = $pair->body_ok('/cookie', $public, 'another reader', Cookie => 'a=2');
is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', 'a delta');

# Vary: Cookie: each has a base of his own.
my %page = (1 => text(30_000, 61), 2 => text(30_000, 62));
my $varying = CRCSync::Origin->start(
    sub {
        my ($request, $connection) = @_;
        my ($user) = (CRCSync::Stream::field($request, 'Cookie') // '') =~ /user=(\d)/;
        $connection->send(CRCSync::Origin::response(body => $page{$user}, fields => [@type, Vary => 'Cookie']));
    }
);
my $two = CRCSync::Pair->start(to => $varying->port);
for my $turn (1 .. 3) {
    for my $user (1, 2) {
        (undef, @exchanges) = $two->body_ok('/page', $page{$user}, "C26: user $user, fetch $turn", Cookie => "user=$user");
        next if $turn == 1;
        cmp_ok(length $exchanges[0]{response}{raw}, '<', 300, "user $user, fetch $turn: a delta against the own page");
    }
}

# Trailers and hop-by-hop fields of one response are not replayed with the next (C31).
$origin->put('/hop', body => $public, fields => [@type, Connection => 'X-Hop', 'X-Hop' => '1', 'X-End' => '1']);
my ($response) = $pair->get('/hop');
is(field($response, 'X-Hop'), undef, 'C31: a hop-by-hop field ends at the hop');
is(field($response, 'X-End'), '1', 'an end-to-end field does not');
$origin->put('/hop', body => $public, fields => [@type]);
($response) = $pair->get('/hop');
is(field($response, $_), undef, "C31: $_ is not replayed") for qw(X-Hop X-End Set-Cookie);

# The same for trailers, which come behind a body, and for Set-Cookie, in the response that a base is compared with and
# in the one after it.
my $changed = 'changed' . $public;
my $trailers = "X-Trailer: secret\r\nSet-Cookie: trailer=secret\r\n";
$origin->put('/replayed', body => $public, fields => [@type]);
$pair->body_ok('/replayed', $public, 'a base');
$origin->put('/replayed', body => $changed, fields => [@type, 'Set-Cookie' => 'user=secret']);
($response) = $pair->body_ok('/replayed', $changed, 'C31: a delta with Set-Cookie');
is(field($response, 'Set-Cookie'), 'user=secret', 'C31: its reader gets the cookie');
$origin->put('/replayed', raw => "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        . sprintf("%x\r\n%s\r\n0\r\n%s\r\n", length $changed, $changed, $trailers));
$pair->body_ok('/replayed', $changed, 'C31: with trailers');
$origin->put('/replayed', body => $public, fields => [@type]);
for my $turn (1, 2) {
    ($response, @exchanges) = $pair->body_ok('/replayed', $public, "C31: the next, fetch $turn");
    is(field($exchanges[0]{response}, 'Content-Encoding'), 'crcsync', "C31: the next, fetch $turn: a delta");
    is(field($response, $_), undef, "C31: the next, fetch $turn: no $_") for qw(X-Trailer Set-Cookie Trailer);
}
$stored = join '', map { slurp($_) } files($pair->client->dir . '/cache');
unlike($stored, qr/secret|X-Trailer/, 'C31: nothing of them is on the disk');

done_testing;

sub files {
    my ($dir) = @_;
    my @files;
    require File::Find;
    File::Find::find({no_chdir => 1, wanted => sub { push @files, $_ if -f }}, $dir);
    return @files;
}
