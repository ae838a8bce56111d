# Origins that code their bodies: gzip, deflate, br, and what only looks like it (C07, C08).
use strict;
use warnings;

use Compress::Zlib ();
use CRCSync::Pair;
use CRCSync::Test;

my $origin = CRCSync::Origin->start;
my $pair = CRCSync::Pair->start(to => $origin->port);
my @type = ('Content-Type' => 'text/html');

# What a gzip origin would say to a reader who accepts gzip. Both answers are right: the coded bytes, or the plain ones
# without a coding and with a weak tag.
for my $coding (qw(gzip x-gzip deflate)) {
    my $page = text(60_000, length $coding);
    for my $turn (1 .. 4) {
        substr $page, 1_000 * $turn, 6, "turn $turn";
        my $coded = $coding eq 'deflate' ? Compress::Zlib::compress($page) : Compress::Zlib::memGzip($page);
        my @fields = (@type, 'Content-Encoding' => $coding, ETag => "\"$turn\"", Vary => 'Accept-Encoding');
        $origin->put("/$coding", body => $coded, fields => \@fields, conditional => 1);
        my ($response, @exchanges) = $pair->get("/$coding", 'Accept-Encoding' => 'gzip, deflate, br');
        my $name = "C07: $coding, fetch $turn";
        is($response->{status}, 200, "$name: status");
        if (field($response, 'Content-Encoding')) {
            is(field($response, 'Content-Encoding'), $coding, "$name: coded as by the origin");
            is_body($response->{body}, $coded, "$name: the origin's bytes");
            is(field($response, 'ETag'), "\"$turn\"", "$name: the origin's tag");
        }
        else {
            is_body($response->{body}, $page, "$name: the plain bytes");
            is(field($response, 'ETag'), "W/\"$turn\"", "$name: a weak tag");
        }
        is(field($response, 'Vary'), 'Accept-Encoding', "$name: the origin's Vary");
        unlike(field(($origin->requests)[-1], 'Accept-Encoding') // '', qr/\bbr\b|zstd/, "C08: $coding, fetch $turn: only what we can undo");
        if ($turn > 1) {
            my $answer = $exchanges[0]{response};
            is(field($answer, 'Content-Encoding'), 'crcsync', "$name: a delta all the same");
            like(field($answer, 'ETag'), qr/^"$turn-crcsync-\Q$coding\E"$/, "$name: the coding is in the tag");
            cmp_ok(length $answer->{raw}, '<', 4_000, "$name: bytes on the line");
        }
    }
    # The weak tag that the reader has comes back and gives the origin's 304.
    my ($response) = $pair->get("/$coding", 'If-None-Match' => 'W/"4"', 'Accept-Encoding' => 'gzip');
    is($response->{status}, 304, "$coding: 304 for the weak tag");
    is(field($response, 'ETag'), 'W/"4"', "$coding: the 304 names the weak tag: a cache compares it with what it has");
    ($response) = $pair->get("/$coding", 'If-None-Match' => 'W/"4", "4"', 'Accept-Encoding' => 'gzip');
    is(field($response, 'ETag'), '"4"', "$coding: who has the strong tag too gets the origin's");
}

# Codings that nobody here can undo pass as they are, each time.
for my $coding ('br', 'zstd', 'br, gzip', 'unknown') {
    my $body = random_bytes(20_000, length $coding);
    my $target = '/' . $coding =~ s/\W//gr;
    $origin->put($target, body => $body, fields => [@type, 'Content-Encoding' => $coding, ETag => '"b"']);
    for my $turn (1 .. 3) {
        my (undef, @exchanges) = $pair->same_ok(GET => $target, "C07: $coding, fetch $turn");
        unlike(field($exchanges[0]{response}, 'Content-Encoding') // '', qr/crcsync/, "$coding, fetch $turn: no delta");
    }
}

# A body that claims gzip and is not: the reader gets what the origin sent, or a failure, never other bytes.
my $page = text(20_000);
$origin->put('/lie', body => $page, fields => [@type, 'Content-Encoding' => 'gzip']);
for my $turn (1 .. 3) {
    my ($response) = $pair->get('/lie', 'Accept-Encoding' => 'gzip');
    my $whole = $response && $response->{status} == 200 && $response->{complete};
    ok(!$whole || $response->{body} eq $page, "a false gzip, fetch $turn");
}
allow_log(qr/gzip|inflat|zlib|deflat|upstream|corrupt|AH01102|AH01110/i);

# A file that is gzip by itself is no coding at all.
my $file = Compress::Zlib::memGzip(text(30_000, 5));
$origin->put('/file.gz', body => $file, fields => ['Content-Type' => 'application/gzip']);
$pair->same_ok(GET => '/file.gz', "a gzip file, fetch $_") for 1 .. 3;

# C08: Accept-Encoding towards the origin, for what readers send.
$origin->put('/plain', body => $page, fields => [@type]);
$origin->requests;
for my $accept ('br', 'gzip, br;q=1.0', 'zstd, br, gzip, deflate', '*', 'gzip;q=0', '') {
    $pair->body_ok('/plain', $page, "Accept-Encoding: $accept", 'Accept-Encoding' => $accept);
    my ($request) = $origin->requests;
    my @names = map { s/\s*;.*//r } split /\s*,\s*/, field($request, 'Accept-Encoding') // '';
    is_deeply([grep { !/^(?:gzip|x-gzip|deflate|identity)$/ } @names], [], "Accept-Encoding: $accept: what the origin sees");
}

done_testing;
